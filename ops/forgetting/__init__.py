"""What every forget shares: hiding, the ledger, expired rows; and forgetting a person."""
