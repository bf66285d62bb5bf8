"""Load the word lists and patterns in `data/<name>.toml`; most modules have a file of their own."""

import re
from pathlib import Path

from memcenter.lib.text.word_tables import WordTables

_TABLES = WordTables(Path(__file__).parent / "data")
table = _TABLES.table
patterns = _TABLES.patterns


def compiled(name: str, **more: str) -> dict[str, re.Pattern[str]]:
    """Return the compiled patterns in the file `name`."""
    return {key: re.compile(pattern) for key, pattern in patterns(name, **more).items()}
