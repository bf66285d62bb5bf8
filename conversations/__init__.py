"""What was said: conversations, their messages and turns, the chat, and the memory block.

Use cases may use `memories` and `ops`. Models may use only the models of `ops`.
"""
