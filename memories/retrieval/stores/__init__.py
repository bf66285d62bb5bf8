"""The vector stores: PostgreSQL with pgvector, and Milvus. They may use `foundation.database`."""
