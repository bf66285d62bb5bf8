"""Memory files and daily notes: Markdown files that show a user's memories.

The files are kept in sync with the memories: editing a file changes the memories. Agents edit the
files through the memory tool. The package may use `writing`, `indexing` and `ops`.
"""
