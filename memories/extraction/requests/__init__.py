"""Recognise what a message asks for: to remember, not to store, to forget, or how to answer.

The package works on plain values and does not depend on Django.
"""
