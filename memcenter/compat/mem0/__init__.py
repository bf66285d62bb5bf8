"""The endpoints that an unmodified mem0 client calls, served from our own memories.

This package may use all apps, but not their `pages` packages.
"""
