"""The Model Context Protocol: agents call the services behind the REST API as tools."""
