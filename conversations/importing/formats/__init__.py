"""Parsers for files of other programs and our own export, without Django and the database."""
