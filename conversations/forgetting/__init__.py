"""Forget messages, turns, summaries and conversations, with all that rests on them.

May use `memories.forgetting` and `ops.forgetting`.
"""
