"""Memories that a program writes one after another, and a turn that asks to forget one of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memories.forgetting.spoken_requests import FORGOTTEN, NEEDS_CHOICE
from memories.models import Memory, MemoryStatus
from ops.models import Receipt, User
from ops.queue import worker
from tests.memcenter.rest.client import Api, answer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("learned_pairs")]
CELLO, TEA = "Plays the cello", "喜欢喝茶"
# What stood on the disk when other words of a request took the wrong memory: the request, the
# memories in the order of writing, and the only one that may go.
AMONG_NEAR = {
    "home": (
        "Forget that I live in Brno.",
        ("Lives in Brno", "Works in Brno at the hospital"),
        "Lives in Brno",
    ),
    "job please": ("Forget my job please.", ("Works as a nurse", "Wants a new job"), ""),
    "job": ("Forget my job.", ("Works as a nurse", "Quit the job at Acme"), "Works as a nurse"),
    "喝茶": ("忘掉我喜欢喝茶。", (TEA, "不喜欢喝茶的人"), TEA),
}
# The same requests with nothing near the memory that they mean.
ALONE = {
    "home": ("Forget that I live in Brno.", ("Lives in Brno", CELLO, "Drinks tea at noon")),
    "home please": ("Please forget that I live in Brno.", ("Lives in Brno", CELLO)),
    "job": ("Forget my job as a nurse.", ("Works as a nurse", CELLO, "Lives in Brno")),
    "喝茶": ("忘掉我喜欢喝茶。", (TEA, "住在布尔诺", "会拉大提琴")),
}


@pytest.fixture
def api(alice_key: str) -> Api:
    return Api(alice_key)


def write(api: Api, contents: Sequence[str]) -> None:
    """Write the memories one after another, each when the one before is settled and indexed."""
    for content in contents:
        answer(api.post("/memory/long_term", {"content": content}), 201)
        worker.drain()


def say(api: Api, request: str) -> str:
    """The status of the request, once the turn that makes it is learned from."""
    turn = {"conversation_id": "c1", "user_message": request, "assistant_message": "Let me see."}
    operation = answer(api.post("/turns", turn), 201)["op_ids"][0]
    worker.drain()
    status: str = answer(api.get(f"/memory/ops/{operation}"))["forget"]["status"]
    return status


def in_use() -> list[str]:
    found = Memory.objects.filter(status=MemoryStatus.ACTIVE).order_by("pk")
    return list(found.values_list("content", flat=True))


@pytest.mark.parametrize("case", AMONG_NEAR)
def test_a_request_among_near_memories_takes_nothing_but_the_meant_one(
    alice: User, api: Api, case: str
) -> None:
    request, contents, meant = AMONG_NEAR[case]
    write(api, contents)
    assert in_use() == list(contents)
    status = say(api, request)
    gone = set(contents) - set(in_use())
    assert gone <= {meant}
    assert status == (FORGOTTEN if gone else NEEDS_CHOICE)


@pytest.mark.parametrize("case", ALONE)
def test_a_plain_request_with_nothing_near_is_done_without_a_question(
    alice: User, api: Api, case: str
) -> None:
    request, contents = ALONE[case]
    write(api, contents)
    assert in_use() == list(contents)
    assert say(api, request) == FORGOTTEN
    assert in_use() == list(contents[1:])
    assert Receipt.objects.get().chosen == "only_match"
