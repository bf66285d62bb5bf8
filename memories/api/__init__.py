"""REST endpoints for memories, search, files, notes and review.

They may use this app, `conversations.recording`, `ops` and `memcenter.rest`, but no pages.
"""
