"""Maintain the search index: words and vectors in PostgreSQL, vectors optionally also in Milvus.

The package may import `extraction`, `retrieval.stores`, `conversations.models` and `ops`.
"""
