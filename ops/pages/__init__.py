"""Pages for sign-in, the account, operations and receipts. All apps use `base`.

They may use all packages of `ops` except its API.
"""
