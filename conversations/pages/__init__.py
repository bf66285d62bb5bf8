"""The pages of the chat, without business rules."""
