"""Trains the reader with labelled messages and pairs, and exports it as ONNX files.

`python -m training` runs in its own environment (`training/requirements.txt`) and is not part of
the product. The product doesn't import this package, which imports only `memories.reader` from it.
"""
