"""Readers for files of other programs. They return plain values, without Django or the database."""
