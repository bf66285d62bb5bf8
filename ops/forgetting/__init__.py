"""The shared parts of all forget operations, the ledger, expired rows, and forgetting a person."""
