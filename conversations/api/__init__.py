"""The REST endpoints of conversations, turns, recall and forgetting."""
