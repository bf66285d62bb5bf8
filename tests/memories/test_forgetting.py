from collections.abc import Callable
from dataclasses import replace

import pytest
from django.utils import timezone

from foundation.errors import Invalid, NotFound
from memories.forgetting import memory_forgets, rederivation, tombstones
from memories.forgetting.tombstones import Provenance
from memories.indexing import search_index
from memories.learning import learnability
from memories.models import (
    Arbitration,
    Change,
    DailyNote,
    FileVersion,
    LexicalEntry,
    Memory,
    MemoryFile,
    MemoryStatus,
    MemoryVersion,
    Origin,
    Project,
    RecallHit,
    RecallTrace,
    Relation,
    RelationKind,
    Source,
    TargetKind,
    Tombstone,
    Vector,
)
from ops.access import as_user
from ops.models import (
    ApiKey,
    Export,
    IdempotencyRecord,
    Kind,
    Operation,
    Priority,
    Receipt,
    Status,
    User,
)
from ops.queue import outbox, worker
from tests.conftest import key_row
from tests.factories import make_conversation, make_memory, make_trace, make_turn, make_version
from tests.killing import Kill, kill_at, revive
from tests.rows import rows_of

pytestmark = pytest.mark.django_db

TEA = "Alice drinks green tea every morning before work"


@pytest.fixture
def tea(alice: User) -> Memory:
    return make_memory(alice, TEA)


def forget(memory: Memory) -> Operation:
    with as_user(memory.user):
        return memory_forgets.forget_memory(user=memory.user, memory=memory)


def drained(operation: Operation) -> Operation:
    worker.drain()
    operation.refresh_from_db()
    return operation


def test_a_forgotten_memory_is_hidden_at_once(tea: Memory) -> None:
    operation = forget(tea)
    assert not Memory.objects.exists() and not Memory.visible.exists()
    assert not MemoryVersion.objects.exists() and not Source.objects.exists()
    assert (operation.status, operation.priority) == (Status.PENDING, Priority.FORGET)
    assert operation.serial_key == str(tea.user.subject)


def test_the_operation_holds_ids_only(tea: Memory) -> None:
    named = {"memories": [tea.public_id]}
    counts = {"message": 0, "episode": 0, "summary": 0}
    kept = {"still_said": 0, "still_saying": [], "still_in": counts}
    assert forget(tea).payload == {"memories": [tea.pk], "ledger": named, **kept}


def test_a_forgotten_memory_is_erased_with_all_that_was_made_of_it(
    alice: User, tea: Memory
) -> None:
    other = make_memory(alice, "Works as a teacher in Lyon")
    Relation.objects.create(user=alice, memory=tea, other=other, kind=RelationKind.SUPPORTS)
    Arbitration.objects.create(
        user=alice,
        memory=other,
        target=tea,
        verdict="KEEP_BOTH",
        candidate_text="Works",
        target_text=TEA,
        decided_by="rule",
    )
    make_trace(alice, "what does she drink?", hits=[tea.public_id, other.public_id])
    make_trace(alice, TEA.upper() + "?")
    operation = drained(forget(tea))
    assert operation.status == Status.SUCCEEDED
    assert [one.pk for one in Memory.everything.all()] == [other.pk]
    assert not MemoryVersion.everything.filter(memory=tea).exists()
    assert not Relation.objects.exists() and not Arbitration.objects.exists()
    left = {"target_kind": TargetKind.MEMORY, "target_id": tea.pk}
    assert not Vector.objects.filter(**left).exists()
    assert not LexicalEntry.objects.filter(**left).exists()
    assert [hit.target_public_id for hit in RecallHit.objects.all()] == [other.public_id]
    # What was asked may tell what was known.
    assert {trace.query for trace in RecallTrace.objects.all()} == {""}


@pytest.mark.parametrize(
    ("known", "asked", "other"),
    [(TEA, "Which tea?", "Where is the train?"), ("Alice对花生过敏", "花生呢?", "火车几点开?")],
)
def test_a_question_that_found_nothing_yet_goes_with_what_it_asked_about(
    alice: User, known: str, asked: str, other: str
) -> None:
    about, elsewhere = make_trace(alice, asked), make_trace(alice, other)
    drained(forget(make_memory(alice, known)))
    left = dict(RecallTrace.objects.values_list("pk", "query"))
    assert left == {about.pk: "", elsewhere.pk: other}


