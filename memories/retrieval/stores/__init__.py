"""The vector stores: PostgreSQL with pgvector, and Milvus."""
