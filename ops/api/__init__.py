"""The REST endpoints of operations, keys, settings and webhooks."""
