"""Pages for sign-in, the account, operations and receipts; `base` is shared by all apps."""
