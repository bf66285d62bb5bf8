"""The rows that the reader learns from are whole: what they quote stands in what was said."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).resolve().parents[2] / "training" / "data"
MESSAGES = sorted((DATA / "messages").glob("*.jsonl"))
PAIRS = sorted((DATA / "pairs").glob("*.jsonl"))
SLIPS = sorted((DATA / "slips").glob("*.jsonl"))
LINKS = sorted((DATA / "links").rglob("*.jsonl"))
KEEP = {"yes", "no", "unsure"}
LIVED = {"asserted", "hedged"}
RELATIONS = {"same", "newer", "contradicts", "refines", "ended", "unrelated"}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def faults(row: dict[str, Any]) -> list[str]:
    """What is wrong with one message, in words."""
    text, at, found = row["text"], 0, []
    for span in row["spans"]:
        start = text.find(span["quote"], at)
        if start < 0:
            found.append(f"{span['quote']!r} is out of place")
            continue
        at = start + len(span["quote"])
        if span["keep"] not in KEEP:
            found.append(f"keep is {span['keep']!r}")
        if span["keep"] != "no" and not span.get("memory"):
            found.append(f"{span['quote']!r} has no memory")
        if span["keep"] == "yes" and span["said"] not in LIVED:
            found.append(f"{span['quote']!r} is kept and only {span['said']}")
    return found + [f"{one!r} is not in it" for one in row["secrets"] if one not in text]


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.stem)
def test_each_row_quotes_what_was_said(path: Path) -> None:
    broken = {n: found for n, row in enumerate(rows(path), 1) if (found := faults(row))}
    assert broken == {}


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.stem)
def test_conversations_are_numbered_without_a_gap(path: Path) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for row in rows(path):
        thread = row["voice"], str(row["conversation"])
        seen[thread] += 1
        assert row["n"] == seen[thread], thread


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.stem)
def test_each_pair_has_a_relation(path: Path) -> None:
    for row in (one for one in rows(path) if "about" not in one):
        assert row["relation"] in RELATIONS and row["old"].strip() and row["new"].strip(), row


@pytest.mark.parametrize("path", LINKS, ids=lambda path: path.stem)
def test_each_link_joins_a_statement_and_a_later_message(path: Path) -> None:
    for row in rows(path):
        said, known = row["said"], row["statements"]
        assert all(one["words"] in said[one["n"]] for one in known), row
        for link in row["links"]:
            assert link["relation"] in RELATIONS - {"unrelated"} and link["now"].strip(), row
            assert link["words"] in said[link["by"]], row
            assert link["by"] >= known[link["statement"]]["n"], row


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.stem)
def test_each_request_says_which_memories_it_means(path: Path) -> None:
    for row in (one for one in rows(path) if "about" in one):
        assert isinstance(row["about"], bool), row
        assert row["request"].strip() and row["memory"].strip(), row


def test_relations_and_requests_are_both_among_the_pairs() -> None:
    found = Counter("about" in row for path in PAIRS for row in rows(path))
    assert min(found[True], found[False]) >= 400


def test_messages_begin_in_many_ways() -> None:
    """Rows of one mind sound alike: no two first words are favoured over all voices."""
    first = Counter(
        row["text"][:2] if row["lang"] in ("zh", "ja") else " ".join(row["text"].split()[:2])
        for path in MESSAGES
        for row in rows(path)
    )
    assert max(first.values()) <= 0.03 * first.total()


@pytest.mark.parametrize("path", SLIPS, ids=lambda path: path.stem)
def test_what_was_meant_comes_from_what_was_said_by_leaving_out(path: Path) -> None:
    for row in rows(path):
        rest = iter(row["said"])
        assert all(sign in rest for sign in row["meant"]), row["said"]
        assert (row["said"] == row["meant"]) is (row["kind"] == "none"), row["said"]
