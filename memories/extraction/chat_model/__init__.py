"""Extraction, arbitration and summaries by a chat model, whose answers are validated.

The package works on plain values and does not depend on Django.
"""
