"""Readers for files of other programs, which return plain values. No Django, no database."""
