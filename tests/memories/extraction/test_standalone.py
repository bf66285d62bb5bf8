"""Which statements are understandable alone, and what the portrait does with the others."""

from __future__ import annotations

import pytest
from django.test import Client

from memories.extraction.wording.standalone import stands_alone
from memories.models import Memory, MemoryVersion, Origin
from memories.portrait import lines_of, portrait_of
from ops.models import User
from tests.factories import make_memory
from tests.memories.pages import address, signed_in, text_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "text",
    [
        "I keep bees",
        "vegetarian",
        "allergic to peanuts",
        "No nuts",
        "works nights at the depot",
        "my sister is a nurse",
        "she [my sister] is a nurse",
        "[How many colonies do you have?] 15",
        "the train to work leaves at six every day, so mornings are short",
        "15 colonies are kept behind the house",
        "Call me Lan",
        "do not round prices",
        "[我]在青岛",
        "我老婆姓翟",
        "豆豆怕黑",
        "对花生过敏",
        "住校三年了",
        "家里养蜂",
        "那里产钾盐",
        "每週三打羽球",
        "她[我妹妹]是护士",
        "I'm 34",
        "I'm not vegetarian",
        "I don't smoke",
        "Formula One fan",
        "loved ones come first",
        "no left turns",
        "我34岁",
        "我不是护士",
        "我没有车",
        "不要香菜",
        "我还在上学",
        "我有两只猫",
        "我也不吃辣",
        "我就在左边那栋楼",
        "我是90后",
        "我是大三",
        "我是95年的",
        "trabaja de noche",
    ],
)
def test_a_full_statement_stands_alone(text: str) -> None:
    assert stands_alone(text)


@pytest.mark.parametrize(
    "text",
    [
        "she's a nurse",
        "He is at the university",
        "its tues to sat",
        "they moved in May",
        "hired him in may",
        "15 colonies",
        "three dogs",
        "every Tuesday",
        "twice a week",
        "46 years come June",
        "after the harvest",
        "a triumph",
        "Saturday mornings",
        "because [2026-11-30] of that",
        "她是护士",
        "这个也不行",
        "是六月三十日",
        "两年",
        "十五箱",
        "星期六下午",
        "每周三",
        "left one no the right one",
        "Not the blue one, the green one",
        "big ones please",
        "I don't",
        "me too",
        "I'm not 34",
        "we can't either",
        "我不是34",
        "我也没有",
        "我要两斤",
        "不是34",
        "我们也是",
        "我不是左边那个",
    ],
)
def test_a_fragment_does_not_stand_alone(text: str) -> None:
    assert not stands_alone(text)


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("my brother works in Leeds", True),
        ("Otis wants a tree house", True),
        ("works in Leeds", False),
        ("early stages, they reckon", False),
        ("我妈在临沂开幼儿园", True),
        ("老二断奶了", True),
        ("考上鲁美了", False),
    ],
)
def test_a_statement_about_somebody_else_must_name_them(text: str, stands: bool) -> None:
    assert stands_alone(text, of_other=True) is stands


@pytest.fixture
def fragment(alice: User) -> Memory:
    make_memory(alice, "Keeps bees", tags=["home"])
    return make_memory(alice, "15 colonies", tags=["home"], origin=Origin.EXTRACTED)


def groups(user: User) -> dict[str, list[str]]:
    return {one.key: [phrase.text for phrase in one.phrases] for one in portrait_of(user)}


@pytest.mark.usefixtures("fragment")
def test_the_portrait_puts_fragments_last(alice: User) -> None:
    assert list(groups(alice).items()) == [("home", ["Keeps bees"]), ("fragments", ["15 colonies"])]
    lines = list(lines_of(portrait_of(alice)))
    assert lines.index("- 15 colonies") > lines.index("## Said in passing")


def test_whose_a_statement_is_comes_from_its_reasons(alice: User) -> None:
    memory = make_memory(alice, "works in Leeds", origin=Origin.EXTRACTED)
    assert list(groups(alice)) == ["more"]
    MemoryVersion.objects.filter(memory=memory).update(reason="related.lasting, model")
    assert list(groups(alice)) == ["fragments"]


def test_what_the_user_wrote_stands_as_written(alice: User, fragment: Memory) -> None:
    fragment.origin = Origin.USER
    fragment.save(update_fields=["origin"])
    assert "fragments" not in groups(alice)


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
