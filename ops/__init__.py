"""People, operations, the audit log, webhooks and what every forget shares.

The app knows no other app: the others register their functions in `ops.registry`.
"""
