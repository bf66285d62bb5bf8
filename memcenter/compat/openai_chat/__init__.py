"""OpenAI's API as a proxy for the configured model: recall, forward, record."""
