"""Accounts and authentication: API keys, sessions, second factor, identity providers, roles.

Of `ops`, the package may use only `access`, `audit_log`, `ledger` and `models`.
"""
