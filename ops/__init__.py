"""People, operations, the audit log, webhooks, and the parts shared by all forget operations.

The app doesn't import `conversations` or `memories`; these register their functions in
`ops.registry`.
"""
