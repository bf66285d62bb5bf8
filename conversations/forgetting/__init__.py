"""Forget messages, turns, summaries and conversations, with everything derived from them.

Forgetting has two steps: the rows are hidden at once, and a background operation erases them. The
package may use `memories.forgetting` and `ops.forgetting`.
"""
