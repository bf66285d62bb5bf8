"""Accounts and authentication: API keys, sessions, second factor, identity providers, roles.

The package may use `ops.audit_log` and `ops.ledger`, but no other package of `ops`.
"""
