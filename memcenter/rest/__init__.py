"""The common base of all REST endpoints.

This package may use `ops` and `foundation`. The `api` packages, `compat` and `mcp` build on it.
"""
