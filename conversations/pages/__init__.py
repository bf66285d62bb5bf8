"""The pages of the chat. They call the other packages of this app and contain no business rules."""
