"""Exports, and the storage of the files of exports and imports.

The package may use `ops.accounts`, `ops.portable_rows`, `ops.queue` and `ops.registry`.
"""
