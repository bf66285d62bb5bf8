"""A proxy for OpenAI's API that adds memories to requests and records the conversation.

It may use all apps except their pages.
"""
