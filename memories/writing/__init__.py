"""Write memories: compare statements with known memories, store versions, consolidate, archive.

The package may import `extraction`, `indexing`, `conversations.models` and `ops`.
"""
