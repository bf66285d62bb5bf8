"""The REST endpoints of memories, search, files, notes and review."""
