"""The pages of the chat.

They contain no business rules, but call the other packages of this app, and those of `memories` and
`ops`.
"""
