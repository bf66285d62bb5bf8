"""Record conversations: turns, summaries, episodes, temporary chats and ratings."""
