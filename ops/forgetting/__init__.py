"""The shared parts of all forget operations, the ledger, expired rows, and forgetting a person.

The package may use the other packages of `ops`, but no other app.
"""
