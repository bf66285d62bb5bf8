"""Database helpers independent of our models: plain SQL, cascades, row security, storage.

These helpers may use Django, but no app.
"""
