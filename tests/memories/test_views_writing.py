from collections.abc import Sequence

import pytest

from memories import language_steps
from memories.extraction.types import Decision, Verdict
from memories.models import Change, Kind, Memory, MemoryStatus, Origin
from memories.writing.direct_writes import kind_of
from ops.accounts import users
from ops.models import User
from tests.factories import make_memory, make_version
from tests.memories.extraction.readings import statement
from tests.memories.pages import address, htmx, signed_in, text_of
from tests.memories.plain_reader import PlainReader
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db

ADD = "/memory/long-term/add/"
GIVEN = {"content": "Plays the cello on Sundays", "kind": "pattern", "tags": "music, home，家"}


def test_adding_works_by_a_plain_form(alice: User) -> None:
    response = signed_in(alice).post(ADD, GIVEN, follow=True)
    memory = Memory.objects.get(user=alice)
    assert (memory.content, memory.kind) == (GIVEN["content"], "pattern")
    assert memory.tags == ["music", "home", "家"]
    assert memory.origin == Origin.USER
    page = text_of(response)
    assert "Remembered." in page
    assert "Plays the cello on Sundays" in page


def test_the_kind_is_found_when_it_is_left_to_us(alice: User, plain_reader: PlainReader) -> None:
    text = "对花生过敏"
    plain_reader.hears(text, statement(text, text, kind="constraint"))
    signed_in(alice).post(ADD, {"content": text, "kind": ""})
    assert Memory.objects.get(user=alice).kind == Kind.CONSTRAINT


@pytest.mark.parametrize(
    ("kinds", "kind"),
    [
        (["preference"], "preference"),
        (["constraint", "constraint"], "constraint"),
        (["constraint", "preference"], "fact"),
        ([], "fact"),
    ],
)
def test_a_kind_is_read_from_the_statements(
    plain_reader: PlainReader, kinds: Sequence[str], kind: str
) -> None:
    text = "Prefers short answers"
    plain_reader.hears(text, *(statement(text, text, kind=one) for one in kinds))
    assert kind_of(text) == kind


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"content": "  "}, "Write what should be remembered."),
        ({"content": "x" * 8_001}, "at most 8000 characters"),
        ({"content": "fine", "tags": "y" * 51}, "each of at most 50 characters"),
        ({"content": "fine", "kind": "nonsense"}, "Select a valid choice"),
        ({"content": "fine", "valid_until": "soon"}, "Enter a valid date."),
    ],
)
def test_a_wrong_form_comes_back_with_what_is_wrong(
    alice: User, given: dict[str, str], words: str
) -> None:
    response = signed_in(alice).post(ADD, given)
    assert response.status_code == 422
    assert words in text_of(response)
    assert not Memory.objects.exists()


def test_in_a_dialog_a_wrong_form_comes_back_as_the_dialog(alice: User) -> None:
    response = signed_in(alice).post(ADD, {"content": ""}, headers=htmx("dialogs"))
    assert response.status_code == 422
    assert response["HX-Reswap"] == "innerHTML"
    assert text_of(response).strip().startswith("<dialog")


def test_in_a_dialog_adding_leads_on_by_the_whole_page(alice: User) -> None:
    response = signed_in(alice).post(ADD, GIVEN, headers=htmx("dialogs"))
    assert response["HX-Redirect"] == "/memory/long-term/"
    assert Memory.objects.filter(user=alice).exists()


def test_a_secret_is_refused_in_words(alice: User) -> None:
    response = signed_in(alice).post(ADD, {"content": "sk-proj-a8Fk20dLs93kfPq7Zx1Vb5Nm4Qw"})
    assert response.status_code == 422
    assert "secrets are not remembered" in text_of(response)


def test_what_is_known_already_is_said_so(alice: User) -> None:
    client = signed_in(alice)
    client.post(ADD, GIVEN)
    response = client.post(ADD, GIVEN, follow=True)
    assert "I already knew this" in text_of(response)
    assert Memory.objects.filter(user=alice).count() == 1


def test_while_memory_is_off_nothing_is_added(alice: User) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    response = signed_in(alice).post(ADD, GIVEN)
    assert response.status_code == 422
    assert "turned off" in text_of(response)


def test_editing_keeps_the_old_text_as_a_version(alice: User) -> None:
    memory = make_memory(alice, "Plays the cello", tags=["music"])
    url = address("memory_edit", memory.public_id)
    client = signed_in(alice)
    assert "Plays the cello" in text_of(client.get(url))
    given = {"content": "Plays the viola", "kind": "skill", "tags": "music"}
    response = client.post(url, given, follow=True)
    memory.refresh_from_db()
    assert (memory.content, memory.kind, memory.current_version) == ("Plays the viola", "skill", 2)
    assert "<del>cello</del><ins>viola</ins>" in text_of(response)


