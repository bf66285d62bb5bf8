"""Learn memories from turns, flushed messages, inactive conversations and old notes."""
