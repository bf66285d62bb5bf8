"""Exports and imports: their files, the format of rows, and the personal data in `ops`.

The package may use `ops.accounts`, `ops.queue` and `ops.registry`.
"""
