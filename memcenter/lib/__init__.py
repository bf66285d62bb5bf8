"""Shared helpers. Any module may import them; they import none of the Django apps."""
