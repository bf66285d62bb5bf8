"""The memory block: the remembered text that is put into a model's prompt.

`context` reads the database; `assembly` and `control_tokens` work on plain values only.
"""
