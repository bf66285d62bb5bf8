"""Patterns for people's text: RE2 runs them in time that grows linearly with the text."""

from __future__ import annotations

from typing import TypeAlias

import re2

Pattern: TypeAlias = "re2._Regexp[str]"
Match: TypeAlias = "re2._Match[str]"


def compile(pattern: str) -> Pattern:
    """RE2 keeps quiet where it falls back on its slower automaton, which is linear as well."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)
