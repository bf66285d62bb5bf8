"""APIs compatible with other products, as thin layers over our own services."""
