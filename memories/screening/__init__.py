"""Secrets in people's words: where they stand, in any spelling.

Plain values in, plain values out: it knows neither Django nor models. Every pattern that meets a
person's text runs on RE2, whose time grows linearly with the text.
"""
