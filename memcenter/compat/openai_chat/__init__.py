"""A proxy for OpenAI's API that adds memories to requests and records the conversation."""
