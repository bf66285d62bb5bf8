"""Common parts of every forget: hiding, the ledger, expired rows; and forgetting a person."""
