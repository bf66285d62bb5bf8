"""Chinese and English are equal first languages: nothing is left untranslated."""

from __future__ import annotations

import ast
import gettext
import re
from pathlib import Path

import pytest

from tests.catalog import PO, ROOT, Entry, entries, marked

PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]|%%")
CATALOG = entries()


@pytest.fixture(scope="module")
def compiled() -> gettext.GNUTranslations:
    with PO.with_suffix(".mo").open("rb") as file:
        return gettext.GNUTranslations(file)


def placeholders(text: str) -> set[str]:
    return {match[0] for match in PLACEHOLDER.finditer(text)}


def name_of(entry: Entry) -> str:
    return f"{entry.context}|{entry.id}"


# What a template shows without asking the catalog: its text, and what attributes say aloud.
_CODE = re.compile(
    r"\{#.*?#\}|\{%\s*blocktranslate.*?endblocktranslate\s*%\}|<(script|style|code|pre|kbd)\b.*?</\1>"
    r"|\{%\s*block \w+_class\s*%\}.*?\{%\s*endblock\s*%\}|\{%.*?%\}|\{\{.*?\}\}",
    re.DOTALL,
)
_SPOKEN = re.compile(r'(?:aria-label|title|placeholder|alt)="([^"]*)"')
_TAG = re.compile(r"<[^>]*>")
_IN_ENGLISH_ONLY = {"api_reference.html"}  # it shows what the OpenAPI document says


@pytest.mark.parametrize(
    "path", sorted((PO.parents[3] / "templates").rglob("*.html")), ids=lambda path: path.name
)
def test_a_template_shows_no_words_outside_the_catalog(path: Path) -> None:
    source = _CODE.sub(" ", path.read_text(encoding="utf-8"))
    shown = [*_TAG.sub("\n", source).splitlines(), *_SPOKEN.findall(source)]
    words = [text.strip() for text in shown if re.search(r"\b[A-Za-z]{3,}\b(?!:)", text)]
    assert path.name in _IN_ENGLISH_ONLY or words == []


def test_everything_that_is_marked_stands_in_the_catalog() -> None:
    known = {entry.key for entry in CATALOG}
    assert sorted(marked() - known) == []


def test_nothing_stands_in_the_catalog_that_nobody_says() -> None:
    assert sorted({entry.key for entry in CATALOG} - marked()) == []


def test_nothing_stands_in_the_catalog_twice() -> None:
    keys = [entry.key for entry in CATALOG]
    assert len(keys) == len(set(keys))


def test_everything_is_translated_and_nothing_is_fuzzy() -> None:
    left = [name_of(one) for one in CATALOG if not one.translations or not all(one.translations)]
    assert left == []
    assert [name_of(one) for one in CATALOG if "fuzzy" in one.flags] == []


def test_placeholders_are_kept() -> None:
    """A form for many may leave the number out of "one …", never the other way round."""
    wrong = []
    for entry in CATALOG:
        allowed = placeholders(entry.id) | placeholders(entry.plural)
        wanted = placeholders(entry.plural) if entry.plural else placeholders(entry.id)
        for text in entry.translations:
            if not wanted <= placeholders(text) <= allowed:
                wrong.append(name_of(entry))
    assert wrong == []


def test_the_compiled_catalog_says_the_same(compiled: gettext.GNUTranslations) -> None:
    different = []
    for entry in CATALOG:
        got = (
            compiled.npgettext(entry.context, entry.id, entry.plural, 2)
            if entry.context and entry.plural
            else compiled.pgettext(entry.context, entry.id)
            if entry.context
            else compiled.ngettext(entry.id, entry.plural, 2)
            if entry.plural
            else compiled.gettext(entry.id)
        )
        if got != entry.translations[0]:
            different.append(name_of(entry))
    assert different == []


def test_the_compiled_catalog_holds_nothing_else(compiled: gettext.GNUTranslations) -> None:
    names = compiled._catalog  # type: ignore[attr-defined]
    plain = {key[0] if isinstance(key, tuple) else key for key in names} - {""}
    assert len(plain) == len(CATALOG)


def test_chinese_uses_the_words_of_the_product() -> None:
    said = {entry.id: entry.translations[0] for entry in CATALOG}
    assert said["Memory Center"] == "记忆中心"
    assert said["This conversation"] == "本会话"
    assert said["Long-term memory"] == "长期记忆"
    assert said["Data management"] == "数据管理"
    assert said["Recycle bin"] == "回收站"
    assert said["Forgotten. Nothing derived from it is left."] == (
        "已彻底忘记，由它得出的内容也已全部清除。"
    )


def test_no_text_about_a_receipt_says_on_which_side_of_it_the_receipt_stands() -> None:
    """A toast and the receipt change sides with the width of the page and the place scrolled to."""
    sides = re.compile(
        r"(?:receipt|result|erased)[^.]*\b(?:below|above)\b|(?:回执|结果|清除)[^。]*[上下][方面]",
        re.I,
    )
    said = ["\n".join([one.id, one.plural, *one.translations]) for one in CATALOG]
    assert [text for text in said if sides.search(text)] == []


_STRAIGHT = re.compile(r"[A-Za-z]'[A-Za-z]")


def test_apostrophes_are_typographic_in_every_text() -> None:
    assert [one.id for one in CATALOG if _STRAIGHT.search(one.id + one.plural)] == []


def test_the_demo_assistant_writes_typographic_apostrophes() -> None:
    source = (ROOT / "conversations/chat/demo_assistant.py").read_text(encoding="utf-8")
    [texts] = [
        node.value
        for node in ast.parse(source).body
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict)
    ]
    said = [str(node.value) for node in ast.walk(texts) if isinstance(node, ast.Constant)]
    assert len(said) > 40 and [text for text in said if _STRAIGHT.search(text)] == []


@pytest.mark.parametrize(("word", "elsewhere"), [("缓存", []), ("令牌", ["token expires at"])])
def test_a_technical_word_stands_only_in_the_admin(word: str, elsewhere: list[str]) -> None:
    assert [one.id for one in CATALOG if word in "".join(one.translations)] == elsewhere
