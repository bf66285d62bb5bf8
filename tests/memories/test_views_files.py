"""The pages of memory files: read, edited, disputed, brought back."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memories.files import daily_notes, memory_files
from memories.models import DailyNote, FileVersion, Memory, MemoryFile
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from tests.factories import make_memory
from tests.memories.pages import address, signed_in, text_of

pytestmark = pytest.mark.django_db
PATH = "MEMORY.md"


@pytest.fixture
def client(alice: User) -> Client:
    return signed_in(alice)


def shown(user: User, path: str = PATH) -> memory_files.FileState:
    with as_user(user):
        return memory_files.read(user, path)


def save(client: Client, content: str, *, tag: str = "", path: str = PATH) -> Any:
    return client.post(address("memory_file_edit", path), {"content": content, "tag": tag})


def own(client: Client, path: str = "notes/plan.md", content: str = "# Plan\n\nBuy oats.") -> Any:
    return client.post(address("memory_file_add"), {"path": path, "content": content})


def test_the_list_shows_every_sort_of_file_and_says_what_is_missing(
    alice: User, client: Client
) -> None:
    empty = text_of(client.get(address("memory_files")))
    assert "No notes yet" in empty and "Nothing noted yet" in empty and "MEMORY.md" in empty
    assert "All your memories</a>" in empty and "Who you are</a>" in empty
    assert address("memory_files") in text_of(client.get(address("memory_list")))
    make_memory(alice, "Lives in Lisbon")
    own(client)
    client.post(address("memory_note_add"), {"text": "The boiler was fixed."})
    found = text_of(client.get(address("memory_files")))
    assert "1 memory" in found and "notes/plan.md" in found and "1 line" in found
    line = daily_notes.append("And cleaned:\nall of it", user=alice, source="my agent").note
    day = text_of(client.get(address("memory_file", daily_notes.path_of(line.on))))
    assert "The boiler was fixed." in day and "And cleaned:<br>all of it" in day


def test_a_file_is_read_with_its_memories_leading_to_their_pages(
    alice: User, client: Client
) -> None:
    memory = make_memory(alice, "Likes <b>bold</b> tea")
    save(client, shown(alice).text + "\n# Mine\n\nSome *own* words.\n", tag=shown(alice).etag)
    page = text_of(client.get(address("memory_file", PATH)))
    assert address("memory_page", memory.public_id) in page
    assert "Likes &lt;b&gt;bold&lt;/b&gt; tea" in page and "<em>own</em>" in page
    assert "<!--" not in page.split("<article")[1].split("</article>")[0]


def test_an_edit_changes_memories_and_says_what_became(alice: User, client: Client) -> None:
    memory = make_memory(alice, "Lives in Lisbon")
    file = shown(alice)
    text = file.text.replace("Lisbon", "Porto").replace("\n", "\r\n") + "- Keeps bees\r\n"
    assert save(client, text, tag=file.etag).status_code == 302
    memory.refresh_from_db()
    assert memory.content == "Lives in Porto" and Memory.objects.filter(content="Keeps bees")
    assert "\r" not in MemoryFile.objects.get(path=PATH).content
    assert "Saved: 1 new, 1 changed." in text_of(client.get(address("memory_file", PATH)))


def test_a_change_that_somebody_else_made_meanwhile_is_put_together(
    alice: User, client: Client
) -> None:
    make_memory(alice, "Lives in Lisbon")
    make_memory(alice, "Plays the oboe")
    began = shown(alice)
    save(client, began.text.replace("Lisbon", "Porto"), tag=began.etag)
    disputed = save(client, began.text.replace("the oboe", "the zither"), tag=began.etag)
    assert disputed.status_code == 409
    page = text_of(disputed)
    assert "Both changes are merged" in page and "<ins>- Lives in Porto</ins>" in page
    form = disputed.context["form"]
    assert "Porto" in form["content"].value() and "zither" in form["content"].value()
    assert not Memory.objects.filter(content="Plays the zither").exists()
    assert save(client, form["content"].value(), tag=form["tag"].value()).status_code == 302
    assert set(Memory.objects.values_list("content", flat=True)) == {
        "Lives in Porto",
        "Plays the zither",
    }


def test_a_place_that_both_changed_is_left_to_the_person(alice: User, client: Client) -> None:
    make_memory(alice, "Lives in Lisbon")
    began = shown(alice)
    save(client, began.text.replace("Lisbon", "Porto"), tag=began.etag)
    disputed = save(client, began.text.replace("Lisbon", "Faro"), tag=began.etag)
    page = text_of(disputed)
    assert "Nothing was saved" in page and "Porto" in page
    assert "Faro" in disputed.context["form"]["content"].value()
    FileVersion.objects.filter(number=1).delete()
    gone = text_of(save(client, began.text.replace("Lisbon", "Faro"), tag=began.etag))
    assert "no longer stored" in gone


def test_the_history_tells_what_changed_and_brings_a_state_back(
    alice: User, client: Client
) -> None:
    own(client)
    save(client, "# Plan\n\nBuy rye.", tag=shown(alice, "notes/plan.md").etag, path="notes/plan.md")
    page = text_of(client.get(address("memory_file_history", "notes/plan.md")))
    assert "<del>Buy oats.</del>" in page and "<ins>Buy rye.</ins>" in page and "you, here" in page
    assert "Restore this text" not in page
    older = text_of(client.get(address("memory_file_history", "notes/plan.md", version="1")))
    assert "Restore this text" in older
    client.post(address("memory_file_restore", "notes/plan.md"), {"version": "1"})
    assert shown(alice, "notes/plan.md").text == "# Plan\n\nBuy oats."


def test_a_note_is_made_thrown_away_and_put_back(alice: User, client: Client) -> None:
    own(client)
    assert "A file with this name already exists." in text_of(own(client))
    page = text_of(client.post(address("memory_file_delete", "notes/plan.md"), follow=True))
    assert client.get(address("memory_file", "notes/plan.md")).status_code == 404
    [binned] = MemoryFile.everything.filter(deleted_at__isnull=False)
    undo = address("memory_file_take_back", binned.pk)
    assert page.count(f'action="{undo}"') == 2  # in the toast and in the list
    client.post(undo)
    assert "Buy oats." in text_of(client.get(address("memory_file", "notes/plan.md")))


@pytest.mark.parametrize(
    "path", ["", "../x", "a\\b", ".x", "MEMORY.md", "memory/2026-03-01.md", "x" * 201]
)
def test_a_name_that_cannot_be_is_refused_beside_its_field(client: Client, path: str) -> None:
    answer = own(client, path=path)
    assert answer.status_code == 422 and answer.context["form"].errors["path"]
    assert not MemoryFile.objects.exists()


def test_what_cannot_be_saved_says_so_and_keeps_what_was_typed(alice: User, client: Client) -> None:
    make_memory(alice, "Lives in Lisbon")
    file = shown(alice)
    typed = file.text + "- My password is hunter2-Zebra!\n- Keeps bees\n"
    answer = save(client, typed, tag=file.etag)
    assert answer.status_code == 422
    assert "looks like a secret" in text_of(answer) and "Keeps bees" in text_of(answer)
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    off = save(client, file.text + "- Keeps bees\n", tag=file.etag)
    assert off.status_code == 422 and "turned off" in text_of(off)
    assert own(client).status_code == 422


def test_a_daily_note_is_read_and_grows_and_is_never_edited(alice: User, client: Client) -> None:
    answer = client.post(address("memory_note_add"), {"text": "The boiler was fixed."})
    path = daily_notes.path_of(DailyNote.objects.get().on)
    assert answer["Location"] == reverse("memory_file", args=[path])
    page = text_of(client.get(answer["Location"]))
    assert "The boiler was fixed." in page and address("memory_file_edit", path) not in page
    assert client.get(address("memory_file_edit", path)).status_code == 302
    client.post(address("memory_note_add"), {"text": " "})
    client.post(address("memory_file_delete", path))
    assert DailyNote.objects.count() == 1


def test_strangers_and_visitors_reach_no_file(client: Client, mallory: User) -> None:
    own(client)
    [file] = MemoryFile.objects.filter(path="notes/plan.md")
    stranger = signed_in(mallory)
    for name in ("memory_file", "memory_file_edit", "memory_file_history"):
        url = address(name, "notes/plan.md")
        assert stranger.get(url).status_code == 404
        assert Client().get(url)["Location"].startswith("/signin/")
    for url in (
        address("memory_file_edit", "notes/plan.md"),
        address("memory_file_delete", "notes/plan.md"),
        address("memory_file_restore", "notes/plan.md"),
        address("memory_file_take_back", file.pk),
    ):
        assert stranger.post(url, {"content": "x", "version": "1"}).status_code == 404
    file.refresh_from_db()
    assert file.content == "# Plan\n\nBuy oats." and file.deleted_at is None
