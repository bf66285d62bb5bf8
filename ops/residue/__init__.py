"""Search all stores for data that a forget operation should have erased, by hashes and ids."""
