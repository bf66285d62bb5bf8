"""Exports and imports: their files, the format of rows, and the personal data in `ops`."""
