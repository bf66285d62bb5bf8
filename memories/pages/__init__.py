"""The pages of the Memory Center.

They contain no business rules, but call the other packages of this app.
"""
