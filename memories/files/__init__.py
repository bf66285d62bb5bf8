"""Memory files and daily notes: Markdown files that show a user's memories.

Editing a file changes the memories. Agents edit the files through the memory tool.
"""
