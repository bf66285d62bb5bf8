"""Write memories: compare statements with known memories, store versions, consolidate, archive.

The package may use `extraction`, `indexing`, `conversations.models` and `ops`.
"""
