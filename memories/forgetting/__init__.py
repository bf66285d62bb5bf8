"""Forget memories: hide them at once, then erase every copy in the background.

A text that also has other sources is derived again from them. May use `ops.forgetting` and
`ops.residue`.
"""
