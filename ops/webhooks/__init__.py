"""Webhooks: registration, events, delivery to public addresses only."""
