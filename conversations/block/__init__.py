"""The memory block of a prompt: recall, selection within the token budget, and rendering.

`context` reads the database; `assembly` and `control_tokens` take plain values.
"""
