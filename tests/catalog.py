"""Reads gettext catalogs and gathers what is marked for translation, without gettext's tools."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.utils.translation.template import templatize

from memcenter.management.commands.makemessages import service_error_messages

ROOT = Path(__file__).resolve().parents[1]
PO = ROOT / "locale/zh_Hans/LC_MESSAGES/django.po"
_APPS = ("memcenter", "ops", "conversations", "memories", "foundation")
_PLAIN = {"gettext", "gettext_lazy", "gettext_noop", "_", "ngettext", "ngettext_lazy"}
_WITH_CONTEXT = {"pgettext", "pgettext_lazy", "npgettext", "npgettext_lazy"}
_MARKED = re.compile(
    r"""\b(?P<name>_|n?p?gettext(?:_lazy|_noop)?)\s*\(\s*u?"""
    r"""(?P<first>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"""(?:\s*,\s*u?(?P<second>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))?"""
)


@dataclass
class Entry:
    """One message of a .po file. `plural` is empty where it has none."""

    context: str = ""
    id: str = ""
    plural: str = ""
    translations: list[str] = field(default_factory=list)
    flags: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.context, self.id


def entries() -> list[Entry]:
    """All but the header."""
    found = [_entry(block) for block in PO.read_text(encoding="utf-8").split("\n\n")]
    return [one for one in found if one.id]


def _entry(block: str) -> Entry:
    entry, place = Entry(), ""
    for line in block.splitlines():
        if line.startswith("#,"):
            entry.flags += line
        if line.startswith("#") or not line:
            continue
        keyword, _, text = line.partition(" ") if not line.startswith('"') else (place, "", line)
        _add(entry, keyword, ast.literal_eval(text), is_new=not line.startswith('"'))
        place = keyword
    return entry


def _add(entry: Entry, keyword: str, text: str, *, is_new: bool) -> None:
    if keyword.startswith("msgstr"):
        if is_new:
            entry.translations.append(text)
        else:
            entry.translations[-1] += text
        return
    name = {"msgctxt": "context", "msgid": "id", "msgid_plural": "plural"}[keyword]
    setattr(entry, name, getattr(entry, name) + text)


def marked() -> set[tuple[str, str]]:
    """(context, id) of everything that code and templates mark, and of what services raise."""
    found = {("", text) for text in service_error_messages()}
    for app in _APPS:
        for path in (ROOT / app).rglob("*.py"):
            found |= set(_marked_in_code(path.read_text(encoding="utf-8")))
    for path in (ROOT / "templates").rglob("*.html"):
        found |= set(_marked_in_template(path.read_text(encoding="utf-8")))
    return found


def _marked_in_code(source: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        values = [getattr(arg, "value", None) for arg in node.args[:2]]
        if name in _PLAIN and isinstance(values[0], str):
            yield "", values[0]
        elif name in _WITH_CONTEXT and all(isinstance(value, str) for value in values):
            yield str(values[0]), str(values[1])


def _marked_in_template(source: str) -> Iterator[tuple[str, str]]:
    for match in _MARKED.finditer(templatize(source)):
        first = ast.literal_eval(match["first"])
        if "p" in match["name"].replace("gettext", ""):
            yield first, ast.literal_eval(match["second"])
        else:
            yield "", first
