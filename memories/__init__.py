"""Memories about people: how they are learned, recalled, shown and forgotten.

Use cases may use `ops`, `conversations.models` and `conversations.selectors`. Models may use the
models of `conversations` and `ops`.
"""
