"""Exports and imports: files, the format of rows, and the personal data of `ops`."""
