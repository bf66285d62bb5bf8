"""Import conversations and memories from files: exports of other programs and our own.

`formats` reads the files without access to the database.
"""
