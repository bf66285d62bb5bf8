"""The Model Context Protocol: agents call the same services as the REST API, as tools."""
