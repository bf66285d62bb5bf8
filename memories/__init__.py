"""Memories about people: how they are learned, recalled, shown and forgotten.

Imports: use cases may import `ops`, `conversations.models` and `conversations.selectors`; models
may import only the models of `conversations` and `ops`.
"""
