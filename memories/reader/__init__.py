"""The reader model: a small encoder that finds statements in a message and compares two texts.

It runs on onnxruntime with the files in `data`, which `training/` produces. In array shapes, HIDDEN
is the width of the encoder's states (384). The package does not depend on Django.
"""

from memories.reader.reading import Reader, Reading, reader
from memories.reader.statements import Secret, Statement

__all__ = ["Reader", "Reading", "Secret", "Statement", "reader"]
