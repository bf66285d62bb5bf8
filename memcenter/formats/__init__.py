"""The date formats of each language, if they differ from Django's formats. Imports nothing."""
