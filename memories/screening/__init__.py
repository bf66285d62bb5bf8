"""Finds the places of secrets in users' texts, in any spelling.

It takes and returns plain values and knows neither Django nor models. Every pattern that is applied
to a user's text runs on RE2, whose time grows linearly with the text.
"""
