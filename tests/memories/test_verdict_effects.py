"""Every way of applying a verdict has the same guards and leaves the same traces."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.models import Conversation
from conversations.recording import turns
from conversations.recording.turns import MessageInput
from memories import language_steps
from memories.extraction.types import Decision, Extraction, KnownMemory, Verdict
from memories.forgetting import memory_forgets
from memories.indexing import search_index
from memories.learning import turn_learning
from memories.models import Arbitration, Memory, MemoryStatus, MemoryVersion, Origin
from memories.writing import model_revision, verdict_effects, verdict_writes
from memories.writing.memory_writes import Draft, SourceInput
from memories.writing.model_revision import RevisionInput
from memories.writing.verdict_writes import Arbitrated
from ops import webhooks
from ops.access import as_user
from ops.accounts import users
from ops.models import AuditEvent, Delivery, User
from ops.queue import worker
from ops.queue.run import Run
from ops.queue.webhook_events import Event
from tests.chat_server import ChatServer, said
from tests.factories import make_memory
from tests.memories.test_ingest import Scripted, candidate, say
from tests.memories.test_ingest import extractor as extractor
from tests.memories.test_revising import both as both

pytestmark = pytest.mark.django_db

OLD, NEW = "Lives in Leeds", "Lives in York"


def met(memory: Memory) -> KnownMemory:
    return KnownMemory(memory.public_id, memory.kind, memory.content, 0.9, origin=memory.origin)


def applied(
    target: Memory,
    verdict: Verdict,
    *,
    origin: Origin,
    known: KnownMemory | None = None,
    **found: Any,
) -> Memory:
    """The outcome of a verdict on the new text, which was compared with the memory."""
    decision = Decision(verdict, target.public_id)
    heard = candidate(NEW, NEW, kind="fact", **found)
    arbitrated = Arbitrated(heard, [known or met(target)], decision, "test")
    draft = Draft(NEW, "fact", None, origin=origin)
    with as_user(target.user):
        source = SourceInput(origin=origin)
        return verdict_writes.apply(arbitrated, draft, user=target.user, source=source).memory


@pytest.mark.parametrize("origin", [Origin.EXTRACTED, Origin.AGENT])
@pytest.mark.parametrize("fields", [{"pinned": True}, {"origin": Origin.USER}])
def test_no_text_that_was_only_heard_overwrites_a_protected_memory(
    alice: User, origin: Origin, fields: dict[str, Any]
) -> None:
    old = make_memory(alice, OLD, **fields)
    waiting = applied(old, Verdict.REPLACE, origin=origin)
    old.refresh_from_db()
    assert (old.content, waiting.conflicts_with) == (OLD, old)
    assert waiting.status == MemoryStatus.CANDIDATE


@pytest.mark.parametrize("origin", [Origin.EXTRACTED, Origin.API, Origin.USER])
def test_a_text_that_somebody_asked_to_keep_overwrites_a_protected_memory(
    alice: User, origin: Origin
) -> None:
    old = make_memory(alice, OLD, pinned=True, origin=Origin.USER)
    assert applied(old, Verdict.REPLACE, origin=origin, explicit=True) == old
    assert Memory.objects.get().content == NEW


@pytest.mark.parametrize("verdict", [Verdict.REPLACE, Verdict.MERGE])
@pytest.mark.parametrize(
    "status", [MemoryStatus.DISABLED, MemoryStatus.SUPERSEDED, MemoryStatus.ARCHIVED]
)
def test_no_text_is_lost_in_a_memory_that_was_put_out_of_use_meanwhile(
    alice: User, verdict: Verdict, status: MemoryStatus
) -> None:
    old = make_memory(alice, OLD)
    known = met(old)
    Memory.objects.filter(pk=old.pk).update(status=status)
    new = applied(old, verdict, origin=Origin.EXTRACTED, known=known)
    old.refresh_from_db()
    assert (old.content, old.status) == (OLD, status)
    assert (new.content, new.status) == (NEW, MemoryStatus.ACTIVE)


def test_a_disabled_memory_is_not_learned_anew_when_it_is_repeated(alice: User) -> None:
    old = make_memory(alice, NEW)
    known = met(old)
    Memory.objects.filter(pk=old.pk).update(status=MemoryStatus.DISABLED)
    assert applied(old, Verdict.SKIP, origin=Origin.EXTRACTED, known=known) == old
    assert Memory.objects.get().status == MemoryStatus.DISABLED


def test_a_memory_that_was_folded_into_another_passes_its_contradictions_on(alice: User) -> None:
    first, second = make_memory(alice, "Loves hiking"), make_memory(alice, "Enjoys hiking")
    waiting = make_memory(
        alice, "Hates hiking", status=MemoryStatus.CANDIDATE, conflicts_with=second
    )
    with as_user(alice):
        verdict_effects.fold([second], into=first)
    waiting.refresh_from_db()
    second.refresh_from_db()
    assert waiting.conflicts_with == first
    assert (second.status, second.superseded_by, second.archived_at) == ("archived", first, None)
    assert AuditEvent.objects.get(action="memory.archived").target == second.public_id


def test_what_is_forgotten_while_a_model_is_asked_is_not_learned(
    conversation: Conversation, extractor: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    extractor.candidates = [candidate(OLD, "I live in Leeds")]
    known = make_memory(conversation.user, OLD)
    arbitrate = verdict_writes.arbitrate

    def while_it_is_forgotten(*args: Any, **given: Any) -> Arbitrated:
        decided = arbitrate(*args, **given)
        with as_user(conversation.user, changing=True):
            memory_forgets.forget_memory(user=conversation.user, memory=known)
        return decided

    monkeypatch.setattr(language_steps, "are_steps_local", lambda: False)
    monkeypatch.setattr(verdict_writes, "arbitrate", while_it_is_forgotten)
    say(conversation, "I live in Leeds.")
    worker.drain()
    assert not Memory.everything.exists()


def turned_off(alice: User, _second: Memory) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})


def pinned(_alice: User, second: Memory) -> None:
    Memory.objects.filter(pk=second.pk).update(pinned=True)


@pytest.mark.parametrize("meanwhile", [turned_off, pinned])
@pytest.mark.parametrize("verdict", ["REPLACE", "REVIEW"])
def test_nothing_is_revised_that_the_person_has_settled_meanwhile(
    alice: User,
    both: tuple[Memory, Memory],
    server: ChatServer,
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: Any,
    verdict: str,
) -> None:
    first, second = both
    revise = model_revision.revise

    def later(run: Run, user: User, written: RevisionInput, decision: Decision) -> bool:
        if written.memory == second:
            meanwhile(alice, second)
        return revise(run, user, written, decision)

    monkeypatch.setattr(model_revision, "revise", later)
    server.answers = [said({"verdict": verdict, "id": "m1"})]
    worker.drain()
    first.refresh_from_db()
    second.refresh_from_db()
    assert first.current_version == 1
    assert (first.status, second.status) == (MemoryStatus.ACTIVE, MemoryStatus.ACTIVE)


def test_a_revision_asks_before_it_overwrites_a_pinned_memory(
    both: tuple[Memory, Memory], server: ChatServer
) -> None:
    first, second = both
    Memory.objects.filter(pk=first.pk).update(pinned=True)
    server.answers = [said({"verdict": "REPLACE", "id": "m1"})]
    worker.drain()
    second.refresh_from_db()
    assert MemoryVersion.objects.filter(memory=first).count() == 1
    assert (second.status, second.conflicts_with) == (MemoryStatus.CANDIDATE, first)
    assert AuditEvent.objects.get(action="memory.contested").target == second.public_id


def test_a_revision_that_asks_announces_the_memory_once(
    alice: User, both: tuple[Memory, Memory], server: ChatServer, settings: Any
) -> None:
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    told = [Event.MEMORY_UPDATED.value]
    webhooks.create(user=alice, url="http://127.0.0.1:1/", events=told, secret="s3cret")
    server.answers = [said({"verdict": "REVIEW", "id": "m1"})]
    worker.drain()
    deliveries = [one.body["memory_id"] for one in Delivery.objects.all()]
    assert deliveries == [both[1].public_id]


def test_a_proposed_replacement_is_logged_and_related(alice: User) -> None:
    old = make_memory(alice, OLD)
    draft, source = Draft(NEW, "fact", None, origin=Origin.FILE), SourceInput(origin=Origin.FILE)
    near = search_index.embed([NEW])[0]
    with as_user(alice):
        new = verdict_writes.propose_replacement(draft, near, user=alice, of=old, source=source)
    logged = Arbitration.objects.get(memory=new)
    assert (logged.verdict, logged.target, logged.target_text) == ("REVIEW", old, OLD)
    assert logged.similarity is not None and 0 < logged.similarity < 1
    link = new.relations.get()
    assert (link.other, link.kind) == (old, "contradicts") and link.strength >= 0.7


def test_no_skill_is_learned_from_a_message_that_is_not_to_be_kept(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("Paris", "Rome"):
        found = Extraction(not_to_keep=place == "Rome")
        monkeypatch.setattr(turn_learning, "extract_from", lambda _loaded, found=found: found)
        turns.record_turn(
            user=conversation.user,
            conversation=conversation,
            user_message=MessageInput(f"Book me a flight to {place}."),
            assistant_message=MessageInput("Done."),
            tools=[{"name": "book_flight", "input": {}, "output": "fine", "ok": True}],
        )
        worker.drain()
    assert not Memory.objects.exists()
