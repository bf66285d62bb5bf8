"""The thresholds in the reader's card are those of the code."""

from __future__ import annotations

import re
from typing import Any

from memories.extraction.arbitration import pairs
from memories.extraction.corrections import corrected_statements
from memories.extraction.message_reading import foreign_texts, heard_message, statement_labels
from memories.screening import secret_judge
from tests.catalog import ROOT

_ROW = re.compile(r"(?m)^\| `(?P<module>\w+)\.(?P<name>[\w.]+)` \| (?P<value>[0-9.]+) \|")
_MODULES = (
    foreign_texts,
    heard_message,
    statement_labels,
    pairs,
    corrected_statements,
    secret_judge,
)


def test_the_card_names_the_thresholds_of_the_code() -> None:
    card = (ROOT / "memories/reader/data/card.md").read_text(encoding="utf-8")
    rows = [found.groupdict() for found in _ROW.finditer(card)]
    assert len(rows) >= 14
    modules = {module.__name__.rsplit(".", 1)[-1]: module for module in _MODULES}
    for row in rows:
        value: Any = modules[row["module"]]
        for name in row["name"].split("."):
            value = getattr(value() if isinstance(value, type) else value, name)
        assert value == float(row["value"]), row
