import pytest
from django.utils import timezone

from memories.models import Memory, MemoryStatus
from ops.models import User
from tests.factories import make_memory
from tests.memories.pages import address, htmx, make_binned, make_candidate, signed_in, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def memory(alice: User) -> Memory:
    return make_memory(alice, "Keeps bees on the roof")


def act(memory: Memory, name: str, **query: str) -> str:
    return address(f"memory_{name}", memory.public_id, **query)


def test_pin_and_unpin(alice: User, memory: Memory) -> None:
    client = signed_in(alice)
    client.post(act(memory, "pin"))
    memory.refresh_from_db()
    assert memory.pinned
    client.post(act(memory, "unpin"))
    memory.refresh_from_db()
    assert not memory.pinned


def test_disable_and_enable(alice: User, memory: Memory) -> None:
    client = signed_in(alice)
    client.post(act(memory, "disable"))
    memory.refresh_from_db()
    assert memory.status == MemoryStatus.DISABLED
    client.post(act(memory, "enable"))
    memory.refresh_from_db()
    assert memory.status == MemoryStatus.ACTIVE


def test_delete_moves_to_the_bin_and_offers_undo(alice: User, memory: Memory) -> None:
    response = signed_in(alice).post(act(memory, "delete"), follow=True)
    memory.refresh_from_db()
    assert memory.deleted_at is not None
    page = text_of(response)
    assert "Moved to the recycle bin." in page
    assert f'action="{act(memory, "restore", next="/memory/long-term/")}"' in page


def test_done_in_place_its_toast_names_the_memory(alice: User, memory: Memory) -> None:
    response = signed_in(alice).post(act(memory, "disable"), headers=htmx("toasts"))
    toasts = text_of(response).split('id="toasts"')[1]
    assert f"Disabled. It’s kept but no longer used. “{memory.content}”" in toasts


def test_undo_takes_it_back(alice: User, memory: Memory) -> None:
    client = signed_in(alice)
    client.post(act(memory, "delete"))
    assert client.post(act(memory, "restore")).status_code == 302
    memory.refresh_from_db()
    assert memory.deleted_at is None


def test_a_form_leads_back_to_where_it_stood(alice: User, memory: Memory) -> None:
    back = "/memory/long-term/?kind=fact"
    assert signed_in(alice).post(act(memory, "pin", next=back))["Location"] == back


@pytest.mark.parametrize("next_", ["https://evil.example/", "//evil.example", "/\\evil.example"])
def test_a_form_never_leads_to_another_site(alice: User, memory: Memory, next_: str) -> None:
    response = signed_in(alice).post(act(memory, "pin", next=next_))
    assert response["Location"] == "/memory/long-term/"


def test_htmx_gets_the_row_as_it_is_now(alice: User, memory: Memory) -> None:
    row = f"row-{memory.public_id}"
    response = signed_in(alice).post(act(memory, "disable"), headers=htmx(row))
    page = text_of(response)
    assert f'<li class="row row--off" id="{row}"' in page
    assert "Disabled. It’s kept but no longer used." in page
    assert "<html" not in page


def test_htmx_gets_no_row_for_what_was_deleted(alice: User, memory: Memory) -> None:
    headers = htmx(f"row-{memory.public_id}")
    page = text_of(signed_in(alice).post(act(memory, "delete"), headers=headers))
    assert f'<li id="row-{memory.public_id}" hidden></li>' in page
    rows, toasts = page.split('id="toasts"')
    assert "Keeps bees" not in rows
    assert 'hx-swap-oob="beforeend"' in toasts
    assert "Moved to the recycle bin." in page


def test_a_candidate_can_not_be_enabled_past_the_review(alice: User) -> None:
    candidate = make_candidate(alice, "Wants a second cat")
    response = signed_in(alice).post(act(candidate, "enable"), follow=True)
    candidate.refresh_from_db()
    assert candidate.status == MemoryStatus.CANDIDATE
    assert "is waiting for your review" in text_of(response)


@pytest.mark.parametrize("name", ["pin", "disable", "enable", "rate"])
def test_what_another_tab_deleted_is_offered_back(alice: User, name: str) -> None:
    binned = make_binned(alice, "Grows figs")
    answer = signed_in(alice).post(act(binned, name), follow=True)
    assert answer.status_code == 200
    page = text_of(answer)
    assert "This is in the recycle bin. Restore it to change it." in page
    assert act(binned, "restore") in page
    assert not Memory.visible.get(pk=binned.pk).pinned