def test_the_messages_of_a_forgotten_memory_stay(alice: User) -> None:
    turn = make_turn(make_conversation(alice), TEA)
    operation = drained(forget(make_memory(alice, TEA, turns=[turn])))
    turn.user_message.refresh_from_db()
    assert turn.user_message.content == TEA and turn.user_message.hidden_at is None
    assert Receipt.objects.get(operation=operation).kept == ["messages"]


def test_fragments_of_a_long_memory_go_with_it(alice: User) -> None:
    memory = make_memory(alice, "tea " * 700)
    vectors, pieces = search_index.embed_memory(memory.content)
    search_index.store_memory(memory=memory, vectors=vectors, pieces=pieces)
    assert Vector.objects.filter(target_kind=TargetKind.FRAGMENT).exists()
    drained(forget(memory))
    assert not Vector.objects.exists() and not LexicalEntry.objects.exists()


def test_lines_of_files_and_notes_that_say_it_go(alice: User, tea: Memory) -> None:
    line = f"- {TEA} <!-- {tea.public_id} -->\n"
    kept = "## fact\n- Plays chess <!-- mem_other -->\n"
    file = MemoryFile.objects.create(user=alice, path="MEMORY.md", content=kept + line)
    FileVersion.objects.create(user=alice, file=file, number=1, content=line + kept, actor="user")
    today = timezone.now()
    for number, text in enumerate((TEA, "Bought new shoes for the marathon"), start=1):
        DailyNote.objects.create(
            user=alice, day=today.date(), number=number, text=text, created_at=today
        )
    operation = forget(tea)
    assert MemoryFile.objects.get().content == kept
    assert DailyNote.objects.count() == 1
    drained(operation)
    assert FileVersion.objects.get().content == kept
    assert DailyNote.everything.get().text.startswith("Bought")


def test_exports_and_stored_answers_are_shut_at_once(
    alice: User, tea: Memory, alice_key: str
) -> None:
    made = outbox.enqueue(Kind.EXPORT_USER, subject=alice.subject, payload={})
    Operation.objects.filter(pk=made.pk).update(status=Status.SUCCEEDED)
    Export.objects.create(user=alice, operation=made, format="json", path="exports/none.json")
    IdempotencyRecord.objects.create(
        user=alice,
        api_key=key_row(alice_key),
        key="k",
        fingerprint="f",
        body={"content": TEA},
        expires_at=timezone.now(),
    )
    operation = forget(tea)
    record = IdempotencyRecord.objects.get()
    assert (record.body, record.body_erased) == (None, True)
    assert Export.objects.get().hidden_at is not None
    drained(operation)
    assert not Export.objects.exists()


def test_work_that_waits_for_it_is_withdrawn(alice: User, tea: Memory) -> None:
    waiting = outbox.enqueue(Kind.INDEX_MEMORY, subject=alice.subject, payload={"memory": tea.pk})
    other = outbox.enqueue(Kind.INDEX_MEMORY, subject=alice.subject, payload={"memory": tea.pk + 1})
    forget(tea)
    waiting.refresh_from_db()
    other.refresh_from_db()
    assert (waiting.status, other.status) == (Status.CANCELLED, Status.PENDING)


def test_the_same_statement_is_not_learned_again_from_the_same_messages(alice: User) -> None:
    turn = make_turn(make_conversation(alice), TEA)
    drained(forget(make_memory(alice, TEA, turns=[turn])))
    same = learnability.provenance_of_message(turn.user_message)
    assert is_forgotten(alice, TEA + "!", same)
    assert not is_forgotten(alice, "Owns a bicycle", same)
    assert not is_forgotten(
        alice, TEA, replace(same, message_ids=("msg_later",), at=timezone.now())
    )


def is_forgotten(user: User, text: str, provenance: Provenance) -> bool:
    return tombstones.is_forgotten(user=user, text=text, quote="", provenance=provenance)


def test_a_question_does_not_bring_back_what_was_forgotten(alice: User) -> None:
    drained(forget(make_memory(alice, "我甲状腺有个结节")))

    def returns(text: str, said: str) -> bool:
        later = learnability.provenance_of_text(said, at=timezone.now())
        return not is_forgotten(alice, text, later)

    assert not returns("我甲状腺结节", "我甲状腺结节怎么样了")
    assert not returns("[我]甲状腺", "我甲状腺咋样了")
    assert returns("我甲状腺结节", "我甲状腺结节没了")
    assert returns("我膝盖", "我膝盖咋样了")


