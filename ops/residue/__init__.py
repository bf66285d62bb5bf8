"""Search every store for what a forget should have erased, by hashes and ids."""
