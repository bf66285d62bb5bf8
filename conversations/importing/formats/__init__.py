"""Parsers for files of other programs and for our own export.

The parsers return plain values, and use neither Django nor the database.
"""
