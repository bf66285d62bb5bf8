"""Forget memories: hide them at once, then erase every copy in the background.

If a text still has other sources, it is derived again from them. The package may use `files`,
`writing`, `indexing`, `ops.forgetting` and `ops.residue`.
"""
