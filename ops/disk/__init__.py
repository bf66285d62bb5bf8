"""Erase forgotten texts from the raw files in the data folder, and verify this by a scan.

The package may use `ops.residue`, `ops.queue` and the audit log.
"""
