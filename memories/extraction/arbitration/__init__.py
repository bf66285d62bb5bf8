"""Compare candidates (new statements) with known memories, and decide what to do with them.

The package works on plain values and does not depend on Django.
"""
