"""Find secrets in users' texts, however they are spelled.

The package takes and returns plain values and does not depend on Django. Every pattern that is
applied to a user's text runs on RE2, whose time grows linearly with the text.
"""
