"""Answer a person in the chat: record the message, recall memories, and stream the model's answer.

The package may use all other packages of this app except `pages` and `api`.
"""
