import pytest

from conversations.forgetting import message_forgets as said
from foundation.errors import Conflict, Invalid
from memories import review
from memories.forgetting import memory_forgets
from memories.models import (
    Arbitration,
    Memory,
    MemoryStatus,
    MemoryVersion,
    Origin,
    Relation,
    Source,
    Tombstone,
)
from memories.review import ReviewInput
from memories.writing import curation, direct_writes
from memories.writing.direct_writes import MemoryInput, WriteResult
from ops.access import as_user
from ops.accounts import users
from ops.models import Receipt, User
from ops.queue import worker
from tests.factories import make_conversation, make_memory, make_turn
from tests.memories.extraction.readings import statement
from tests.memories.plain_reader import PlainReader
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db


def remember(
    user: User, content: str, origin: Origin = Origin.API, **fields: object
) -> WriteResult:
    given = MemoryInput(content, **fields)  # type: ignore[arg-type]
    return direct_writes.remember(direct_writes.prepare(given, origin=origin), user=user)


def change(user: User, memory: Memory, **changes: object) -> Memory:
    prepared = curation.prepare_edit(changes, memory=memory, actor=Origin.USER)
    return curation.edit(prepared, user=user, memory=memory)


def test_writing_creates_then_skips_then_updates(alice: User, pairs: FakePairs) -> None:
    pairs.says("Lives in Leeds", "Now lives in Hangzhou", "newer")
    first = remember(alice, "Lives in Leeds", kind="fact")
    assert (first.result, first.memory.origin) == ("created", Origin.API)
    again = remember(alice, "lives in  leeds", kind="fact")
    assert (again.result, again.memory) == ("skipped", first.memory)
    newer = remember(alice, "Now lives in Hangzhou", kind="fact", origin=Origin.USER)
    assert (newer.result, newer.memory) == ("updated", first.memory)
    assert Memory.objects.count() == 1
    assert MemoryVersion.objects.count() == 2


@pytest.mark.parametrize("origin", [Origin.API, Origin.USER])
def test_what_was_forgotten_may_be_written_anew(alice: User, origin: Origin) -> None:
    first = remember(alice, "Lives in Leeds").memory
    memory_forgets.forget_memory(user=alice, memory=first)
    worker.drain()
    assert Tombstone.objects.filter(user=alice).exists()

    again = remember(alice, "Lives in Leeds", origin=origin)

    assert again.result == "created"
    assert again.memory.public_id != first.public_id


def test_the_nearest_memory_meets_a_statement_however_far_it_is(alice: User) -> None:
    first = remember(alice, "怀孕了").memory

    remember(alice, "Prefers window seats")

    assert Arbitration.objects.filter(decided_by="bundled", memory__isnull=False).exists()
    assert Memory.objects.get(pk=first.pk).content == "怀孕了"


def test_every_verdict_is_logged_with_its_reasons(alice: User) -> None:
    remember(alice, "Lives in Leeds")
    remember(alice, "Lives in Leeds")
    logged = Arbitration.objects.order_by("pk")
    assert [one.verdict for one in logged] == ["ADD", "SKIP"]
    assert logged[1].reasons == ["same_text"]
    assert logged[1].target_text == "Lives in Leeds"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"content": " "}, "content"),
        ({"content": "x" * 8001}, "content"),
        ({"content": "tea", "importance": 1.5}, "importance"),
        ({"content": "tea", "confidence": -1}, "confidence"),
        ({"content": "tea", "tags": ["x" * 51]}, "tags"),
        ({"content": "tea", "kind": "nonsense"}, "kind"),
        ({"content": "tea", "data": {"a": "x" * 20_000}}, "data"),
    ],
)
def test_wrong_input_names_the_field_and_writes_nothing(
    alice: User, fields: dict[str, object], named: str
) -> None:
    with pytest.raises(Invalid) as caught:
        direct_writes.prepare(MemoryInput(**fields), origin=Origin.API)  # type: ignore[arg-type]
    assert list(caught.value.fields) == [named]
    assert not Memory.objects.exists()


def test_the_reference_documents_words_for_kinds_are_understood(alice: User) -> None:
    assert remember(alice, "Likes tea", kind="PROFILE").memory.kind == "preference"


def test_nothing_is_written_while_memory_is_off(alice: User) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    with pytest.raises(Conflict) as caught:
        remember(alice, "Likes tea")
    assert caught.value.code == "memory_off"


def test_programs_wait_for_confirmation_and_the_person_does_not(alice: User) -> None:
    users.change_settings(user=alice, changes={"confirm_before_remembering": True})
    assert remember(alice, "Likes tea").memory.status == MemoryStatus.CANDIDATE
    own = remember(alice, "Plays the cello", origin=Origin.USER)
    assert own.memory.status == MemoryStatus.ACTIVE


def test_a_long_text_is_found_by_its_fragments(alice: User) -> None:
    text = " ".join(f"Chapter {n} speaks of gardens and rivers." for n in range(120))
    memory = remember(alice, text).memory
    assert memory.chunk_count == memory.fragments.count() > 1


def test_an_edit_keeps_the_old_text_as_a_version_and_rests_on_the_writer(alice: User) -> None:
    memory = remember(alice, "Likes tea").memory
    change(alice, memory, content="Likes green tea", pinned=True, tags=["drinks"])
    memory.refresh_from_db()
    assert (memory.content, memory.pinned, memory.tags) == ("Likes green tea", True, ["drinks"])
    assert memory.origin == Origin.USER
    source = Source.objects.get(version__number=2)
    assert (source.origin, source.turn) == (Origin.USER, None)


