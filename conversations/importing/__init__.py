"""Import files, each in one transaction: exports of other programs and our own.

`formats` reads the files without access to the database.
"""
