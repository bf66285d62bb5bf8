"""People and how they come in: keys, sessions, second factor, identity providers, roles."""
