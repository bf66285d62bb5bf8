"""The OpenAPI description and its examples."""
