"""Find secrets in users' texts, however they are spelled, without Django.

Every pattern that is applied to a user's text runs on RE2, in linear time.
"""
