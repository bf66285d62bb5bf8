"""Forget messages, turns, summaries and conversations, with everything derived from them.

May use `memories.forgetting` and `ops.forgetting`.
"""
