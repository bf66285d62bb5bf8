"""Rank texts for a query by words and vectors; the stores of vectors are in `stores`."""
