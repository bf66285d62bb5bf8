"""The endpoints that an unmodified mem0 client calls, answered from our memories."""
