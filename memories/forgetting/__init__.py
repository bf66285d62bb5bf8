"""Forget memories: hide them at once, then erase every copy in the background.

A text with several sources is derived again from the sources that remain. This package may use
`files`, `writing`, `indexing`, `ops.forgetting` and `ops.residue`.
"""
