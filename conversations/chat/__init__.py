"""Answer a person in the chat: record the message, recall memories, and stream the model's answer.

May use all other packages of this app except its pages and its API.
"""
