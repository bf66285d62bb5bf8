"""Protocols of other products, as thin layers over the same services."""
