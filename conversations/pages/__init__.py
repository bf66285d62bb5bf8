"""The pages of the chat.

The pages contain no business rules: they call the other packages of this app, and those of
`memories` and `ops`.
"""
