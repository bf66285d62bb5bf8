"""Database helpers independent of our models: plain SQL, cascades, row security, storage.

They may use Django, but no app.
"""
