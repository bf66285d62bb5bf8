"""REST endpoints for memories, search, files, notes and review."""
