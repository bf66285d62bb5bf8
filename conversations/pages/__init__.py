"""The pages of the chat. They call the rooms of this app and contain no rules of their own."""
