"""Read one message: its statements, their labels and checks, and the parts by other people.

The package works on plain values and does not depend on Django.
"""
