"""Find a user's memories and other texts for a search or a prompt, and record the results.

The ranking itself is in `retrieval`, which does not use the database.
"""
