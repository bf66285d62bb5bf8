"""The memory block of a prompt: recall, selection by budget, and the words around it.

`context` reads the database; `assembly` and `control_tokens` take plain values.
"""
