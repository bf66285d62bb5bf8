"""APIs compatible with other products, as thin layers over our own services.

These layers may use all apps, but not their `pages` packages.
"""
