"""Embedders and chat models: bundled ones, and those of any OpenAI-compatible server.

This package may use the other packages of `foundation` except `embedded`, but no app.
"""
