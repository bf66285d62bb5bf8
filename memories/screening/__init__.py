"""Find secrets in users' texts, however they are spelled.

The package takes and returns plain values and does not depend on Django. Patterns for users' texts
run on RE2, whose time grows linearly with the text, except for a few simple ones that use `re`.
"""
