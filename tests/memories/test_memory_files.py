"""Memory files: what an edit does to memories, and that file, rows and copy stay in step."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as configured
from django.utils import timezone

from foundation.errors import ApplicationError, Conflict, Invalid, NotFound, Stale
from memories.files import file_copies, file_sync, memory_files
from memories.files.file_edits import EditEffect
from memories.files.grammar import LEARNINGS, MEMORY
from memories.forgetting import memory_forgets
from memories.models import FileVersion, Kind, Memory, MemoryFile, MemoryStatus, Origin
from memories.writing import curation
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from ops.queue import worker
from tests.factories import make_memory
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db


def shown(user: User, path: str = MEMORY) -> str:
    with as_user(user):
        return memory_files.read(user, path).text


def put(user: User, text: str, *, path: str = MEMORY, match: str | None = None) -> EditEffect:
    ready = memory_files.prepare(text, user=user, path=path, surface="page", match=match)
    with as_user(user):
        return file_sync.edit(ready, user=user).done


def copy(user: User, path: str = MEMORY) -> Path:
    folder = file_copies.folder_of(user.pk)
    assert folder is not None
    return folder / path


def edit_copy(user: User, old: str, new: str, *, path: str = MEMORY) -> None:
    file = copy(user, path)
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def contents(user: User) -> set[str]:
    rows = Memory.objects.filter(user=user, status=MemoryStatus.ACTIVE)
    return set(rows.values_list("content", flat=True))


def test_files_show_the_active_memories_of_the_person(alice: User, mallory: User) -> None:
    tea = make_memory(alice, "Drinks oolong tea", kind=Kind.PREFERENCE)
    make_memory(alice, "Asleep", status=MemoryStatus.DISABLED)
    skill = make_memory(alice, "Deploys with blue and green", kind=Kind.SKILL)
    make_memory(mallory, "Hers alone")
    text = f"# Memory\n\n## preference\n\n- Drinks oolong tea <!-- {tea.public_id} -->\n"
    assert shown(alice) == text
    assert f"- Deploys with blue and green <!-- {skill.public_id} -->" in shown(alice, LEARNINGS)
    users.change_settings(user=mallory, changes={"language": "zh-hans"})
    assert shown(mallory).startswith("# 记忆\n\n## 事实\n")


def test_an_edited_line_of_a_disabled_memory_keeps_its_kind_without_a_section(
    alice: User,
) -> None:
    tea = make_memory(alice, "Drinks oolong tea", kind=Kind.PREFERENCE)
    text = shown(alice).replace("## preference\n\n", "").replace("oolong", "green")
    Memory.objects.filter(pk=tea.pk).update(status=MemoryStatus.DISABLED)

    done = put(alice, text)

    asked = Memory.objects.get(content="Drinks green tea")
    assert done.to_review == [asked.public_id]
    assert (asked.kind, asked.status) == (Kind.PREFERENCE, MemoryStatus.CANDIDATE)


def test_an_edit_changes_creates_and_recycles(alice: User) -> None:
    lisbon, oboe = make_memory(alice, "Lives in Lisbon"), make_memory(alice, "Plays the oboe")
    text = shown(alice)
    gone = f"- Plays the oboe <!-- {oboe.public_id} -->\n"
    text = text.replace("Lives in Lisbon", "Lives in Porto").replace(gone, "")
    done = put(alice, text + "- Has a dog named Rufus\n\nMy own words.\n")
    created = Memory.objects.get(content="Has a dog named Rufus")
    assert (done.updated, done.recycled) == ([lisbon.public_id], [oboe.public_id])
    assert done.created == [created.public_id] and created.origin == Origin.FILE
    lisbon.refresh_from_db()
    assert lisbon.content == "Lives in Porto" and lisbon.current_version == 2
    assert lisbon.versions.get(number=2).actor == Origin.FILE
    assert Memory.visible.get(pk=oboe.pk).deleted_at is not None
    after = shown(alice)
    assert f"- Has a dog named Rufus <!-- {created.public_id} -->\n\nMy own words.\n" in after
    assert put(alice, after).counts == dict.fromkeys(done.counts, 0)
    assert MemoryFile.objects.get(path=MEMORY).version == 2


def test_a_line_that_contradicts_another_memory_waits_for_the_person(
    alice: User, pairs: FakePairs
) -> None:
    make_memory(alice, "Lives in Leeds")
    oboe = make_memory(alice, "Plays the oboe")
    pairs.says("Lives in Leeds", "Lives in York", "contradicts")
    done = put(alice, shown(alice).replace("Plays the oboe", "Lives in York"))
    oboe.refresh_from_db()
    assert done.to_review == [oboe.public_id] and done.updated == []
    assert oboe.conflicts_with is not None and oboe.conflicts_with.content == "Lives in Leeds"


def test_a_line_moved_to_the_section_of_the_other_file_moves_there(alice: User) -> None:
    memory = make_memory(alice, "Test before landing")
    line = f"- Test before landing <!-- {memory.public_id} -->"
    put(alice, shown(alice).replace("## fact", "## skill"))
    assert Memory.objects.get().kind == Kind.SKILL
    assert line in shown(alice, LEARNINGS) and line not in shown(alice)


def test_what_is_said_twice_is_remembered_once(alice: User) -> None:
    make_memory(alice, "Lives in Lisbon")
    done = put(alice, shown(alice) + "- Lives in Lisbon\n")
    assert done.created == [] and shown(alice).count("Lisbon") == 1


def test_a_stale_edit_is_refused(alice: User) -> None:
    make_memory(alice, "Lives in Lisbon")
    with as_user(alice):
        before = memory_files.read(alice, MEMORY)
    make_memory(alice, "Plays the oboe")
    with pytest.raises(Stale):
        put(alice, before.text + "- New\n", match=before.etag)
    put(alice, before.text + "- Has a sister in Oslo\n")  # nobody is said to have seen the oboe
    assert contents(alice) == {"Lives in Lisbon", "Plays the oboe", "Has a sister in Oslo"}


def test_a_file_that_changes_while_an_edit_is_prepared_makes_it_stale(alice: User) -> None:
    make_memory(alice, "Lives in Lisbon")
    ready = memory_files.prepare(
        shown(alice) + "- Keeps bees\n", user=alice, path=MEMORY, surface="page"
    )
    put(alice, shown(alice) + "- Keeps hens\n")
    with pytest.raises(Stale), as_user(alice):
        memory_files.apply(ready, user=alice)
    assert "Keeps bees" not in contents(alice)


def test_where_both_changed_a_person_decides(alice: User) -> None:
    memory = make_memory(alice, "Lives in Lisbon")
    text = shown(alice).replace("Lisbon", "Porto")
    Memory.objects.filter(pk=memory.pk).update(content="Lives in Faro")
    done = put(alice, text)
    waiting = Memory.objects.get(status=MemoryStatus.CANDIDATE)
    assert done.to_review == [waiting.public_id] and done.updated == []
    assert (waiting.content, waiting.conflicts_with) == ("Lives in Porto", memory)
    assert waiting.relations.get(kind="contradicts").other == memory
    assert waiting.arbitrations.get().verdict == "REVIEW"
    assert "Faro" in shown(alice) and "Porto" not in shown(alice)


def test_many_removals_wait_for_a_person(alice: User) -> None:
    for number in range(6):
        make_memory(alice, f"Statement number {number} stands")
    shown(alice)
    done = put(alice, "# Memory\n")
    assert len(done.to_review) == 6 and done.recycled == []
    assert len(contents(alice)) == 6 and shown(alice).count("<!-- mem_") == 6
    assert Memory.objects.filter(removal_asked_at__isnull=False).count() == 6


def test_an_old_version_brings_recycled_lines_back(alice: User) -> None:
    memory = make_memory(alice, "Plays the oboe")
    before = shown(alice)
    put(alice, before.replace(f"- Plays the oboe <!-- {memory.public_id} -->\n", ""))
    assert contents(alice) == set()
    assert put(alice, before, match="*").created == [memory.public_id]
    assert contents(alice) == {"Plays the oboe"} and shown(alice) == before


def test_secrets_never_enter_a_file(alice: User) -> None:
    make_memory(alice, "Lives in Lisbon")
    with pytest.raises(Invalid) as caught:
        put(alice, shown(alice) + "- My password is hunter2-Zebra!\n")
    assert "Line 6" in caught.value.fields["content"][0]
    put(alice, shown(alice) + "- Anna's card is 4111 1111 1111 1111, she lives in Leeds.\n")
    assert "4111" not in shown(alice) and any("Leeds" in one for one in contents(alice))
    assert not FileVersion.objects.filter(content__contains="4111").exists()


def test_with_long_term_memory_off_nothing_new_is_taken_and_what_is_there_can_go(
    alice: User,
) -> None:
    memory = make_memory(alice, "Lives in Lisbon")
    text = shown(alice)
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    with pytest.raises(Conflict) as caught:
        put(alice, text + "- New\n")
    assert caught.value.code == "memory_off"
    line = f"- Lives in Lisbon <!-- {memory.public_id} -->\n"
    assert put(alice, text.replace(line, "")).recycled == [memory.public_id]


@pytest.mark.parametrize("path", ["other.md", "../MEMORY.md", "memory/2026-02-30.md", "memory.md"])
def test_there_is_nothing_of_an_unknown_path(alice: User, path: str) -> None:
    with pytest.raises(NotFound):
        shown(alice, path)
    with pytest.raises(NotFound):
        put(alice, "x", path=path)


def test_a_text_that_cannot_be_kept_is_refused(alice: User) -> None:
    for text in ("a\x00b", "a\ud800b"):
        with pytest.raises(Invalid):
            put(alice, text)
    with pytest.raises(ApplicationError) as caught:
        put(alice, "é" * (configured.MAX_FILE_BYTES // 2 + 1))
    assert caught.value.code == "too_large"
    with pytest.raises(Invalid):
        put(alice, "- x\n", path="memory/2026-03-01.md")


def test_a_sync_writes_private_copies(alice: User) -> None:
    make_memory(alice, "Lives in Lisbon")
    assert file_sync.sync(alice).written == [MEMORY, LEARNINGS]
    assert copy(alice).read_text() == shown(alice)
    assert copy(alice).stat().st_mode & 0o777 == 0o600
    assert copy(alice).parent.stat().st_mode & 0o777 == 0o700
    again = file_sync.sync(alice)
    assert (again.written, again.edits, again.failed) == ([], {}, {})


def test_an_edit_on_the_disk_is_read_in(alice: User) -> None:
    memory, oboe = make_memory(alice, "Lives in Lisbon"), make_memory(alice, "Plays the oboe")
    file_sync.sync(alice)
    edit_copy(alice, f"- Plays the oboe <!-- {oboe.public_id} -->", "- Has a dog named Rufus")
    edit_copy(alice, "Lisbon", "Porto")
    synced = file_sync.sync(alice)
    assert synced.edits[MEMORY] == {"created": 1, "updated": 1, "recycled": 1, "to_review": 0}
    assert contents(alice) == {"Lives in Porto", "Has a dog named Rufus"}
    assert copy(alice).read_text() == shown(alice)
    assert copy(alice).read_text().count("<!-- mem_") == 2
    assert FileVersion.objects.latest("pk").actor == "disk"
    assert memory.public_id in copy(alice).read_text()


def test_a_line_moved_between_the_copies_is_no_removal(alice: User) -> None:
    memory = make_memory(alice, "Test before landing")
    file_sync.sync(alice)
    line = f"- Test before landing <!-- {memory.public_id} -->\n"
    edit_copy(alice, line, "")
    with copy(alice, LEARNINGS).open("a") as file:
        file.write(f"\n## skill\n{line}")
    synced = file_sync.sync(alice)
    assert Memory.objects.get().kind == Kind.SKILL and synced.failed == {}
    assert line in copy(alice, LEARNINGS).read_text() and line not in copy(alice).read_text()


def test_a_copy_that_lags_behind_undoes_nothing(alice: User) -> None:
    make_memory(alice, "Lives in Lisbon")
    file_sync.sync(alice)
    old = copy(alice).read_text()
    make_memory(alice, "Plays the oboe")
    file_sync.sync(alice)
    copy(alice).write_text(old)
    assert file_sync.sync(alice).edits == {}
    assert len(contents(alice)) == 2 and "oboe" in copy(alice).read_text()


def test_a_missing_copy_is_written_again(alice: User) -> None:
    make_memory(alice, "Lives in Lisbon")
    file_sync.sync(alice)
    copy(alice).unlink()
    synced = file_sync.sync(alice)
    assert synced.edits == {} and synced.written == [MEMORY]
    assert contents(alice) == {"Lives in Lisbon"} and "Lisbon" in copy(alice).read_text()


@pytest.mark.parametrize("raw", [b"\xff\xfe bad", b"a\x00b", b"x" * 1_000_001])
def test_a_copy_that_is_no_text_is_left_alone(alice: User, raw: bytes) -> None:
    make_memory(alice, "Lives in Lisbon")
    file_sync.sync(alice)
    copy(alice).write_bytes(raw)
    synced = file_sync.sync(alice)
    assert list(synced.failed) == [MEMORY] and copy(alice).read_bytes() == raw
    assert contents(alice) == {"Lives in Lisbon"}


def test_a_link_in_place_of_a_copy_is_not_followed(alice: User, tmp_path: Path) -> None:
    make_memory(alice, "Lives in Lisbon")
    file_sync.sync(alice)
    secret = tmp_path / "secret"
    secret.write_text("- Root's own\n")
    copy(alice).unlink()
    copy(alice).symlink_to(secret)
    assert list(file_sync.sync(alice).failed) == [MEMORY]
    assert secret.read_text() == "- Root's own\n"


def test_a_secret_typed_on_the_disk_is_refused_and_the_rest_counts(alice: User) -> None:
    make_memory(alice, "Lives in Lisbon")
    file_sync.sync(alice)
    with copy(alice).open("a") as file:
        file.write("- My password is hunter2-Zebra!\n- Has a dog named Rufus\n")
    assert file_sync.sync(alice).edits[MEMORY]["created"] == 1
    assert "hunter2" not in copy(alice).read_text()
    assert alice.refusal_set.count() == 1


def test_a_forgotten_line_on_the_disk_is_not_learned_again(alice: User) -> None:
    memory = make_memory(alice, "Was treated for zebrafish fever", origin=Origin.EXTRACTED)
    file_sync.sync(alice)
    old = copy(alice).read_text()
    with as_user(alice):
        memory_forgets.forget_memory(user=alice, memory=memory)
    copy(alice).write_text(old.replace("treated", "treated again"))
    file_sync.sync(alice)  # while it waits to be erased
    assert "zebrafish" not in copy(alice).read_text()
    copy(alice).write_text(old)
    worker.drain()
    assert "zebrafish" not in copy(alice).read_text()
    copy(alice).write_text(old)
    file_sync.sync(alice)
    assert "zebrafish" not in copy(alice).read_text() and contents(alice) == set()
    assert not FileVersion.objects.filter(content__contains="zebrafish").exists()


class Kill(BaseException):
    """Nothing catches it."""


@pytest.mark.parametrize("step", ["write", "prepare", "carry_out", "_stored", "replace"])
def test_a_kill_at_any_step_of_a_sync_loses_nothing(
    alice: User, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    make_memory(alice, "Lives in Lisbon")
    oboe = make_memory(alice, "Plays the oboe")
    file_sync.sync(alice)
    edit_copy(alice, "Lisbon", "Porto")
    edit_copy(alice, f"- Plays the oboe <!-- {oboe.public_id} -->", "- Has a dog named Rufus")

    def die(*_: object, **__: object) -> None:
        raise Kill

    places = {
        "write": "memories.files.file_copies.write",
        "prepare": "memories.files.file_edits.prepare",
        "carry_out": "memories.files.file_edits.carry_out",
        "_stored": "memories.files.memory_files._stored",
        "replace": "pathlib.Path.replace",
    }
    monkeypatch.setattr(places[step], die)
    with pytest.raises(Kill):
        file_sync.sync(alice)
    monkeypatch.undo()
    file_sync.sync(alice)
    assert contents(alice) == {"Lives in Porto", "Has a dog named Rufus"}
    assert Memory.visible.filter(user=alice).count() == 3
    assert copy(alice).read_text() == shown(alice)
    assert [one.name for one in copy(alice).parent.iterdir() if one.suffix == ".part"] == []


def test_a_sync_is_asked_for_where_something_changed(alice: User, mallory: User) -> None:
    make_memory(alice, "Lives in Lisbon")
    assert file_sync.request_syncs_after_changes() == 1 == file_sync.request_syncs_after_changes()
    assert worker.drain() == 1 and "Lisbon" in copy(alice).read_text()
    Memory.objects.update(updated_at=timezone.now() - timedelta(minutes=2))
    assert file_sync.request_syncs_after_changes() == 0 == file_sync.request_syncs_after_edits()
    edit_copy(alice, "Lisbon", "Porto")
    assert file_sync.request_syncs_after_changes() == 1 == file_sync.request_syncs_after_edits()
    worker.drain()
    assert contents(alice) == {"Lives in Porto"}


def test_old_versions_are_given_up_but_not_what_the_copy_has(alice: User, settings: object) -> None:
    settings.FILE_VERSIONS = 3  # type: ignore[attr-defined]
    memory = make_memory(alice, "Number one")
    file_sync.sync(alice)
    for number in range(6):
        Memory.objects.filter(pk=memory.pk).update(content=f"Number {number} came")
        shown(alice)
    numbers = FileVersion.objects.filter(file__path=MEMORY).order_by("number")
    assert list(numbers.values_list("number", flat=True)) == [1, 5, 6, 7]
    edit_copy(alice, "Number one", "Number hundred")
    file_sync.sync(alice)
    assert Memory.objects.get(status=MemoryStatus.CANDIDATE).content == "Number hundred"


def test_recycling_elsewhere_takes_the_line_out(alice: User) -> None:
    memory = make_memory(alice, "Lives in Lisbon")
    file_sync.sync(alice)
    with as_user(alice):
        curation.recycle(user=alice, memory=memory)
    file_sync.sync(alice)
    assert "Lisbon" not in copy(alice).read_text()