def test_a_topic_is_edited_in_the_language_of_the_page_and_stored_as_it_was(alice: User) -> None:
    memory = make_memory(alice, "爱吃甜水面", tags=["饮食"])
    url, client = address("memory_edit", memory.public_id), signed_in(alice)
    assert 'value="food"' in text_of(client.get(url))
    given = {"content": memory.content, "kind": memory.kind}
    for typed, stored in (("food", ["饮食"]), ("noodles, food", ["noodles", "饮食"])):
        client.post(url, given | {"tags": typed})
        memory.refresh_from_db()
        assert memory.tags == stored


def test_changing_only_the_tags_makes_no_version(alice: User) -> None:
    memory = make_memory(alice, "Plays the cello")
    given = {"content": memory.content, "kind": memory.kind, "tags": "music"}
    signed_in(alice).post(address("memory_edit", memory.public_id), given)
    memory.refresh_from_db()
    assert (memory.tags, memory.current_version) == (["music"], 1)


def test_a_day_until_which_it_holds_counts_whole(alice: User) -> None:
    users.change_settings(user=alice, changes={"timezone": "Asia/Shanghai"})
    memory = make_memory(alice, "On holiday")
    given = {"content": "On holiday", "kind": "fact", "valid_until": "2030-05-01"}
    signed_in(alice).post(address("memory_edit", memory.public_id), given)
    memory.refresh_from_db()
    assert memory.valid_until is not None
    assert memory.valid_until.isoformat().startswith("2030-05-01T15:59:59")
    page = text_of(signed_in(alice).get(address("memory_edit", memory.public_id)))
    assert 'value="2030-05-01"' in page


def test_in_the_list_the_row_changes_in_its_place(alice: User) -> None:
    memory = make_memory(alice, "Plays the cello")
    url = address("memory_edit", memory.public_id)
    given = {"content": "Plays the viola", "kind": "fact", "next": "/memory/long-term/"}
    response = signed_in(alice).post(url, given, headers=htmx(f"row-{memory.public_id}"))
    page = text_of(response)
    assert f'id="row-{memory.public_id}"' in page
    assert "Plays the viola" in page


def test_what_another_tab_saved_meanwhile_is_not_overwritten_unseen(alice: User) -> None:
    memory = make_memory(alice, "Plays the cello")
    browser, url = signed_in(alice), address("memory_edit", memory.public_id)
    shown = browser.get(url)
    assert 'name="seen" value="1"' in shown.content.decode()
    browser.post(url, {"content": "Plays the viola", "kind": "fact", "seen": 1})
    late = {"content": "Plays the cello well", "kind": "fact", "seen": 1}
    response = browser.post(url, late)
    page = response.content.decode()
    assert response.status_code == 422 and "Plays the viola" in text_of(response)
    assert ">\nPlays the cello well</textarea>" in page and 'name="seen" value="2"' in page
    memory.refresh_from_db()
    assert memory.content == "Plays the viola"
    browser.post(url, late | {"seen": 2})
    memory.refresh_from_db()
    assert memory.content == "Plays the cello well"


def test_a_wrong_edit_changes_nothing(alice: User) -> None:
    memory = make_memory(alice, "Plays the cello")
    url = address("memory_edit", memory.public_id)
    assert signed_in(alice).post(url, {"content": "", "kind": "fact"}).status_code == 422
    memory.refresh_from_db()
    assert memory.content == "Plays the cello"


def test_an_earlier_text_can_be_brought_back(alice: User) -> None:
    memory = make_memory(alice, "Plays the cello")
    make_version(memory, "Plays the viola", change=Change.EDITED)
    url = address("memory_restore_version", memory.public_id, 1)
    response = signed_in(alice).post(url, follow=True)
    memory.refresh_from_db()
    assert (memory.content, memory.current_version) == ("Plays the cello", 3)
    assert "You restored an earlier text" in text_of(response)


def test_a_forgotten_version_can_not_be_brought_back(alice: User) -> None:
    memory = make_memory(alice, "Plays the cello")
    make_version(memory, "Plays the viola", change=Change.EDITED)
    old = memory.versions.get(number=1)
    old.content, old.erased_at = "", memory.created_at
    old.save()
    url = address("memory_restore_version", memory.public_id, 1)
    page = text_of(signed_in(alice).post(url, follow=True))
    memory.refresh_from_db()
    assert memory.content == "Plays the viola"
    assert "was forgotten and can’t be restored" in page


