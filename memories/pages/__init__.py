"""The pages of the Memory Center.

They contain no business rules, but call the other packages of this app. They may also use
`conversations.block`, `conversations.forgetting` and `ops`.
"""
