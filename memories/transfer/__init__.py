"""How this app's personal data is exported, imported and erased."""