def test_a_version_that_never_was_is_not_there(alice: User) -> None:
    memory = make_memory(alice, "Plays the cello")
    url = address("memory_restore_version", memory.public_id, 9)
    assert signed_in(alice).post(url).status_code == 404


def test_a_correction_of_ones_own_takes_the_place_of_what_was_known(
    alice: User, pairs: FakePairs
) -> None:
    pairs.says("Lives in Hamburg", "Lives in Bremen", "contradicts")
    client = signed_in(alice)
    client.post(ADD, {"content": "Lives in Hamburg", "kind": "fact"})
    client.post(ADD, {"content": "Lives in Bremen", "kind": "fact"})
    in_use = Memory.objects.filter(user=alice, status=MemoryStatus.ACTIVE)
    assert [one.content for one in in_use] == ["Lives in Bremen"]


def test_an_edit_by_hand_is_used_and_names_what_may_contradict_it(
    alice: User, pairs: FakePairs
) -> None:
    make_memory(alice, "Lives in Leeds")
    edited = make_memory(alice, "Plays the cello")
    pairs.says("Lives in Leeds", "Lives in York", "contradicts")
    url, given = address("memory_edit", edited.public_id), {"content": "Lives in York"}
    page = signed_in(alice).post(url, given | {"kind": "fact"}, follow=True)
    edited.refresh_from_db()
    assert (edited.content, edited.status) == ("Lives in York", MemoryStatus.ACTIVE)
    assert "This may conflict with “Lives in Leeds”" in text_of(page)


def test_a_memory_written_by_hand_is_used_although_a_contradiction_is_unclear(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = make_memory(alice, "Lives in Leeds")
    unclear = Decision(Verdict.REVIEW, target_id=known.public_id, reasons=("contradicts",))
    arbiter = language_steps.quick_arbiter()
    monkeypatch.setattr(type(arbiter), "arbitrate", lambda *_, **__: unclear)
    page = signed_in(alice).post(ADD, {"content": "Lives in York", "kind": "fact"}, follow=True)
    assert Memory.objects.get(content="Lives in York").status == MemoryStatus.ACTIVE
    assert "This may conflict with “Lives in Leeds”" in text_of(page)


def test_a_memory_that_waits_is_accepted_when_it_is_written_by_hand(alice: User) -> None:
    waiting = make_memory(alice, "Lives in Leeds", status=MemoryStatus.CANDIDATE)
    signed_in(alice).post(ADD, {"content": "Lives in Leeds", "kind": "fact"})
    waiting.refresh_from_db()
    assert waiting.status == MemoryStatus.ACTIVE


def test_in_the_list_a_row_becomes_a_form_and_comes_back(alice: User) -> None:
    memory = make_memory(alice, "Plays the cello", tags=["music"])
    row, client = f"row-{memory.public_id}", signed_in(alice)
    form = text_of(client.get(address("memory_edit", memory.public_id), headers=htmx(row)))
    assert f'<li class="row row--editing" id="{row}"' in form
    assert "Plays the cello</textarea>" in form and 'value="music"' in form
    back = text_of(client.get(address("memory_page", memory.public_id), headers=htmx(row)))
    assert f'id="{row}"' in back and "<form" not in back.split("</li>")[0]


def test_in_the_list_a_form_filled_in_wrongly_stays_with_what_was_typed(alice: User) -> None:
    memory = make_memory(alice, "Plays the cello")
    url, row = address("memory_edit", memory.public_id), f"row-{memory.public_id}"
    response = signed_in(alice).post(url, {"content": "", "kind": "fact"}, headers=htmx(row))
    assert response.status_code == 422
    assert f'<li class="row row--editing" id="{row}"' in text_of(response)


def test_saving_without_a_change_says_so(alice: User) -> None:
    memory = make_memory(alice, "Plays the cello", kind=Kind.FACT)
    way = address("memory_edit", memory.public_id)
    given = {"content": "Plays the cello", "kind": "fact", "seen": 1}
    page = text_of(signed_in(alice).post(way, given, follow=True))
    assert "Nothing was changed." in page
    assert "The old text is in the history" not in page
    page = text_of(signed_in(alice).post(way, {**given, "tags": "music"}, follow=True))
    assert "Saved." in page and "The old text is in the history" not in page
    memory.refresh_from_db()
    assert memory.current_version == 1
