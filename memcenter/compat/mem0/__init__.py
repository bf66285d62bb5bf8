"""The endpoints that an unmodified mem0 client calls, served from our own memories.

They may use all apps except their pages.
"""
