"""Decide on candidates by comparing them with known memories, using the reader model."""
