"""Write memories: compare with known ones, decide, store versions, review, consolidate."""
