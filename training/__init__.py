"""Training of the reader: labelled messages and pairs in, one ONNX file out.

`python -m training` runs in its own environment (`training/requirements.txt`) and is not part of
the product. The product doesn't import it; it imports only `memories.reader` from the product.
"""
