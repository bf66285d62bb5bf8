"""Learn memories from turns, flushed messages, inactive conversations and old notes.

Uses `extraction` to find statements and `writing` to compare and store them; may read
conversations.
"""
