"""Load word lists and patterns from TOML files stored beside the code that uses them."""

import re
import tomllib
from pathlib import Path
from typing import Any

_REFERENCE = re.compile(r"\{([a-z][a-z_.]*)\}")


class WordTables:
    """The TOML files in a folder. The methods take file names without `.toml`.

    In the files, the lines of a string are alternatives in a regular expression, and the strings of
    a list are concatenated.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def table(self, name: str) -> dict[str, Any]:
        """Return the content of a file, with strings and lists joined as the class describes."""
        found = tomllib.loads((self._folder / f"{name}.toml").read_text("utf-8"))
        return {key: _joined(value) for key, value in found.items()}

    def patterns(self, name: str, **more: str) -> dict[str, str]:
        """Return the regular expressions in the table `patterns` of a file, by name.

        `{key}` or `{table.key}` in a pattern is replaced by that entry of the file, by an earlier
        pattern, or by an entry of `more`.
        """
        found = self.table(name)
        known = {**found, **more}
        for key, value in found["patterns"].items():
            known[key] = _filled(known, value)
        return {key: known[key] for key in found["patterns"]}

    def rows(self, name: str) -> list[dict[str, str]]:
        """Return the list `rows` of a file.

        Each `{key}` in a row is replaced by that entry of the file.
        """
        found = self.table(name)
        return [{key: _filled(found, text) for key, text in row.items()} for row in found["rows"]]


def _joined(value: Any) -> Any:
    if isinstance(value, str):
        return "|".join(value.strip("\n").split("\n"))
    if isinstance(value, list):
        return [_joined(item) for item in value] if isinstance(value[0], dict) else "".join(value)
    return {key: _joined(item) for key, item in value.items()} if isinstance(value, dict) else value


def _filled(known: dict[str, Any], text: str) -> str:
    return _REFERENCE.sub(lambda match: _named(known, match[1]), text)


def _named(known: dict[str, Any], name: str) -> str:
    first, _, second = name.partition(".")
    return str(known[first][second] if second else known[first])
