"""Leaves: everything may use them, and they know no app."""
