"""Record conversations: turns, summaries, episodes, temporary chats and ratings.

The package may use `memories` and `ops`, but neither pages nor the API.
"""