@pytest.mark.parametrize("name", ["pin", "disable"])
def test_what_another_tab_deleted_is_offered_back_in_its_row(alice: User, name: str) -> None:
    binned = make_binned(alice, "Grows figs")
    row = f"row-{binned.public_id}"
    page = text_of(signed_in(alice).post(act(binned, name), headers=htmx(row)))
    assert f'id="{row}"' in page
    assert "It is in the recycle bin. Put it back?" in page
    assert f'hx-post="{act(binned, "restore")}"' in page
    assert not Memory.visible.get(pk=binned.pk).pinned


def test_an_edit_of_what_another_tab_deleted_keeps_what_was_typed(alice: User) -> None:
    binned, client = make_binned(alice, "Grows figs"), signed_in(alice)
    typed = {"content": "Grows dates", "kind": "fact", "tags": ""}
    row = htmx(f"row-{binned.public_id}")
    answer = client.post(act(binned, "edit"), typed, headers=row)
    assert answer.status_code == 422
    page = text_of(answer)
    assert "It is in the recycle bin. Put it back?" in page
    assert "Grows dates</textarea>" in page
    assert Memory.visible.get(pk=binned.pk).deleted_at is not None
    assert (
        client.post(act(binned, "edit"), {**typed, "put_back": "1"}, headers=row).status_code == 200
    )
    kept = Memory.objects.get(pk=binned.pk)
    assert kept.content == "Grows dates"


def test_an_old_version_of_what_another_tab_deleted_is_not_restored(alice: User) -> None:
    binned = make_binned(alice, "Grows figs")
    answer = signed_in(alice).post(
        address("memory_restore_version", binned.public_id, 1), follow=True
    )
    assert answer.status_code == 200
    assert "This is in the recycle bin. Restore it to change it." in text_of(answer)


@pytest.mark.parametrize(
    ("action", "check"),
    [
        ("disable", {"status": "disabled"}),
        ("pin", {"pinned": True}),
        ("tag", {"tags": ["garden"]}),
    ],
)
def test_a_bulk_act_changes_all_that_is_ticked(
    alice: User, action: str, check: dict[str, object]
) -> None:
    chosen = [make_memory(alice, f"Grows kind {number}") for number in range(3)]
    spared = make_memory(alice, "Grows nothing")
    ids = [one.public_id for one in chosen]
    given = {"ids": ids, "do": action, "tag": "garden"}
    response = signed_in(alice).post(address("memory_bulk"), given, follow=True)
    assert "3 " in text_of(response)
    changed = Memory.objects.filter(user=alice, **check)
    assert set(changed) == set(chosen)
    assert spared not in changed


def test_the_tag_of_a_topic_is_added_once_and_removed_in_either_language(alice: User) -> None:
    memory = make_memory(alice, "爱吃甜水面", tags=["饮食"])
    for action, tags in (("tag", ["饮食"]), ("untag", [])):
        given = {"ids": [memory.public_id], "do": action, "tag": "food"}
        signed_in(alice).post(address("memory_bulk"), given)
        memory.refresh_from_db()
        assert memory.tags == tags


def test_a_bulk_act_says_what_another_tab_deleted_or_forgot(alice: User) -> None:
    kept, binned = make_memory(alice, "Keeps bees"), make_binned(alice, "Keeps goats")
    gone = make_memory(alice, "Keeps cows")
    Memory.everything.filter(pk=gone.pk).update(hidden_at=timezone.now())
    given = {"do": "pin", "ids": [one.public_id for one in (kept, binned, gone)]}
    page = text_of(signed_in(alice).post(address("memory_bulk"), given, follow=True))
    assert "1 pinned." in page
    assert "2 were changed meanwhile: they are in the recycle bin or no longer exist." in page
    kept.refresh_from_db()
    assert kept.pinned


def test_a_bulk_delete_can_be_undone_at_once(alice: User) -> None:
    chosen = [make_memory(alice, f"Grows kind {number}") for number in range(3)]
    client = signed_in(alice)
    given = {"ids": [one.public_id for one in chosen], "do": "recycle"}
    page = text_of(client.post(address("memory_bulk"), given, follow=True))
    assert not Memory.objects.filter(user=alice).exists()
    undo = page.split('action="/memory/long-term/undo/')[1].split('"')[0]
    client.post(f"/memory/long-term/undo/{undo}")
    assert Memory.objects.filter(user=alice).count() == 3


