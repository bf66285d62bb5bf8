"""Forget memories: hide them at once, then erase every copy in the background.

A text with several sources is derived again from those that remain.
"""
