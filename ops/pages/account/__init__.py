"""Pages of signing in, keys, sessions, second factor and preferences."""
