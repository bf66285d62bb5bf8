"""Embedders and chat models: bundled ones, and those of any OpenAI-compatible server."""
