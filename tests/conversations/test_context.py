from typing import Any

import pytest

from conversations.block import builder
from conversations.block.builder import BlockOptions, Context
from conversations.models import Conversation
from conversations.recording import conversation_names, turns
from conversations.recording.turns import MessageInput
from foundation.errors import Invalid
from foundation.text import tokens
from memories.models import Memory, Origin, RecallHit, RecallTrace
from memories.projects import find_or_create
from memories.recall import search
from memories.writing import curation, direct_writes
from memories.writing.direct_writes import MemoryInput
from ops.accounts import users
from ops.models import User
from ops.queue import worker

pytestmark = pytest.mark.django_db


def remember(user: User, content: str, **fields: object) -> Memory:
    given = MemoryInput(content, **fields)  # type: ignore[arg-type]
    return direct_writes.remember(
        direct_writes.prepare(given, origin=Origin.USER), user=user
    ).memory


def ask(
    user: User, message: str, *, conversation: Conversation | None = None, **wanted: object
) -> Context:
    return builder.build(
        search.prepare_query(message),
        user=user,
        conversation=conversation,
        options=BlockOptions(**wanted),  # type: ignore[arg-type]
    )


def test_what_was_told_in_one_conversation_is_recalled_in_another(alice: User) -> None:
    remember(alice, "Has a cat named Biscuit", kind="fact")
    remember(alice, "Plays the cello on Sundays", kind="pattern")
    other = conversation_names.find_or_create(user=alice, reference="other")
    found = ask(alice, "What is my cat called?", conversation=other)
    assert "Biscuit" in found.block
    assert "cello" not in found.block
    assert [item.type for item in found.items] == ["memory"]


def test_constraints_are_there_whatever_is_asked_and_lead(alice: User) -> None:
    remember(alice, "Allergic to peanuts", kind="constraint")
    remember(alice, "Likes green tea", kind="preference")
    found = ask(alice, "Which tea do I like?")
    assert found.block.index("peanuts") < found.block.index("green tea")
    assert [section.name for section in found.sections] == ["constraints", "preferences"]


def test_unrelated_memories_do_not_fill_the_prompt(alice: User) -> None:
    for content in ("Likes green tea", "Plays the cello", "Works as a nurse"):
        remember(alice, content)
    assert ask(alice, "Please fix the syntax error on line 12 of my YAML file").block == ""


def test_the_block_keeps_its_budget(alice: User) -> None:
    for number in range(30):
        remember(alice, f"Must never be given medicine number {number}", kind="constraint")
    found = ask(alice, "What about medicine?", token_budget=200)
    assert tokens.count(found.block) == found.tokens <= 200


def test_each_component_adds_up_to_the_score(alice: User) -> None:
    remember(alice, "Has a cat named Biscuit", kind="fact", importance=0.9)
    [item] = ask(alice, "What is my cat called?").items
    parts = [item.components[name] for name in ("relevance", "recency", "importance")]
    assert sum(parts) == pytest.approx(item.score)
    assert item.components["importance"] == pytest.approx(0.2 * 0.9)


def test_a_recall_is_traced_and_counts_as_an_access(alice: User) -> None:
    memory = remember(alice, "Has a cat named Biscuit", kind="fact")
    found = ask(alice, "What is my cat called?")
    hit = RecallHit.objects.get(trace=RecallTrace.objects.get(request_id=found.request_id))
    assert (hit.target_public_id, hit.rank, hit.in_block) == (memory.public_id, 1, True)
    memory.refresh_from_db()
    assert memory.access_count == 1 and memory.last_accessed_at is not None


def test_pinned_memories_lead_the_others(alice: User) -> None:
    remember(alice, "Has a cat named Biscuit", kind="fact")
    second = remember(alice, "Has a cat named Pepper as well", kind="fact")
    curation.pin(user=alice, memory=second)
    assert ask(alice, "What are my cats called?").items[0].id == second.public_id


@pytest.mark.parametrize("gone", ["disable", "recycle"])
def test_disabled_and_deleted_memories_are_not_recalled(alice: User, gone: str) -> None:
    memory = remember(alice, "Has a cat named Biscuit")
    getattr(curation, gone)(user=alice, memory=memory)
    assert ask(alice, "What is my cat called?").block == ""


def test_nothing_of_the_person_is_recalled_in_a_group(alice: User) -> None:
    remember(alice, "Allergic to peanuts", kind="constraint")
    group = conversation_names.find_or_create(user=alice, reference="group", kind="group")
    assert ask(alice, "Peanuts?", conversation=group).block == ""
    assert ask(alice, "Peanuts?", conversation_kind="group").block == ""


def test_memory_that_is_off_is_not_recalled(alice: User) -> None:
    remember(alice, "Allergic to peanuts", kind="constraint")
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    assert ask(alice, "Peanuts?").block == ""


def test_only_the_named_projects_memories_are_candidates(alice: User) -> None:
    remember(alice, "The release is built with Bazel", project_key="apollo")
    remember(alice, "The release is built with Maven", project_key="gemini")
    assert ask(alice, "How is the release built?").block == ""
    apollo = find_or_create(user=alice, key="apollo")
    block = ask(alice, "How is the release built?", project=apollo).block
    assert "Bazel" in block and "Maven" not in block


def test_another_persons_memories_are_never_there(alice: User, mallory: User) -> None:
    remember(alice, "Has a cat named Biscuit")
    assert ask(mallory, "What is my cat called?").block == ""


def test_the_window_is_given_and_older_turns_come_back_as_summary_and_episodes(
    alice: User,
) -> None:
    conversation = conversation_names.find_or_create(user=alice, reference="long")
    for number in range(20):
        topic = "My train to Oslo leaves at nine." if number == 0 else f"Remark {number}."
        turns.record_turn(
            user=alice,
            conversation=conversation,
            user_message=MessageInput(topic),
            assistant_message=MessageInput(f"Noted, number {number}."),
        )
    worker.drain()
    found = ask(alice, "When does my train to Oslo leave?", conversation=conversation)
    assert len(found.window) == 20
    assert found.window[-1].content == "Noted, number 19."
    assert {"summary", "episodes"} <= {section.name for section in found.sections}
    assert "Oslo" in found.block


def test_the_same_state_gives_the_same_block(alice: User) -> None:
    for content in ("Has a cat named Biscuit", "Likes cats and dogs", "Allergic to cat hair"):
        remember(alice, content)
    first = ask(alice, "Tell me about my cat")
    assert ask(alice, "Tell me about my cat").block == first.block


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"token_budget": 5}, "token_budget"),
        ({"top_k": 0}, "top_k"),
        ({"top_k": 51}, "top_k"),
        ({"conversation_kind": "club"}, "conversation_kind"),
        ({"kinds": ["nonsense"]}, "kinds"),
    ],
)
def test_impossible_wishes_name_their_field(
    alice: User, wanted: dict[str, Any], field: str
) -> None:
    with pytest.raises(Invalid) as caught:
        ask(alice, "Hello", **wanted)
    assert list(caught.value.fields) == [field]
