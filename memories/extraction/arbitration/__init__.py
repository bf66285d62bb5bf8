"""Compare candidates (new statements) with known memories, and decide what to do with them."""
