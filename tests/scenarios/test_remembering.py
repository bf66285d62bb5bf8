"""Told in one conversation, known in another."""

import pytest

from tests.scenarios.caller import Caller

TOLD = [
    ("I'm allergic to peanuts.", "What could I cook tonight?", "I'm allergic to peanuts"),
    ("我对花生过敏。", "今晚做什么菜好？", "对花生过敏"),
    ("I work as a nurse in Leeds.", "What do I do for work?", "nurse"),
    ("我在杭州工作。", "我在哪里工作？", "杭州"),
    ("我对花生过敏。", "What could I cook tonight?", "对花生过敏"),
]
CORRECTED = [
    ("I live in Leeds.", "Actually, I live in Lisbon now.", "Where do I live?", "Leeds", "Lisbon"),
    ("我住在杭州。", "我现在住在上海。", "我住在哪里？", "杭州", "上海"),
    (
        "My dog is called Rex.",
        "Actually, my dog is called Max.",
        "What is my dog called?",
        "Rex",
        "Max",
    ),
    ("我妹妹叫小雨。", "说错了，我妹妹叫小雪。", "我妹妹叫什么名字？", "小雨", "小雪"),
]

# What is put right is only said in the message before.
PUT_RIGHT = [
    (
        "my sister Ewa has a peanut allergy",
        "actually typo, its my cousin Ewa not my sister",
        "my cousin Ewa has a peanut allergy",
    ),
    ("老婆怀孕五个月了", "说错了，是六个月", "怀孕六个月"),
]


@pytest.mark.parametrize(("told", "asked", "known"), TOLD)
def test_what_was_told_in_one_conversation_is_recalled_in_another(
    ana: Caller, told: str, asked: str, known: str
) -> None:
    ana.tell(told, conversation="monday")
    context = ana.post("/memory/context", message=asked, conversation_id="friday")
    assert known in context["block"] and context["window"] == []
    memory = next(item for item in context["items"] if known in item["text"])
    assert memory["type"] == "memory"
    sources = ana.get(f"/memory/long_term/{memory['id']}/sources")["results"]
    assert sources[0]["quote"] and sources[0]["quote"] in told


def test_what_one_person_told_is_never_recalled_for_another(ana: Caller, bob: Caller) -> None:
    ana.tell("I'm allergic to peanuts.")
    bob.tell("I live in Porto.")
    assert "peanuts" in ana.recalled("What could I cook tonight?")
    assert "peanuts" not in bob.recalled("What could I cook tonight? I'm allergic to peanuts.")
    everything = "memory,message,episode,summary,note"
    assert any("peanuts" in text for text in ana.found("peanuts", everything))
    assert not any("peanuts" in text for text in bob.found("peanuts", everything))


@pytest.mark.parametrize(("told", "corrected", "asked", "before", "after"), CORRECTED)
def test_a_correction_is_recalled_and_what_it_corrects_is_not(
    ana: Caller, told: str, corrected: str, asked: str, before: str, after: str
) -> None:
    ana.tell(told, conversation="monday")
    assert before in ana.recalled(asked)
    ana.tell(corrected, conversation="tuesday")
    block = ana.recalled(asked)
    assert after in block and before not in block


def test_a_corrected_memory_keeps_its_id_and_its_old_text_as_a_version(ana: Caller) -> None:
    ana.tell("I live in Leeds.", conversation="monday")
    ana.tell("Actually, I live in Lisbon now.", conversation="tuesday")
    (memory,) = ana.get("/memory/long_term")["results"]
    versions = ana.get(f"/memory/long_term/{memory['id']}/versions")["results"]
    texts = {one["version"]: one["content"] for one in versions}
    assert texts == {1: "I live in Leeds", 2: "I live in Lisbon now"} and memory["version"] == 2
    for version in versions:
        assert len(version["sources"]) == 1


def test_an_edit_by_the_user_wins_over_what_was_extracted(ana: Caller) -> None:
    ana.tell("I live in Leeds.")
    (memory,) = ana.get("/memory/long_term")["results"]
    ana.patch(f"/memory/long_term/{memory['id']}", content="I live in Bath")
    block = ana.recalled("Where do I live?")
    assert "Bath" in block and "Leeds" not in block


@pytest.mark.parametrize("chatter", ["What's the weather like today?", "哈哈，今天好热啊。"])
def test_small_talk_leaves_no_memory(ana: Caller, chatter: str) -> None:
    ana.tell(chatter)
    assert ana.memories() == []
    assert ana.get("/conversations")["results"][0]["message_count"] == 2


def test_what_we_put_into_the_prompt_is_not_learned_again(ana: Caller) -> None:
    ana.tell("I'm allergic to peanuts.")
    for number in range(3):
        block = ana.recalled("What could I cook tonight?")
        ana.tell(f"{block}\n\nWhat could I cook tonight?", conversation=f"evening {number}")
    assert ana.memories() == ["I'm allergic to peanuts"]


@pytest.mark.parametrize(("told", "corrected", "right"), PUT_RIGHT)
def test_a_slip_is_put_right_where_it_was_learned(
    ana: Caller, told: str, corrected: str, right: str
) -> None:
    ana.tell(told, conversation="monday")
    ana.tell(corrected, conversation="monday")

    (memory,) = ana.get("/memory/long_term")["results"]
    assert right in memory["content"]
    versions = ana.get(f"/memory/long_term/{memory['id']}/versions")["results"]
    assert len(versions) == 2
