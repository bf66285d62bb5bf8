"""Other products' protocols, thin, over the same services."""
