"""Forget memories: hide them at once, erase every copy, derive texts with other sources again.

May use `ops.forgetting` and `ops.residue`.
"""
