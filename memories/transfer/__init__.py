"""Export, import and erase this app's personal data."""
