"""REST endpoints for conversations, turns, recall and forgetting.

They may use all packages below, and `memcenter.rest`, but no pages.
"""
