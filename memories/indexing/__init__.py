"""Keep texts findable: words and vectors in PostgreSQL, and optionally in Milvus."""
