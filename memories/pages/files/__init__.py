"""Pages of memory files and their history."""
