"""Extract candidate memories from messages, arbitrate them, and summarise conversations.

The package works on plain values and does not depend on Django. It may use `reader` and
`screening`.
"""
