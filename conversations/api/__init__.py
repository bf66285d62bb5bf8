"""REST endpoints for conversations, turns, recall and forgetting."""
