"""The Model Context Protocol: what agents call as tools, over the same services as everything."""
