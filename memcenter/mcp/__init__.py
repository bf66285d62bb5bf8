"""The Model Context Protocol: agents call the services behind the REST API as tools.

It may use all apps except their pages; the tools take their shapes from the `api` packages.
"""
