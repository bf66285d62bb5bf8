"""Record what was said: turns, summaries, episodes, temporary chats, ratings.

May use `memories` and `ops`; knows no page and no protocol.
"""
