"""The formats of dates by language, if they differ from Django's formats."""
