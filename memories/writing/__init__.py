"""Write memories: compare statements with known memories, store versions, review, consolidate."""
