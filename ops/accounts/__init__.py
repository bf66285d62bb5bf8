"""Accounts and authentication: API keys, sessions, second factor, identity providers, roles."""
