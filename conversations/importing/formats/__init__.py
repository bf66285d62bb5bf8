"""Parsers for files of other programs.

They return plain values, and use neither Django nor the database.
"""
