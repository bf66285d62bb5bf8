"""Rank texts for a query by words and vectors; the vector stores are in `stores`."""
