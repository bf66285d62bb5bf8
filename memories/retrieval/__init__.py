"""Rank texts for a query by words and vectors; `stores` contains the vector stores."""
