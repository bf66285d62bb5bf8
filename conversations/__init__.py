"""Conversations with their messages and turns, the chat, and the memory block.

Use cases may import `memories` and `ops`. Models may import only the models of `ops`.
"""
