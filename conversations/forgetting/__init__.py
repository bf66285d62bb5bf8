"""Forget messages, turns, summaries and conversations, with everything derived from them.

Forgetting has two steps: the rows are hidden at once, and an operation in the background erases
them. May use `memories.forgetting` and `ops.forgetting`.
"""
