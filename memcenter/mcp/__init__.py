"""The Model Context Protocol: agents call the services behind the REST API as tools.

This package may use all apps, but not their `pages` packages. The tools reuse the serializers of
the `api` packages.
"""
