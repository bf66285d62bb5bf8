"""Exports and imports of files: their operations and where the files are stored.

The package may use `ops.accounts`, `ops.portable_rows`, `ops.queue` and `ops.registry`.
"""
