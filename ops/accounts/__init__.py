"""Accounts and authentication: keys, sessions, second factor, identity providers, roles."""
