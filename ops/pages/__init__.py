"""Pages for sign-in, the account, operations and receipts.

They may use all packages of `ops` except its API. The pages of all apps use the helpers in `base`.
"""
