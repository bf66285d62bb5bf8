"""Pages of a person's account, switches, operations and receipts; `base` is shared by all apps."""
