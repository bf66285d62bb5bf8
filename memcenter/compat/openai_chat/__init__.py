"""A proxy for OpenAI's API that adds memories to requests and records the conversation.

This package may use all apps, but not their `pages` packages.
"""
