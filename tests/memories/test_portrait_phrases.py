"""A chat model words the portrait: a real server on loopback, the worker and the database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from conversations.models import Message
from memories.forgetting import memory_forgets
from memories.models import Memory, MemoryStatus, Origin, PortraitPhrase
from memories.portrait import portrait_of
from memories.projects import find_or_create
from memories.writing import curation, direct_writes, portrait_phrases
from memories.writing.direct_writes import MemoryInput
from ops.access import as_user
from ops.accounts import users
from ops.models import Kind, ModelCall, Operation, Receipt, Status, User
from ops.queue import outbox, worker
from tests.chat_server import Answer, ChatServer, refused, said
from tests.factories import make_conversation, make_memory, make_turn
from tests.killing import Kill, revive
from tests.memcenter.rest.client import Api, answer
from tests.memories.pages import address, signed_in, text_of
from tests.pair_reader import FakePairs
from tests.transfer.rich import data_of, export

pytestmark = pytest.mark.django_db

NUTS = "I'm allergic to peanuts."
PHRASE = "Allergic to peanuts"
ZH_NUTS = "对了，我对花生过敏"
ZH_PHRASE = "对花生过敏"


@pytest.fixture(autouse=True)
def alike(pairs: FakePairs) -> None:
    for own, phrase in ((NUTS, PHRASE), (ZH_NUTS, ZH_PHRASE)):
        pairs.says(own, phrase, "same")


@pytest.fixture
def nuts(alice: User) -> Memory:
    turn = make_turn(make_conversation(alice), NUTS)
    return make_memory(alice, NUTS, turns=[turn], tags=["food"])


def worded(**phrases: str) -> Answer:
    return said({"phrases": [{"id": name, "phrase": one} for name, one in phrases.items()]})


def run(user: User) -> Operation:
    portrait_phrases.request(user=user)
    Operation.objects.filter(kind=Kind.WORD_PORTRAIT).update(run_after=timezone.now())
    worker.drain()
    return Operation.objects.filter(kind=Kind.WORD_PORTRAIT).latest("pk")


def shown(user: User) -> list[str]:
    return [one.text for group in portrait_of(user) for one in group.phrases]


def edit(memory: Memory, text: str) -> None:
    prepared = curation.prepare_edit({"content": text}, memory=memory, actor=Origin.USER)
    with as_user(memory.user, changing=True):
        curation.edit(prepared, user=memory.user, memory=memory)


def test_the_model_words_a_memory_and_the_phrase_leads_to_it(
    nuts: Memory, server: ChatServer, alice_key: str
) -> None:
    server.answers = [worded(m1=PHRASE)]
    assert run(nuts.user).result == {"phrases": 1}
    page = text_of(signed_in(nuts.user).get(address("memory_home")))
    assert f'href="{address("memory_page", nuts.public_id)}" dir="auto">{PHRASE}</a>' in page
    assert "Open a phrase for your own words" in page
    (group,) = answer(Api(alice_key).get("/memory/portrait"))["groups"]
    (phrase,) = group["phrases"]
    assert (phrase["id"], phrase["phrase"], phrase["content"]) == (nuts.public_id, PHRASE, NUTS)
    call = ModelCall.objects.get()
    assert (call.step, call.prompt_version, call.outcome) == ("phrase", "phrase-1", "ok")


def test_a_chinese_memory_is_worded_in_chinese(alice: User, server: ChatServer) -> None:
    make_memory(alice, ZH_NUTS)
    server.answers = [worded(m1=ZH_PHRASE)]
    run(alice)
    assert shown(alice) == [ZH_PHRASE]
    assert "短语" in server.asked[0]["messages"][0]["content"]
    users.change_settings(user=alice, changes={"language": "zh-hans"})
    page = text_of(signed_in(alice).get(address("memory_home")))
    assert "点开即可看到你自己的原话" in page


def test_several_are_worded_by_one_question_and_are_not_asked_about_again(
    alice: User, server: ChatServer
) -> None:
    make_memory(alice, NUTS)
    make_memory(alice, ZH_NUTS, pinned=True)
    server.answers = [worded(m1=ZH_PHRASE, m2=PHRASE)]
    run(alice)
    assert shown(alice) == [ZH_PHRASE, PHRASE]
    run(alice)
    assert len(server.asked) == 1


def test_a_long_portrait_is_worded_batch_by_batch_and_goes_on_after_a_failure(
    alice: User, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portrait_phrases, "_AT_ONCE", 1)
    make_memory(alice, ZH_NUTS, pinned=True)
    make_memory(alice, NUTS)
    server.answers = [worded(m1=ZH_PHRASE), refused(500)]
    assert run(alice).status == Status.PENDING
    assert shown(alice) == [ZH_PHRASE, NUTS]
    server.answers = [worded(m1=PHRASE)]
    assert run(alice).status == Status.SUCCEEDED
    assert shown(alice) == [ZH_PHRASE, PHRASE]
    assert PortraitPhrase.objects.count() == 2


def test_a_worker_that_dies_leaves_a_whole_portrait(
    nuts: Memory, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **__: object) -> bool:
        raise Kill

    server.answers = [worded(m1=PHRASE)]
    monkeypatch.setattr(outbox, "succeed", die)
    with pytest.raises(Kill):
        run(nuts.user)
    revive(monkeypatch)
    assert run(nuts.user).attempt == 2
    assert shown(nuts.user) == [PHRASE]
    assert len(server.asked) == 1


def test_what_is_learned_is_worded_after_a_while_and_once(alice: User, server: ChatServer) -> None:
    server.answers = [worded(m1=PHRASE)]
    for number in range(3):
        prepared = direct_writes.prepare(MemoryInput(f"Fact {number}"), origin=Origin.API)
        with as_user(alice, changing=True):
            direct_writes.remember(prepared, user=alice, reference=str(number))
    waiting = Operation.objects.get(kind=Kind.WORD_PORTRAIT)
    assert waiting.run_after > timezone.now() + portrait_phrases.DELAY / 2
    worker.drain()
    signed_in(alice).get(address("memory_home"))
    assert not [one for one in server.asked if "phrases" in str(one["response_format"])]


def test_a_changed_memory_shows_its_own_words_at_once_and_is_worded_anew(
    nuts: Memory, server: ChatServer, pairs: FakePairs
) -> None:
    server.answers = [worded(m1=PHRASE)]
    run(nuts.user)
    edit(nuts, "I'm allergic to walnuts.")
    assert shown(nuts.user) == ["I'm allergic to walnuts."]
    pairs.says("I'm allergic to walnuts.", "Allergic to walnuts", "same")
    server.answers = [worded(m1="Allergic to walnuts")]
    run(nuts.user)
    assert shown(nuts.user) == ["Allergic to walnuts"]


def test_what_changes_while_the_model_thinks_keeps_its_own_words(
    nuts: Memory, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = portrait_phrases._store

    def late(memories: Sequence[Memory], phrases: Sequence[str], *, user: User) -> int:
        Memory.objects.filter(pk=nuts.pk).update(content="Eats anything")
        nuts.versions.update(content="Eats anything")
        return whole(memories, phrases, user=user)

    monkeypatch.setattr(portrait_phrases, "_store", late)
    server.answers = [worded(m1=PHRASE)]
    assert run(nuts.user).result == {"phrases": 0}
    assert not PortraitPhrase.objects.exists()


@pytest.mark.parametrize("way", ["forgotten", "its message", "everything"])
def test_a_forgotten_memory_takes_its_phrase_along(
    nuts: Memory, server: ChatServer, way: str, alice_key: str
) -> None:
    server.answers = [worded(m1=PHRASE)]
    run(nuts.user)
    message = Message.objects.get(content=NUTS)
    scope = {
        "forgotten": {"scope": "memory", "memory_id": nuts.public_id},
        "its message": {"scope": "message", "message_id": message.public_id},
        "everything": {"scope": "user"},
    }[way]
    answer(Api(alice_key).post("/memory/forget", {**scope, "user_id": "alice"}), 202)
    assert shown(nuts.user) == []
    worker.drain()
    assert not PortraitPhrase.objects.exists()
    assert Receipt.objects.get().scan["residue"] == 0


def test_a_phrase_of_another_memory_that_says_what_was_forgotten_goes_too(
    alice: User, server: ChatServer, pairs: FakePairs
) -> None:
    """Its own words stay, since another message told them."""
    own, phrase = "I live in the old town of Brno.", "Lives in the old town of Brno"
    pairs.says(own, phrase, "same")
    first = make_memory(alice, phrase, pinned=True)
    make_memory(alice, own, turns=[make_turn(make_conversation(alice), own)])
    server.answers = [worded(m1=phrase, m2=phrase)]
    run(alice)
    assert shown(alice) == [phrase, phrase]
    with as_user(alice, changing=True):
        memory_forgets.forget_memory(user=alice, memory=first)
    worker.drain()
    assert shown(alice) == [own]
    assert Receipt.objects.get().scan["residue"] == 0


@pytest.mark.parametrize("way", ["disabled", "expired", "in the bin"])
def test_what_is_not_in_use_leaves_at_once_and_comes_back_with_its_phrase(
    nuts: Memory, server: ChatServer, way: str
) -> None:
    server.answers = [worded(m1=PHRASE)]
    run(nuts.user)
    now = timezone.now()
    ways: dict[str, dict[str, Any]] = {
        "disabled": {"status": MemoryStatus.DISABLED},
        "expired": {"valid_until": now - timedelta(minutes=1)},
        "in the bin": {"deleted_at": now, "purge_at": now + timedelta(days=7)},
    }
    out = ways[way]
    back: dict[str, Any] = {**dict.fromkeys(out), "status": MemoryStatus.ACTIVE}
    Memory.everything.filter(pk=nuts.pk).update(**out)
    assert shown(nuts.user) == []
    Memory.everything.filter(pk=nuts.pk).update(**back)
    assert shown(nuts.user) == [PHRASE]


HOSTILE = {
    "an unknown id": [{"id": "m2", "phrase": PHRASE}],
    "one id twice": [{"id": "m1", "phrase": PHRASE}, {"id": "m1", "phrase": PHRASE}],
    "markup": [{"id": "m1", "phrase": "<b>Allergic</b> to peanuts"}],
    "a link": [{"id": "m1", "phrase": "[Allergic to peanuts](https://example.com)"}],
    "a new fact": [{"id": "m1", "phrase": "Allergic to peanuts and milk"}],
    "a figure": [{"id": "m1", "phrase": "Allergic to 3 peanuts"}],
    "a denial": [{"id": "m1", "phrase": "Not allergic to peanuts"}],
    "another language": [{"id": "m1", "phrase": ZH_PHRASE}],
    "a secret": [{"id": "m1", "phrase": "Allergic, password hunter2x99"}],
    "too long": [{"id": "m1", "phrase": f"{PHRASE} " * 10}],
    "nothing": [{"id": "m1", "phrase": ""}],
    "no list": [],
}


@pytest.mark.parametrize("way", HOSTILE)
def test_a_phrase_that_fails_a_check_is_dropped(
    nuts: Memory, server: ChatServer, pairs: FakePairs, way: str
) -> None:
    given = HOSTILE[way]
    for one in given:
        pairs.says(NUTS, one["phrase"], "same")
    server.answers = [said({"phrases": given})]
    assert run(nuts.user).result == {"phrases": 0}
    assert shown(nuts.user) == [NUTS]
    assert ModelCall.objects.get().dropped == len(given)
    run(nuts.user)
    assert len(server.asked) == 1  # asking again would bring the same


@pytest.mark.parametrize(
    ("own", "phrase"),
    [
        ("My sister is allergic to peanuts", "Allergic to peanuts"),
        (
            "I used to live in Leeds with two cats",
            "Lives in Leeds with two cats",
        ),
        ("I want to learn Spanish in Madrid next summer", "Learns Spanish in Madrid next summer"),
        ("Perhaps I move to a flat in Vienna", "Moves to a flat in Vienna"),
        ("我妹妹对花生过敏", "对花生过敏"),
        ("我以前住在杭州西湖区", "住在杭州西湖区"),
        ("我打算明年去北京工作", "明年去北京工作"),
        ("我只在周末喝咖啡", "在周末喝咖啡"),
    ],
)
def test_whose_it_is_and_how_it_holds_is_never_lost(
    alice: User, server: ChatServer, pairs: FakePairs, own: str, phrase: str
) -> None:
    make_memory(alice, own)
    pairs.says(own, phrase, "same")
    server.answers = [worded(m1=phrase)]
    run(alice)
    assert shown(alice) == [own]


def test_what_the_pair_head_reads_as_something_else_is_dropped(
    nuts: Memory, server: ChatServer, pairs: FakePairs
) -> None:
    pairs.says(NUTS, PHRASE, "contradicts")
    server.answers = [worded(m1=PHRASE)]
    run(nuts.user)
    assert shown(nuts.user) == [NUTS]


def test_a_phrase_is_shown_as_text(alice: User, server: ChatServer) -> None:
    own = "Writes <script>alert(1)</script> in emails"
    make_memory(alice, own)
    server.answers = [worded(m1=own)]
    run(alice)
    page = text_of(signed_in(alice).get(address("memory_home")))
    assert "<script>alert(1)" not in page and "&lt;script&gt;alert(1)" in page


def test_a_secret_is_never_sent(alice: User, server: ChatServer) -> None:
    make_memory(alice, "The wifi password is hunter2x99, the router stands in the hall")
    server.answers = [worded(m1=PHRASE)]
    run(alice)
    assert server.asked and "hunter2x99" not in json.dumps(server.asked)


@pytest.mark.parametrize("failure", [refused(500), said("I'd rather not."), said('{"phrases": 7}')])
def test_a_model_that_fails_leaves_the_own_words_and_is_asked_again(
    nuts: Memory, server: ChatServer, failure: Answer
) -> None:
    server.answers = [failure]
    assert run(nuts.user).status == Status.PENDING
    assert shown(nuts.user) == [NUTS]
    server.answers = [worded(m1=PHRASE)]
    assert run(nuts.user).status == Status.SUCCEEDED
    assert shown(nuts.user) == [PHRASE]


def test_too_much_for_the_model_is_asked_in_halves(alice: User, server: ChatServer) -> None:
    make_memory(alice, ZH_NUTS, pinned=True)
    make_memory(alice, NUTS)
    full = refused(400, code="context_length_exceeded")
    server.answers = [full, full, worded(m1=PHRASE)]
    run(alice)
    assert shown(alice) == [ZH_NUTS, PHRASE]


def test_a_page_of_text_and_what_is_about_a_project_are_not_sent(
    alice: User, server: ChatServer
) -> None:
    make_memory(alice, "word " * 200)
    make_memory(alice, NUTS, project=find_or_create(user=alice, key="atlas"))
    server.answers = [worded(m1=PHRASE)]
    run(alice)
    assert server.asked == []


def test_while_memory_is_off_nothing_is_sent_or_shown(
    nuts: Memory, server: ChatServer, alice_key: str
) -> None:
    server.answers = [worded(m1=PHRASE)]
    users.change_settings(user=nuts.user, changes={"longterm_enabled": False})
    run(nuts.user)
    assert server.asked == [] and not PortraitPhrase.objects.exists()
    assert answer(Api(alice_key).get("/memory/portrait")) == {"groups": []}


def test_memory_switched_off_while_the_model_thinks_stores_nothing(
    nuts: Memory, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers = [worded(m1=PHRASE)]
    read = portrait_phrases._unworded

    def then_off(user: User) -> list[Memory]:
        found = read(user)
        users.change_settings(user=user, changes={"longterm_enabled": False})
        return found

    monkeypatch.setattr(portrait_phrases, "_unworded", then_off)
    run(nuts.user)
    assert server.asked and not PortraitPhrase.objects.exists()


def test_without_a_model_nothing_is_enqueued(alice: User) -> None:
    prepared = direct_writes.prepare(MemoryInput(NUTS), origin=Origin.USER)
    with as_user(alice, changing=True):
        direct_writes.remember(prepared, user=alice, reference="r")
    assert not Operation.objects.filter(kind=Kind.WORD_PORTRAIT).exists()
    worker.drain()
    assert shown(alice) == [NUTS]


def test_an_export_has_the_phrases(nuts: Memory, server: ChatServer) -> None:
    server.answers = [worded(m1=PHRASE)]
    run(nuts.user)
    data = data_of(export(nuts.user))["data"]
    assert [one["text"] for one in data["portraitphrase"]] == [PHRASE]
