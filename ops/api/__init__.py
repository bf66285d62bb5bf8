"""The REST endpoints for operations, API keys, settings and webhooks.

They may use `ops` and `memcenter.rest`, but no pages and no other app.
"""
