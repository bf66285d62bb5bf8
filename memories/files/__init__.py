"""Memory files and daily notes: Markdown files that show the memories and through which they can be
edited.

The files are kept in sync with the memories. Agents edit them through the memory tool.
"""
