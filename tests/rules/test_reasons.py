"""Every code that extraction or arbitration gives as a reason can be read as a sentence."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from memories.pages.reason_words import sentence_for
from memories.reader.statements import SPAN_HEADS
from memories.templatetags.memory_center import confidence_in_words
from tests.catalog import ROOT

_GIVE_A_REASON = ("Finding", "_for_review")


def said_in_code() -> set[str]:
    """Codes as they stand in calls, keywords and constants of what extracts and decides."""
    files = [
        *(ROOT / "memories/extraction").rglob("*.py"),
        *(ROOT / "memories/learning").glob("*.py"),
        *(ROOT / "memories/writing").glob("*.py"),
        *(ROOT / "memories/forgetting").glob("*.py"),
    ]
    return {code for file in files for code in _codes_of(file)}


def _codes_of(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.keyword) and node.arg in ("reasons", "reason"):
            yield from _words(node.value)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in _GIVE_A_REASON:
            yield from (word for one in node.args for word in _words(one))
        elif isinstance(node, ast.FunctionDef) and node.name in ("_doubt", "reasons"):
            given = [one for one in ast.walk(node) if isinstance(one, (ast.Return, ast.Assign))]
            yield from (word for one in given for word in _words(one))
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("_REASON",):
            yield from _words(node.value)


def _words(node: ast.AST) -> Iterator[str]:
    """The words of an expression; what it looks up by a word isn't one of them."""
    if isinstance(node, ast.Subscript) or _asks_the_reader(node):
        return
    word = node.value if isinstance(node, ast.Constant) else None
    if isinstance(word, str) and word.islower() and word.replace("_", "").isalpha():
        yield word
    for one in ast.iter_child_nodes(node):
        yield from _words(one)


def _asks_the_reader(node: ast.AST) -> bool:
    """`one.best("change")` names a head of the reader."""
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("best", "share")


def seen_by_the_reader() -> set[str]:
    """Whom a statement is about and how it holds, in every combination."""
    return {f"{whose}.{holds}" for whose in SPAN_HEADS["whose"] for holds in SPAN_HEADS["holds"]}


# Words that stand in those calls and are no codes.
_NO_CODES = {"fact", "task", "user", "assistant", "zh", "en", "kind", "content", "event"}


def codes() -> set[str]:
    known = said_in_code() - _NO_CODES
    assert {"same_meaning", "contradicts", "model_unclear", "hedged"} <= known
    assert {"accepted", "explicit", "corrects", "ends", "over_turns", "workflow"} <= known
    assert {"bundled_stood_in", "said_earlier", "revised", "nothing_like_it", "same_text"} <= known
    return known | seen_by_the_reader()


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_reason_has_words(language: str) -> None:
    with translation.override(language):
        assert [code for code in sorted(codes()) if not sentence_for(code)] == []


def test_codes_of_every_reader_have_words() -> None:
    assert sentence_for("zh.home") == sentence_for("en.tastes") == sentence_for("classifier.fact")
    assert sentence_for("classifier.fact")


def test_a_code_that_nobody_knows_has_none() -> None:
    assert sentence_for("xyzzy") == ""


def test_no_low_score_is_called_sure() -> None:
    words = {score / 100: confidence_in_words(score / 100) for score in range(101)}
    sure = {score for score, said in words.items() if said == "I’m sure about this."}
    doubted = {score for score, said in words.items() if "not sure" in said}
    assert sure == {score / 100 for score in range(85, 101)}
    assert doubted == {score / 100 for score in range(60)}
