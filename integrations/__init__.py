"""Memory Center in other products: what they take, and a test of each with its real package."""