def test_an_edit_of_anything_but_the_words_makes_no_version(alice: User) -> None:
    memory = remember(alice, "Likes tea").memory
    change(alice, memory, importance=0.9)
    assert MemoryVersion.objects.count() == 1


def test_the_bin_gives_back_what_it_took(alice: User) -> None:
    memory = remember(alice, "Likes tea").memory
    binned = curation.recycle(user=alice, memory=memory)
    assert not Memory.objects.exists()
    assert binned.purge_at is not None and binned.deleted_at is not None
    assert (binned.purge_at - binned.deleted_at).days == 7
    curation.restore_from_bin(user=alice, memory=memory)
    assert Memory.objects.get() == memory


def test_many_at_once_say_what_became_of_each(alice: User, mallory: User) -> None:
    mine = remember(alice, "Likes tea").memory
    theirs = remember(mallory, "Likes tea").memory
    ids = [mine.public_id, theirs.public_id, mine.public_id]
    results = curation.apply_to_many(user=alice, ids=ids, action="tag", tag_name="drinks")
    assert results == [(mine.public_id, "done"), (theirs.public_id, "not_found")]
    theirs.refresh_from_db()
    assert "drinks" not in theirs.tags


def contested(user: User) -> tuple[Memory, Memory]:
    """What is known, and a candidate that contradicts it."""
    old = remember(user, "Lives in Leeds").memory
    new = remember(user, "Plays the cello").memory
    Memory.objects.filter(pk=new.pk).update(
        status=MemoryStatus.CANDIDATE, conflicts_with=old, content="Lives in York"
    )
    new.refresh_from_db()
    return old, new


def test_keeping_the_new_supersedes_the_old(alice: User) -> None:
    old, new = contested(alice)
    [done] = review.confirm(user=alice, decisions=[ReviewInput(new.public_id, "keep_new")])
    old.refresh_from_db()
    new.refresh_from_db()
    assert (done.result, done.memory_id) == ("accepted", new.public_id)
    assert (old.status, old.superseded_by, new.status) == ("superseded", new, "active")


def test_keeping_both_relates_them(alice: User) -> None:
    old, new = contested(alice)
    review.confirm(user=alice, decisions=[ReviewInput(new.public_id, "keep_both")])
    relation = Relation.objects.get(kind="contradicts")
    old.refresh_from_db()
    assert {relation.memory, relation.other} == {old, new}
    assert old.status == MemoryStatus.ACTIVE


def test_keeping_the_old_lets_the_candidate_go(alice: User) -> None:
    old, new = contested(alice)
    [done] = review.confirm(user=alice, decisions=[ReviewInput(new.public_id, "keep_old")])
    assert (done.result, done.memory_id) == ("rejected", old.public_id)
    assert list(Memory.objects.all()) == [old]


def test_what_is_in_use_in_the_same_words_stays_single(alice: User) -> None:
    known = make_memory(alice, "Runs a depot")
    waiting = make_memory(alice, "Runs a depot", status=MemoryStatus.CANDIDATE)
    before = review.undecided(alice, waiting.public_id)
    [done] = review.confirm(user=alice, decisions=[ReviewInput(waiting.public_id, "accept")])
    assert (done.result, done.memory_id) == ("accepted", known.public_id)
    assert list(Memory.objects.filter(deleted_at=None)) == [known]
    assert before is not None
    review.undo(user=alice, before=before)
    waiting.refresh_from_db()
    assert (waiting.status, waiting.deleted_at) == (MemoryStatus.CANDIDATE, None)


def test_a_strangers_candidate_is_not_found(alice: User, mallory: User) -> None:
    _, new = contested(alice)
    [done] = review.confirm(user=mallory, decisions=[ReviewInput(new.public_id, "accept")])
    assert done.result == "not_found"
    new.refresh_from_db()
    assert new.status == MemoryStatus.CANDIDATE


def test_an_unknown_decision_decides_nothing(alice: User) -> None:
    _, new = contested(alice)
    with pytest.raises(Invalid):
        review.confirm(
            user=alice,
            decisions=[ReviewInput(new.public_id, "accept"), ReviewInput("mem_x", "burn")],
        )
    new.refresh_from_db()
    assert new.status == MemoryStatus.CANDIDATE


def test_what_says_how_to_answer_stands_in_every_prompt(
    alice: User, plain_reader: PlainReader
) -> None:
    text = "Prefers short answers"
    plain_reader.hears(text, statement(text, text, topic="answers"))
    assert remember(alice, text).memory.standing
    assert not remember(alice, "I live in Leeds").memory.standing


def test_the_tag_of_how_to_answer_says_what_stands_in_every_prompt(
    alice: User, plain_reader: PlainReader
) -> None:
    memory = remember(alice, "I live in Leeds").memory
    for tags, standing in ((["answers", "home"], True), (["home"], False), (["回答方式"], True)):
        assert change(alice, memory, tags=tags).standing is standing


def test_a_memory_confirmed_in_other_words_keeps_only_these_when_the_first_are_forgotten(
    alice: User, pairs: FakePairs
) -> None:
    heard, written = "I moved to a flat by the harbour of Brno", "Lives in Brno near the port"
    turn = make_turn(make_conversation(alice), heard)
    memory = make_memory(alice, heard, turns=[turn])
    pairs.says(heard, written, "same")
    assert remember(alice, written).result == "skipped"

    with as_user(alice):
        said.forget_conversation(user=alice, conversation=turn.conversation)
    worker.drain()

    memory.refresh_from_db()
    assert (memory.content, memory.hidden_at) == (written, None)
    assert Receipt.objects.get().scan["residue"] == 0
