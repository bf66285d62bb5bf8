"""Which statements are understandable alone, and what the portrait does with the others."""

from __future__ import annotations

import pytest
from django.test import Client

from memories.extraction.wording.standalone import stands_alone
from memories.models import Memory, MemoryVersion, Origin
from memories.portrait import lines_of, portrait_of
from ops.models import User
from tests.factories import make_memory
from tests.memories.extraction.scored import Row, assert_floor, groups
from tests.memories.pages import address, signed_in, text_of

pytestmark = pytest.mark.django_db


def stands(row: Row) -> str:
    return "yes" if stands_alone(row["text"], of_other=row["subject"] == "other") else "no"


@pytest.mark.parametrize(("subject", "language"), groups("standalone"))
def test_statements_and_fragments_reach_their_floor(subject: str, language: str) -> None:
    assert_floor("standalone", subject, language, stands, {})


@pytest.fixture
def fragment(alice: User) -> Memory:
    make_memory(alice, "Keeps bees", tags=["home"])
    return make_memory(alice, "15 colonies", tags=["home"], origin=Origin.EXTRACTED)


def phrases_by_group(user: User) -> dict[str, list[str]]:
    return {one.key: [phrase.text for phrase in one.phrases] for one in portrait_of(user)}


@pytest.mark.usefixtures("fragment")
def test_the_portrait_puts_fragments_last(alice: User) -> None:
    assert list(phrases_by_group(alice).items()) == [
        ("home", ["Keeps bees"]),
        ("fragments", ["15 colonies"]),
    ]
    lines = list(lines_of(portrait_of(alice)))
    assert lines.index("- 15 colonies") > lines.index("## Said in passing")


def test_whose_a_statement_is_comes_from_its_reasons(alice: User) -> None:
    memory = make_memory(alice, "works in Leeds", origin=Origin.EXTRACTED)
    assert list(phrases_by_group(alice)) == ["more"]
    MemoryVersion.objects.filter(memory=memory).update(reason="related.lasting, model")
    assert list(phrases_by_group(alice)) == ["fragments"]


def test_what_the_user_wrote_stands_as_written(alice: User, fragment: Memory) -> None:
    fragment.origin = Origin.USER
    fragment.save(update_fields=["origin"])
    assert "fragments" not in phrases_by_group(alice)


@pytest.mark.usefixtures("fragment")
def test_the_page_folds_fragments(alice: User) -> None:
    page = text_of(signed_in(alice).get(address("memory_home")))
    cards, folded = page.split("portrait__fragments")
    assert "Keeps bees" in cards
    assert "15 colonies" in folded
    assert "15 colonies" not in cards


def test_a_fragment_is_corrected_with_a_preview_like_the_others(
    alice: User, fragment: Memory
) -> None:
    page = text_of(signed_in(alice).get(address("memory_home")))
    cards, folded = page.split("portrait__fragments")
    assert "?about=" in cards
    assert f"?about={fragment.public_id}" in folded.split("</details>")[0]


@pytest.mark.usefixtures("fragment")
def test_the_api_names_the_group(alice: User, client: Client) -> None:
    from memories.api.response_shapes import Portrait

    shown = Portrait.show({"groups": portrait_of(alice)})
    assert [one["group"] for one in shown["groups"]] == ["home", "fragments"]
