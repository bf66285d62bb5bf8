"""Exports and imports: files, rows as they travel, and how `ops` own data leaves."""
