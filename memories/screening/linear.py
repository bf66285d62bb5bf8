"""Compile patterns for users' text with RE2, whose time grows linearly with the text."""

from __future__ import annotations

from typing import TypeAlias

import re2

Pattern: TypeAlias = "re2._Regexp[str]"
Match: TypeAlias = "re2._Match[str]"


def compile(pattern: str) -> Pattern:
    """Compile a pattern; RE2 doesn't log a fallback to its slower, also linear automaton."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)
