"""REST endpoints for memories, search, files, notes and review.

These modules may import from this app, `conversations.recording`, `ops` and `memcenter.rest`, but
not from any `pages` package.
"""
