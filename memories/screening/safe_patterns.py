"""Compile patterns for users' texts with RE2, whose time grows linearly with the text.

Long patterns and lists of words are in `data/<name>.toml`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import re2

from foundation.text.word_tables import WordTables

Pattern: TypeAlias = "re2._Regexp[str]"
Match: TypeAlias = "re2._Match[str]"
_TABLES = WordTables(Path(__file__).parent / "data")
rows = _TABLES.rows


def compile(pattern: str) -> Pattern:
    """Compile a pattern, with RE2's log messages switched off.

    RE2 would log each fallback to a slower automaton, whose time is also linear.
    """
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def compiled(name: str) -> dict[str, Pattern]:
    """Return the compiled patterns in the file `data/<name>.toml`."""
    return {key: compile(pattern) for key, pattern in _TABLES.patterns(name).items()}


def sets(name: str) -> dict[str, frozenset[str]]:
    """Return the sets of words in the file `data/<name>.toml`."""
    found = _TABLES.table(name)["sets"]
    return {key: frozenset(words.split("|")) for key, words in found.items()}
