"""Every page of the Memory Center against a visitor and against somebody else."""

import pytest
from django.test import Client

from memories.models import Memory
from ops.models import User
from tests.factories import make_conversation, make_memory
from tests.memories.pages import address, htmx, make_candidate, signed_in

pytestmark = pytest.mark.django_db

PAGES = [
    "memory_home",
    "memory_conversation",
    "memory_list",
    "memory_add",
    "memory_review",
    "memory_bin",
    "bin_empty",
    "memory_refusals",
]
OF_ONE = ["memory_page", "memory_edit", "memory_forget"]
ACTS = ["pin", "unpin", "disable", "enable", "delete", "restore", "edit", "forget"]


@pytest.fixture
def memory(alice: User) -> Memory:
    return make_memory(alice, "Keeps bees on the roof")


@pytest.mark.parametrize("name", PAGES)
def test_a_visitor_is_sent_to_sign_in(client: Client, db: None, name: str) -> None:
    response = client.get(address(name))
    assert response.status_code == 302
    assert response["Location"].startswith("/signin/?next=")


@pytest.mark.parametrize("name", OF_ONE)
def test_a_visitor_learns_nothing_of_a_memory(client: Client, memory: Memory, name: str) -> None:
    assert client.get(address(name, memory.public_id)).status_code == 302


def test_a_fragment_for_somebody_signed_out_is_refused_and_not_a_sign_in_page(
    client: Client, db: None
) -> None:
    assert client.get(address("memory_list"), headers=htmx("found")).status_code == 401


@pytest.mark.parametrize("name", OF_ONE)
def test_a_strangers_memory_is_not_there(mallory: User, memory: Memory, name: str) -> None:
    assert signed_in(mallory).get(address(name, memory.public_id)).status_code == 404


@pytest.mark.parametrize("act", ACTS)
def test_a_stranger_can_do_nothing_to_a_memory(mallory: User, memory: Memory, act: str) -> None:
    before = Memory.everything.filter(pk=memory.pk).values().get()
    url = address(f"memory_{act}", memory.public_id)
    assert signed_in(mallory).post(url, {"content": "mine"}).status_code == 404
    assert Memory.everything.filter(pk=memory.pk).values().get() == before


def test_a_stranger_can_not_restore_a_version(mallory: User, memory: Memory) -> None:
    url = address("memory_restore_version", memory.public_id, 1)
    assert signed_in(mallory).post(url).status_code == 404


def test_a_stranger_can_not_decide_on_a_candidate(alice: User, mallory: User) -> None:
    candidate = make_candidate(alice, "Wants a second cat")
    url = address("memory_decide", candidate.public_id)
    assert signed_in(mallory).post(url, {"decision": "accept"}).status_code == 404


def test_a_bulk_act_leaves_strangers_memories_alone(mallory: User, memory: Memory) -> None:
    chosen = {"ids": [memory.public_id], "do": "recycle"}
    assert signed_in(mallory).post(address("memory_bulk"), chosen).status_code == 302
    assert Memory.everything.get(pk=memory.pk).deleted_at is None


def test_a_strangers_conversation_is_not_there(alice: User, mallory: User) -> None:
    conversation = make_conversation(alice)
    url = address("memory_conversation", conversation=conversation.public_id)
    assert signed_in(mallory).get(url).status_code == 404


@pytest.mark.parametrize("act", ["pin", "unpin", "disable", "enable", "delete", "restore"])
def test_looking_changes_nothing(alice: User, memory: Memory, act: str) -> None:
    url = address(f"memory_{act}", memory.public_id)
    assert signed_in(alice).get(url).status_code == 405


@pytest.mark.parametrize("name", PAGES)
def test_nothing_that_was_seen_is_kept_by_a_cache(alice: User, name: str) -> None:
    response = signed_in(alice).get(address(name))
    assert "no-store" in response["Cache-Control"]
    assert "HX-Request" in response["Vary"]


def test_the_memory_center_opens_with_the_portrait(alice: User, memory: Memory) -> None:
    assert memory.content in signed_in(alice).get("/memory/").content.decode()
