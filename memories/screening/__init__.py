"""Find secrets in users' texts, in any spelling.

The package takes and returns plain values and depends on neither Django nor models. Every pattern
that is applied to a user's text runs on RE2, whose time grows linearly with the text.
"""
