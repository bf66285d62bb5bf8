"""Forget messages, turns, summaries and conversations, with everything derived from them.

The rows are hidden at once, and an operation in the background erases them.
"""
