"""Import files: exports of other programs and our own, each in one transaction.

`formats` reads the files without access to the database.
"""
