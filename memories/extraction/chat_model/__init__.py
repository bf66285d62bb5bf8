"""Extraction, arbitration and summaries by a chat model, whose answers are validated."""
