"""Read one message: its statements, their labels and checks, and which parts are foreign.

The package works on plain values and does not depend on Django.
"""
