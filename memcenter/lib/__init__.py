"""Shared helpers. Any module may import the helpers; the helpers import none of the Django apps."""
