"""Record conversations: turns, summaries, episodes, temporary chats, ratings.

May use `memories` and `ops`; independent of pages and protocols.
"""
