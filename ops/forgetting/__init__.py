"""What all forget operations share (hiding, ledger, expired rows), and forgetting a person."""
