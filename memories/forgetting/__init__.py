"""Forget memories: hide at once, erase every copy, derive again what has other sources.

May use `ops.forgetting` and `ops.residue`.
"""
