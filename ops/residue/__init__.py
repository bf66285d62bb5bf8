"""Search all stores for data that a forget operation should have erased, by hashes and ids.

The package may use only `ops.models` and `foundation`; the apps register their stores.
"""
