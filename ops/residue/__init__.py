"""Search all stores, by hashes and ids, for data that a forget operation should have erased.

The package may use only `ops.models` and `foundation`; the apps register their stores.
"""
