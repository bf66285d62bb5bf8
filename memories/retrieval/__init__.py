"""Rank texts for a query by words and vectors; `stores` contains the vector stores.

Only the stores use the database; no module uses Django models.
"""
