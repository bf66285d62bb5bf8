"""Find memories and other texts of a person, for a search or a prompt, and keep a trace.

Ranking itself is in `retrieval`, which knows no database.
"""
