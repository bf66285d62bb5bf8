"""Extract candidates for memories from messages, decide on them, and summarise conversations.

The package works on plain values and does not depend on Django.
"""
