"""Write memories: compare statements with known memories, store versions, review, consolidate.

The package may use `extraction`, `indexing`, `conversations.models` and `ops`; a review may use
`forgetting`.
"""
