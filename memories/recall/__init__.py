"""Find a user's memories and other texts for a search or a prompt, and record the results.

The package may import `indexing` and `retrieval`, but they may not import it.
"""
