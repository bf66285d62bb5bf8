"""APIs compatible with other products, as thin layers over our own services.

They may use all apps except their pages.
"""