@pytest.mark.parametrize("action", ["disable", "enable", "pin", "unpin"])
def test_an_undone_bulk_act_changes_back_only_what_it_changed(alice: User, action: str) -> None:
    for number, status in enumerate(2 * [MemoryStatus.ACTIVE, MemoryStatus.DISABLED]):
        make_memory(alice, f"Grows kind {number}", status=status, pinned=number > 1)
    before = list(Memory.objects.order_by("pk").values_list("status", "pinned"))
    client = signed_in(alice)
    given = {"ids": list(Memory.objects.values_list("public_id", flat=True)), "do": action}
    page = text_of(client.post(address("memory_bulk"), given, follow=True))
    states = Memory.objects.order_by("pk").values_list("status", "pinned")
    assert list(states) != before
    token = page.split('action="/memory/long-term/undo/')[1].split('"')[0]
    client.post(f"/memory/long-term/undo/{token}")
    assert list(states.all()) == before


def test_an_undo_of_another_session_says_that_it_is_over(alice: User) -> None:
    binned = make_binned(alice, "Grows figs")
    answer = signed_in(alice).post(address("memory_undo", "guessed"), follow=True)
    assert answer.status_code == 200
    assert "This can no longer be undone here." in text_of(answer)
    assert Memory.visible.get(pk=binned.pk).deleted_at is not None


def test_a_bulk_act_answers_htmx_with_its_rows_and_their_undo(alice: User) -> None:
    chosen = [make_memory(alice, f"Grows kind {number}") for number in range(3)]
    client = signed_in(alice)
    at = "/memory/long-term/?kind=fact"
    given = {"ids": [one.public_id for one in chosen], "do": "recycle", "next": at}
    page = text_of(client.post(address("memory_bulk"), given, headers=htmx("toasts", at=at)))
    assert "<html" not in page
    for one in chosen:
        assert f'<li id="row-{one.public_id}" hidden hx-swap-oob="true"></li>' in page
    undo = page.split(f'hx-post="{address("memory_bulk").replace("bulk", "undo")}')[1].split('"')[0]
    assert undo.endswith("/?next=%2Fmemory%2Flong-term%2F%3Fkind%3Dfact")
    back = client.post(f"/memory/long-term/undo/{undo}", headers=htmx("toasts", at=at))
    for one in chosen:
        assert f'id="row-{one.public_id}" hx-swap-oob="true"' in text_of(back)
    assert Memory.objects.filter(user=alice).count() == 3


def test_a_bulk_undo_leads_back_to_the_filters(alice: User, memory: Memory) -> None:
    client, back = signed_in(alice), "/memory/long-term/?kind=fact"
    given = {"ids": [memory.public_id], "do": "disable", "next": back}
    page = text_of(client.post(address("memory_bulk"), given, follow=True))
    undo = page.split('action="/memory/long-term/undo/')[1].split('"')[0]
    assert client.post(f"/memory/long-term/undo/{undo}")["Location"] == back


def test_a_bulk_act_without_a_tick_changes_nothing(alice: User, memory: Memory) -> None:
    response = signed_in(alice).post(address("memory_bulk"), {"do": "recycle"}, follow=True)
    assert "Nothing was selected." in text_of(response)
    memory.refresh_from_db()
    assert memory.deleted_at is None


@pytest.mark.parametrize("given", [{"do": "explode"}, {"do": "tag", "tag": ""}, {}])
def test_a_bulk_act_that_makes_no_sense_is_refused(
    alice: User, memory: Memory, given: dict[str, str]
) -> None:
    chosen = {"ids": [memory.public_id], **given}
    response = signed_in(alice).post(address("memory_bulk"), chosen, follow=True)
    assert response.status_code == 200
    assert "toast--error" in text_of(response)


def test_a_memory_that_is_wrong_can_be_edited_disabled_or_forgotten_at_once(alice: User) -> None:
    memory = make_memory(alice, "Plays the cello")
    browser = signed_in(alice)
    page = text_of(browser.get(address("memory_page", memory.public_id)))
    assert 'id="offer"' not in page
    way = address("memory_rate", memory.public_id)
    answer = browser.post(way, {"rating": "negative", "next": address("memory_home")})
    assert answer.status_code == 302
    page = text_of(browser.get(address("memory_page", memory.public_id)))
    offer = page.split('id="offer"')[1].split("</section>")[0]
    for name in ("edit", "disable", "forget"):
        assert address(f"memory_{name}", memory.public_id) in offer
