"""Maintain the search index: words and vectors in PostgreSQL, vectors optionally in Milvus."""
