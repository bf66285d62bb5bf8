"""Learn memories from turns, flushed messages, inactive conversations and old notes.

The package uses `extraction` to find statements and `writing` to compare and store them. It may
read `conversations.models` and `conversations.selectors`.
"""
