"""Training of the reader: labelled messages and pairs in, one ONNX file out.

`python -m training` runs in an environment of its own (`training/requirements.txt`) and is no
part of the product: nothing of the product imports it, and it imports nothing of the product.
"""
