"""Extract candidates from messages, decide on them, and summarise conversations.

It works on plain values and does not depend on Django.
"""
