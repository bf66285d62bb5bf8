"""Import files: exports of other programs and our own, in one transaction.

`formats` reads the files and knows no database.
"""
