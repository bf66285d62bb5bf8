"""The REST endpoints for operations, API keys, settings and webhooks."""