def test_a_tombstone_holds_no_text(alice: User, tea: Memory) -> None:
    drained(forget(tea))
    for row in Tombstone.objects.values():
        assert not any("tea" in str(value) for value in row.values())
        assert row["text_hash"] != row["about_hash"]
    assert Tombstone.objects.filter(memory_public_id=tea.public_id).exists()


def test_asking_twice_gives_the_operation_that_waits(tea: Memory) -> None:
    assert forget(tea) == forget(tea)
    assert Operation.objects.filter(kind=Kind.FORGET_MEMORY).count() == 1


def test_asking_again_after_it_failed_tries_again(tea: Memory) -> None:
    operation = forget(tea)
    Operation.objects.filter(pk=operation.pk).update(status=Status.FAILED)
    assert forget(tea).status == Status.PENDING
    assert drained(operation).status == Status.SUCCEEDED


def test_asking_again_when_it_is_gone_is_not_found(tea: Memory) -> None:
    drained(forget(tea))
    with pytest.raises(NotFound):
        forget(tea)


def test_a_stranger_can_not_forget_it(tea: Memory, mallory: User) -> None:
    with pytest.raises(NotFound), as_user(mallory):
        memory_forgets.forget_memory(user=mallory, memory=tea)
    tea.refresh_from_db()
    assert tea.hidden_at is None


def test_naming_none_never_means_all(alice: User, tea: Memory) -> None:
    with pytest.raises(Invalid), as_user(alice):
        memory_forgets.forget_memories(user=alice, memories=[])
    assert Memory.objects.count() == 1


def test_several_go_in_one_operation(alice: User, tea: Memory) -> None:
    other = make_memory(alice, "Works as a teacher in Lyon")
    kept = make_memory(alice, "Plays chess")
    with as_user(alice):
        operation = memory_forgets.forget_memories(user=alice, memories=[tea, other])
    drained(operation)
    assert Memory.everything.get() == kept


def test_a_bystander_keeps_every_row(alice: User, mallory: User, tea: Memory) -> None:
    turn = make_turn(make_conversation(mallory), TEA)
    memory = make_memory(mallory, TEA, turns=[turn])
    make_trace(mallory, TEA, hits=[memory.public_id])
    before = rows_of(mallory)
    drained(forget(tea))
    assert rows_of(mallory) == before


def test_running_the_handler_again_changes_nothing(alice: User, tea: Memory) -> None:
    make_memory(alice, "Plays chess")
    operation = drained(forget(tea))
    before, receipt = rows_of(alice), Receipt.objects.values().get()
    Operation.objects.filter(pk=operation.pk).update(status=Status.PENDING, finished_at=None)
    assert drained(operation).status == Status.SUCCEEDED
    assert (rows_of(alice), Receipt.objects.values().get()) == (before, receipt)


