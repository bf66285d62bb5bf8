"""Find a user's memories and other texts for a search or a prompt, and record the results.

The package may use `indexing` and `retrieval`, which ranks without the database.
"""
