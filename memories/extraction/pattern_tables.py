"""Load the word lists and patterns in `data/<name>.toml`; most modules have their own file."""

import re
from pathlib import Path

from foundation.text.word_tables import WordTables

_TABLES = WordTables(Path(__file__).parent / "data")
table = _TABLES.table
patterns = _TABLES.patterns


def compiled(name: str, **more: str) -> dict[str, re.Pattern[str]]:
    """Return the compiled patterns in the file `name`; `more` adds values for placeholders."""
    return {key: re.compile(pattern) for key, pattern in patterns(name, **more).items()}
