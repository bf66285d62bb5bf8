"""The memory block: the remembered text that is put into a model's prompt.

These modules recall items, select those that fit the token budget, and render them as text.
`builder` uses the database; `assembly` and `control_tokens` work on plain values only. The package
may use `recording`, `memories` and `ops`.
"""
