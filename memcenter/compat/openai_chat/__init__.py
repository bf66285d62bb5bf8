"""OpenAI's API in front of the configured model: recall, forward unchanged, record."""
