"""What is known about people: memories, how they are learned, recalled, shown and forgotten.

Use cases may use `ops`. Models may use the models of `conversations` and `ops`.
"""
