"""Maintain the search index: words and vectors in PostgreSQL, vectors optionally in Milvus.

The package may use `retrieval.stores`, `conversations.models` and `ops`.
"""
