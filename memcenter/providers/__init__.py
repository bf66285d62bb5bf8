"""Embedders and chat models: bundled, or any OpenAI-compatible server."""
