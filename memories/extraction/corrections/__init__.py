"""Recognise messages that correct, update or take back what was said before.

The package works on plain values and does not depend on Django.
"""
