"""The common parts of forgets: hiding, the ledger, expired rows; and forgetting a person."""
