"""The common base of all REST endpoints.

It may use `ops` and `foundation`; `api` packages and protocols build on it.
"""
