"""Database helpers independent of our models: plain SQL, cascades, row security, storage."""
