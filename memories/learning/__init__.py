"""Learn from turns, flushes, quiet conversations and old notes.

Uses `extraction` to read, `writing` to decide and store; may read conversations.
"""
