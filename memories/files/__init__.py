"""Memory files and daily notes: Markdown files that show a user's memories.

The files are kept in sync with the memories: an edit of a file changes the memories. Agents edit
them through the memory tool.
"""
