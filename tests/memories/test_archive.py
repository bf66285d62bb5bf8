"""What stands alone and nobody used for 90 days: what is archived, and what never is."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from conversations.models import Conversation
from memories import language_steps, tasks
from memories.models import Change, Kind, Memory, MemoryStatus
from memories.writing import archive, consolidation
from ops.access import as_user
from ops.accounts import users
from ops.models import AuditEvent, Operation, User
from ops.queue import worker
from tests.factories import make_memory, make_version
from tests.memcenter.rest.client import Api, answer
from tests.memories.pages import address, signed_in
from tests.memories.test_ingest import Scripted, candidate, say
from tests.memories.test_ingest import extractor as extractor
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db

OBOE = "I collect old oboe reeds"


def old(user: User, content: str = OBOE, *, days: int = 91, **fields: Any) -> Memory:
    then = timezone.now() - timedelta(days=days)
    return make_memory(user, content, **{"created_at": then} | fields)


def one_night(user: User, *, dry_run: bool = False) -> Operation:
    operation = consolidation.request(user=user, dry_run=dry_run)
    worker.drain()
    operation.refresh_from_db()
    return operation


def is_archived(memory: Memory) -> bool:
    memory.refresh_from_db()
    assert (memory.status == MemoryStatus.ARCHIVED) == (memory.archived_at is not None)
    return memory.archived_at is not None


@pytest.mark.parametrize("content", [OBOE, "我在收集旧邮票"])
def test_what_nobody_used_for_90_days_is_archived(alice: User, content: str) -> None:
    memory = old(alice, content)
    operation = one_night(alice)
    assert is_archived(memory)
    assert operation.result["archived"] == [memory.public_id]
    assert AuditEvent.objects.filter(action="memory.archived", target=memory.public_id).exists()


def test_again_it_finds_nothing_to_do(alice: User) -> None:
    memory = old(alice)
    one_night(alice)
    memory.refresh_from_db()
    since = memory.archived_at
    assert one_night(alice).result == {"made": []}
    memory.refresh_from_db()
    assert memory.archived_at == since


def test_a_dry_run_only_says_which(alice: User) -> None:
    memory = old(alice)
    assert one_night(alice, dry_run=True).result["would_archive"] == [memory.public_id]
    assert not is_archived(memory)


@pytest.mark.parametrize(
    "fields",
    [
        {"days": 89},
        {"pinned": True},
        {"standing": True},
        {"kind": Kind.CONSTRAINT},
        {"kind": Kind.SKILL},
        {"kind": Kind.EVENT},
        {"access_count": 5},
        {"last_accessed_at": timezone.now() - timedelta(days=10)},
        {"valid_until": timezone.now() + timedelta(days=400)},
        {"feedback": "positive"},
        {"tags": ["family"]},
        {"tags": ["人际"]},
        {"data": {"since": "2020-05-01"}},
        {"status": MemoryStatus.DISABLED},
        {"status": MemoryStatus.CANDIDATE},
    ],
)
def test_what_is_protected_or_used_stays(alice: User, fields: dict[str, Any]) -> None:
    memory = old(alice, **fields)
    one_night(alice)
    assert not is_archived(memory)


@pytest.mark.parametrize(
    "content",
    [
        "My sister Anna plays the oboe",
        "My boss is called Tom",
        "My birthday is on 3 May",
        "I got my driving licence in June 2019",
        "我妹妹会拉小提琴",
        "我的生日是5月3日",
        "我2019年考了驾照",
    ],
)
def test_people_and_dates_stay(alice: User, content: str) -> None:
    memory = old(alice, content)
    one_night(alice)
    assert not is_archived(memory)


def test_what_was_changed_or_said_again_since_stays(
    alice: User, conversation: Conversation, extractor: Scripted
) -> None:
    changed = old(alice, "I knit scarves")
    make_version(changed, "I knit woollen scarves", change=Change.EDITED)
    repeated = old(alice)
    extractor.candidates = [candidate(OBOE, OBOE)]
    say(conversation, f"{OBOE}.")
    worker.drain()
    one_night(alice)
    assert not is_archived(changed)
    assert not is_archived(repeated)


def test_nothing_is_archived_while_memory_is_off(alice: User) -> None:
    memory = old(alice)
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    one_night(alice)
    assert not is_archived(memory)


def test_what_was_used_since_it_was_read_stays(alice: User) -> None:
    memory = old(alice)
    with as_user(alice):
        found = archive.find_archivable(alice, now=timezone.now())
    assert found == [memory]
    Memory.objects.filter(pk=memory.pk).update(last_accessed_at=timezone.now())
    with as_user(alice):
        assert archive.apply(found, user=alice) == []
    assert not is_archived(memory)


def test_memories_about_people_do_not_keep_later_ones_from_being_checked(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_MAX_TEXTS", 2)
    monkeypatch.setattr(archive, "_names_people_or_dates", lambda memory: False)
    reader = SimpleNamespace(is_about_people=lambda text: text.startswith("Of somebody"))
    monkeypatch.setattr(language_steps, "bundled_extractor", lambda: reader)
    for number in range(5):
        old(alice, f"Of somebody, number {number}")
    last = old(alice)
    with as_user(alice):
        nights = [timezone.now() + timedelta(days=day) for day in range(4)]
        found = [archive.find_archivable(alice, now=night) for night in nights]
    assert [last] in found


def test_what_is_like_others_is_joined_instead(alice: User) -> None:
    for tea in ("oolong", "green", "black"):
        old(alice, f"Likes {tea} tea", kind=Kind.PREFERENCE)
    operation = one_night(alice)
    assert len(operation.result["made"]) == 1
    assert "archived" not in operation.result


def test_the_night_asks_for_who_has_some(alice: User, mallory: User) -> None:
    old(alice)
    old(mallory, days=30)
    tasks.request_consolidation()
    subjects = Operation.objects.filter(kind="consolidate").values_list("subject", flat=True)
    assert list(subjects) == [alice.subject]


@pytest.fixture
def archived(alice: User) -> Memory:
    memory = old(alice)
    one_night(alice)
    memory.refresh_from_db()
    return memory


def test_a_search_finds_it_and_says_so_and_no_prompt_has_it(
    alice: User, alice_key: str, archived: Memory
) -> None:
    api = Api(alice_key)
    asked = {"query": "Do I collect oboe reeds?"}
    (hit,) = answer(api.get("/search", **asked, types="memory"))["results"]
    assert (hit["id"], hit["status"]) == (archived.public_id, "archived")
    (found,) = answer(api.get("/memories/search", **asked))["results"]
    assert (found["id"], found["status"]) == (archived.public_id, "archived")
    assert answer(api.get("/search", **asked, status="active"))["results"] == []
    block = answer(api.post("/memory/context", {"message": asked["query"]}))["block"]
    assert "oboe" not in block


def test_the_api_says_why_and_brings_it_back(alice_key: str, archived: Memory) -> None:
    api, url = Api(alice_key), f"/memory/long_term/{archived.public_id}"
    shown = answer(api.get(url))
    assert (shown["status"], shown["archived_because"]) == ("archived", "unused")
    assert shown["archived_at"] is not None
    shown = answer(api.patch(url, {"status": "active"}))
    assert shown["status"] == "active" and "archived_at" not in shown


@pytest.mark.parametrize("way", ["restore", "bulk", "edit"])
def test_there_are_other_ways_back(alice_key: str, archived: Memory, way: str) -> None:
    api, url = Api(alice_key), f"/memory/long_term/{archived.public_id}"
    if way == "restore":
        answer(api.post(f"{url}/restore", {}))
    elif way == "bulk":
        body = {"ids": [archived.public_id], "action": "enable"}
        answer(api.post("/memory/long_term/bulk", body))
    else:
        answer(api.patch(url, {"content": "I collect new oboe reeds"}))
    assert not is_archived(archived)


def test_what_was_brought_back_counts_as_used(alice: User, archived: Memory) -> None:
    signed_in(alice).post(address("memory_enable", archived.public_id))
    assert not is_archived(archived)
    one_night(alice)
    assert not is_archived(archived)


def test_the_page_says_why_and_offers_to_use_it_again(alice: User, archived: Memory) -> None:
    client = signed_in(alice)
    page = client.get(address("memory_page", archived.public_id)).content.decode()
    assert "because it wasn’t used for 90 days" in page
    assert address("memory_enable", archived.public_id) in page
    listed = client.get(address("memory_list")).content.decode()
    assert archived.content not in listed
    for query in ({"q": "oboe reeds"}, {"status": "archived"}):
        listed = client.get(address("memory_list", **query)).content.decode()
        assert archived.content in listed
        assert address("memory_enable", archived.public_id) in listed


def test_said_again_it_is_in_use_again_and_not_there_twice(
    alice: User, conversation: Conversation, extractor: Scripted, archived: Memory
) -> None:
    extractor.candidates = [candidate(OBOE, OBOE)]
    say(conversation, f"{OBOE}.")
    worker.drain()
    assert not is_archived(archived)
    assert Memory.objects.get() == archived


@pytest.mark.parametrize("reads", ["newer", "contradicts"])
def test_what_is_corrected_or_contradicted_comes_back_first(
    conversation: Conversation,
    extractor: Scripted,
    archived: Memory,
    pairs: FakePairs,
    reads: str,
) -> None:
    flute = "I collect flute reeds"
    pairs.says(OBOE, flute, reads)
    extractor.candidates = [candidate(flute, flute)]
    say(conversation, f"{flute}.")
    worker.drain()
    assert not is_archived(archived)


def test_what_holds_beside_it_leaves_it_in_the_archive(
    conversation: Conversation, extractor: Scripted, archived: Memory
) -> None:
    extractor.candidates = [candidate("I collect oboe scores", "I collect oboe scores")]
    say(conversation, "I collect oboe scores.")
    worker.drain()
    assert is_archived(archived)
    assert Memory.objects.count() == 2


def test_a_stranger_brings_nothing_back(mallory_key: str, archived: Memory) -> None:
    url = f"/memory/long_term/{archived.public_id}"
    assert Api(mallory_key).patch(url, {"status": "active"}).status_code == 404
    assert is_archived(archived)
