"""REST endpoints for conversations, turns, recall and forgetting.

They may use `memcenter.rest` and all lower layers, but no pages.
"""
