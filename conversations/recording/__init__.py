"""Record conversations: turns, summaries, episodes, temporary chats and ratings.

May use `memories` and `ops`; doesn't depend on pages or the API.
"""
