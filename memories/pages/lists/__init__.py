"""The list of memories, its filters, counts and pages, and the recycle bin."""
