"""The formats of dates, by language, where they differ from those of Django."""
