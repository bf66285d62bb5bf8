"""Extraction, arbitration and summaries by a chat model; its answers are validated."""
