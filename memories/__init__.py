"""Memories about people: how they are learned, recalled, shown and forgotten.

The models may import only the models of `conversations` and `ops`. The packages may import `ops`,
`conversations.models` and `conversations.selectors`.
"""
