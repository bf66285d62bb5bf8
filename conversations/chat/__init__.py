"""Answer a person in the chat: the message, recall, the model's stream, the demo assistant.

May use all other rooms of this app but its pages and its API.
"""
