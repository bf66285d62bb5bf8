"""Memory files and daily notes, in sync with the memories, and the memory tool over them."""
