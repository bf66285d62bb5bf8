"""Memory files and daily notes, in sync with the memories, and the memory tool that edits them."""
