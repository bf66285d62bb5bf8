"""Import conversations and memories from our own exports and from files of other programs.

`formats` reads the files without access to the database. The package may use `recording`,
`memories` and `ops`.
"""
