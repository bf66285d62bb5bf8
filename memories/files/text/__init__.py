"""The text of memory files: grammar, rendering, merging, paths. Plain values, no Django."""
