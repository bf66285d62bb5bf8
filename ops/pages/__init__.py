"""Pages for sign-in, the account, operations and receipts. All apps use `base`."""
