"""The audit log, its hash chain, and the receipts of forgets."""