@pytest.mark.parametrize("step", ["memories", "exports", "receipt"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_it_survives_being_killed_at_any_step(
    alice: User,
    mallory: User,
    tea: Memory,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    moment: str,
) -> None:
    make_memory(mallory, TEA)
    before, operation = rows_of(mallory), forget(tea)
    with pytest.raises(Kill):
        kill_at(monkeypatch, step=step, moment=moment)
    revive(monkeypatch)
    assert drained(operation).status == Status.SUCCEEDED
    assert not Memory.everything.filter(user=alice).exists()
    assert Receipt.objects.get().erased["database"]["memories_memory"] == 1
    assert rows_of(mallory) == before


def test_what_was_consolidated_from_it_is_hidden_and_derived_again(alice: User) -> None:
    runs = [make_memory(alice, text) for text in ("Runs by the river", "Runs up the hill")]
    whole = make_memory(alice, "Runs by the river and up the hill", origin=Origin.EXTRACTED)
    make_version(
        whole,
        "Runs by the river and up the hill",
        change=Change.CONSOLIDATED,
        inputs=[one.versions.get() for one in runs],
    )
    operation = forget(runs[0])
    assert not Memory.objects.filter(pk=whole.pk).exists()
    drained(operation)
    whole.refresh_from_db()
    assert whole.content == "Runs up the hill"
    assert whole.hidden_at is None


def test_originals_go_with_what_they_were_consolidated_to(alice: User) -> None:
    kept = make_memory(alice, "Plays chess")
    archived = make_memory(alice, "Runs by the river", status=MemoryStatus.ARCHIVED)
    whole = make_memory(alice, "Runs a lot")
    make_version(whole, "Runs a lot", change=Change.CONSOLIDATED, inputs=[archived.versions.get()])
    drained(forget(whole))
    assert Memory.everything.get() == kept


def test_a_memory_in_the_recycle_bin_can_be_forgotten(alice: User) -> None:
    now = timezone.now()
    memory = make_memory(alice, TEA, deleted_at=now, purge_at=now)
    drained(forget(memory))
    assert not Memory.everything.exists()


def test_many_are_erased_in_rounds(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    derive: Callable[..., rederivation.DerivationResult] = rederivation.derive
    monkeypatch.setattr(rederivation, "derive", lambda **given: derive(**given, limit=2))
    memories = [make_memory(alice, f"Visited city number {n} in 2019") for n in range(5)]
    with as_user(alice):
        operation = memory_forgets.forget_memories(user=alice, memories=memories)
    assert drained(operation).status == Status.SUCCEEDED
    assert not Memory.everything.exists()
    assert Receipt.objects.get().erased["database"]["memories_memory"] == 5


@pytest.fixture
def project(alice: User) -> Project:
    project = Project.objects.create(user=alice, key="apollo")
    make_memory(alice, "Apollo ships in May", project=project)
    make_memory(alice, "Apollo needs a database", project=project, status=MemoryStatus.ARCHIVED)
    return project


def forget_project(project: Project) -> Operation:
    with as_user(project.user):
        return memory_forgets.forget_project(user=project.user, project=project)


def test_a_project_is_hidden_at_once_and_erased_with_its_memories(
    alice: User, mallory: User, project: Project
) -> None:
    kept = make_memory(alice, TEA)
    make_memory(mallory, "Apollo", project=Project.objects.create(user=mallory, key="apollo"))
    before, operation = rows_of(mallory), forget_project(project)
    assert [one.pk for one in Memory.objects.filter(user=alice)] == [kept.pk]
    assert not Project.objects.filter(user=alice).exists()
    assert drained(operation).status == Status.SUCCEEDED
    assert Memory.everything.get(user=alice) == kept
    assert not Project.everything.filter(user=alice).exists()
    assert rows_of(mallory) == before


def test_a_project_of_the_same_key_can_begin_anew(alice: User, project: Project) -> None:
    named = {"user": alice, "key": "apollo", "name": "The moon programme of the firm"}
    Project.objects.filter(pk=project.pk).update(name=named["name"], path="/home/alice/work/apollo")
    row = make_conversation(alice)
    before = make_turn(row, "We launch from the sea.", "Nice.", project_key="apollo")
    operation = forget_project(project)
    again = Project.objects.create(**named, path="/home/alice/work/apollo")
    since = make_turn(row, "We launch from a ship.", "Nice.", project_key="apollo")
    assert drained(operation).status == Status.SUCCEEDED
    assert Project.everything.get() == again
    before.refresh_from_db()
    since.refresh_from_db()
    assert (before.project_key, since.project_key) == ("", "apollo")


def test_a_project_is_asked_about_once(project: Project) -> None:
    operation = forget_project(project)
    assert forget_project(project) == operation
    drained(operation)
    with pytest.raises(NotFound):
        forget_project(project)


@pytest.mark.parametrize("step", ["memories", "exports", "project", "receipt"])
def test_forgetting_a_project_survives_being_killed(
    alice: User, project: Project, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    operation = forget_project(project)
    with pytest.raises(Kill):
        kill_at(monkeypatch, step=step, moment="after")
    revive(monkeypatch)
    assert drained(operation).status == Status.SUCCEEDED
    assert not Project.everything.exists() and not Memory.everything.exists()


def test_the_key_that_asked_is_kept_with_the_operation(tea: Memory, alice_key: str) -> None:
    key: ApiKey = key_row(alice_key)
    with as_user(tea.user):
        operation = memory_forgets.forget_memory(user=tea.user, memory=tea, requested_by_key=key.pk)
    assert operation.requested_by_key == key.pk


def test_no_title_names_it_any_more_also_where_another_message_says_it(
    alice: User, tea: Memory
) -> None:
    said = "Every morning before work I, Alice, drink green tea."
    talks = [
        make_conversation(alice, title=title)
        for title in (said, "Green tea", "Tea before work, my own name for it", "My boat")
    ]
    for talk in talks:
        make_turn(talk, said)
    make_turn(talks[3], "My boat leaks.")
    with as_user(alice):
        memory_forgets.forget_memory(user=alice, memory=tea)
    for talk in talks:
        talk.refresh_from_db()
    assert [talk.title for talk in talks] == [
        "",
        "",
        "Tea before work, my own name for it",
        "My boat",
    ]
