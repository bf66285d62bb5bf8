from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from conversations.forgetting import message_forgets
from conversations.models import Episode, Message, Summary
from memories.forgetting import memory_forgets
from memories.models import LexicalEntry, Memory, TargetKind, Vector
from ops import audit_chain, audit_log
from ops.access import as_system, as_user
from ops.accounts import keys, users
from ops.disk import cluster
from ops.models import (
    ApiKey,
    AuditEvent,
    AuditSeal,
    Kind,
    Operation,
    Receipt,
    Status,
    User,
    UserSettings,
)
from ops.pages import operation_rows
from ops.queue import outbox
from ops.queue.worker import drain
from ops.transfer import exports
from tests.factories import (
    make_conversation,
    make_episode,
    make_memory,
    make_summary,
    make_turn,
)

PASSWORD = "correct-horse-battery"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def maya(db: None) -> User:
    cache.clear()
    return users.register(username="maya", password=PASSWORD, language="en")


@pytest.fixture
def client(maya: User) -> Client:
    client = Client()
    client.post("/signin/", {"username": "maya", "password": PASSWORD})
    return client


@pytest.fixture
def said(maya: User) -> Memory:
    """One conversation of two messages, its summary and episode, and a memory."""
    conversation = make_conversation(maya, title="Trip to Hangzhou")
    turn = make_turn(conversation, "I am allergic to peanuts.")
    make_episode(turn)
    make_summary(conversation, "Peanuts were talked about.", through=2)
    return make_memory(maya, "Allergic to peanuts", turns=[turn])


def failed(user: User, kind: Kind = Kind.CLEANUP) -> Operation:
    operation = outbox.enqueue(kind, subject=user.subject, payload={})
    changes = {"status": Status.FAILED, "last_error": "It broke off (OperationalError)."}
    Operation.objects.filter(pk=operation.pk).update(**changes)
    return operation


def test_the_settings_say_what_is_kept_and_what_on_and_off_mean(
    client: Client, said: Memory
) -> None:
    page = client.get("/settings/").text
    assert "1 memory is kept, including disabled, outdated and deleted ones." in page
    assert "1 summary is kept." in page
    assert "1 earlier moment is kept." in page
    assert (page.count("If you turn it off:"), page.count("If you turn it on:")) == (3, 1)
    users.change_settings(user=said.user, changes={"longterm_enabled": False})
    off = client.get("/settings/").text
    assert (off.count("If you turn it off:"), off.count("If you turn it on:")) == (2, 2)
    now = '<span class="switch__does">'
    assert f"{now}What will still matter" in page and f"{now}Off now: Nothing new is learned" in off
    assert "Delete what is stored" not in page


def test_memories_are_counted_apart_as_in_the_lists(client: Client, maya: User) -> None:
    now = timezone.now()
    for status in ("active", "disabled", "candidate", "superseded", "archived"):
        make_memory(maya, f"Is {status}", status=status)
    make_memory(maya, "Is deleted", deleted_at=now, purge_at=now + timedelta(days=7))
    page = client.get("/memory/data/").text
    amounts = page.split('id="stored"')[1].split("</table>")[0]
    found = re.findall(
        r'<th scope="row">(Memories[^<]*)</th>.*?amounts__number">(\d+)<', amounts, re.DOTALL
    )
    assert found == [
        ("Memories in use", "1"),
        ("Memories disabled or expired", "1"),
        ("Memories waiting for your review", "1"),
        ("Memories outdated or archived", "2"),
        ("Memories in the recycle bin", "1"),
    ]
    assert "1 thing remembered" in client.get("/memory/long-term/").text


PAGES = [
    "/memory/data/",
    "/memory/data/everything/",
    "/memory/data/conversations/",
    "/memory/data/layers/memory/delete/",
    "/settings/",
    "/settings/keys/",
    "/memory/receipts/rcpt_1/",
]


@pytest.mark.parametrize("address", PAGES)
def test_pages_are_for_those_who_are_signed_in(address: str, db: None) -> None:
    answer = Client().get(address)
    assert answer.status_code == 302
    assert answer["Location"] == f"/signin/?next={address}"


@pytest.mark.parametrize("address", [page for page in PAGES if "receipt" not in page])
def test_pages_open_and_are_kept_by_no_cache(address: str, client: Client, said: Memory) -> None:
    answer = client.get(address, follow=True)
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]


def test_a_switch_goes_off_and_on_by_a_plain_form(client: Client, maya: User) -> None:
    answer = client.post("/settings/switches/longterm_enabled/", {}, follow=True)
    assert not users.settings_of(maya).longterm_enabled
    assert "Long-term memory is off." in answer.text
    client.post("/settings/switches/longterm_enabled/", {"longterm_enabled": "on"})
    assert users.settings_of(maya).longterm_enabled


def test_a_switch_by_htmx_answers_the_switches_and_the_head(client: Client, said: Memory) -> None:
    headers = HTMX | {"HX-Target": "switches"}
    answer = client.post("/settings/switches/longterm_enabled/", {}, headers=headers)
    assert "<html" not in answer.text
    assert 'id="switches"' in answer.text
    assert "Long-term memory is off." in answer.text
    assert "Delete what is stored" in answer.text
    assert "HX-Target" in answer["Vary"]


def test_there_are_no_other_switches(client: Client) -> None:
    assert client.post("/settings/switches/is_staff/", {"is_staff": "on"}).status_code == 404


def test_preferences_are_kept(client: Client, maya: User) -> None:
    data = {"language": "zh-hans", "timezone": "Asia/Shanghai", "theme": "dark"}
    answer = client.post("/settings/preferences/", data)
    assert answer["Location"] == "/settings/#preferences"
    own = users.settings_of(maya)
    assert (own.language, own.timezone, own.theme) == ("zh-hans", "Asia/Shanghai", "dark")


def test_the_first_sign_in_asks_for_language_and_time_zone_alone(client: Client) -> None:
    page = client.get("/welcome/").content.decode()
    form = page.split('<form class="form"')[1].split("</form>")[0]
    assert 'name="language"' in form and 'name="theme"' not in form
    assert 'name="display_name"' not in form
    assert "Same as the browser" not in form and "data-time-zone-field" in form


_OPEN = "Two questions from the first page are still open"


@pytest.mark.parametrize("way", ["answered", "dismissed"])
def test_an_owner_who_left_the_first_questions_is_offered_them_again(
    client: Client, maya: User, way: str
) -> None:
    pages = ("/", "/memory/")
    UserSettings.objects.filter(user=maya).update(language="")  # not answered yet
    cache.clear()
    assert all(_OPEN not in client.get(page).text for page in pages)  # maya isn't an owner
    User.objects.filter(pk=maya.pk).update(is_superuser=True)
    for page in pages:
        shown = client.get(page, follow=True).text
        assert _OPEN in shown, page
        assert f"/welcome/?next={page}" in shown, page
    if way == "answered":
        client.post("/settings/preferences/", {"language": "en", "timezone": "Europe/Prague"})
    else:
        assert client.post("/welcome/", {"next": "/memory/"})["Location"] == "/memory/"
    assert all(_OPEN not in client.get(page).text for page in pages)


def test_the_name_that_pages_show_is_the_persons_own(client: Client, maya: User) -> None:
    assert f"{maya.username}’s memory" in client.get("/memory/").text
    assert client.post("/settings/preferences/", {"display_name": " Dana  B "}).status_code == 302
    page = client.get("/memory/").text
    assert "Dana B’s memory" in page
    assert '<p class="menu__title truncate">Dana B</p>' in page
    assert 'value="Dana B"' in client.get("/settings/").text
    maya.refresh_from_db()
    assert (maya.display_name, maya.username) == ("Dana B", "maya")
    client.post("/settings/preferences/", {"theme": "dark"})
    assert "Dana B’s memory" in client.get("/memory/").text
    client.post("/settings/preferences/", {"display_name": ""})
    assert "maya’s memory" in client.get("/memory/").text


def test_a_name_that_is_too_long_changes_nothing(client: Client, maya: User) -> None:
    sent = {"display_name": "x" * 151, "theme": "dark"}
    answer = client.post("/settings/preferences/", sent)
    assert answer.status_code == 422
    assert 'id="id_display_name_error"' in answer.text
    maya.refresh_from_db()
    assert (maya.display_name, users.settings_of(maya).theme) == ("", "auto")


def test_wrong_preferences_change_nothing(client: Client, maya: User) -> None:
    data = {"language": "xx", "timezone": "Mars/Phobos", "theme": "dark"}
    answer = client.post("/settings/preferences/", data)
    assert answer.status_code == 422
    assert "field__errors" in answer.text
    assert users.settings_of(maya).theme == "auto"


def test_a_setting_that_is_not_sent_stays(client: Client, maya: User) -> None:
    users.change_settings(user=maya, changes={"theme": "dark"})
    client.post("/settings/preferences/", {"timezone": "Asia/Shanghai"})
    own = users.settings_of(maya)
    assert (own.timezone, own.theme, own.language) == ("Asia/Shanghai", "dark", "en")


def test_an_unusual_time_zone_of_a_browser_is_taken_and_a_wrong_one_is_named(
    client: Client, maya: User
) -> None:
    assert client.post("/settings/preferences/", {"timezone": "Etc/GMT-8"}).status_code == 302
    for wrong in ("Etc/Nowhere", "Mars/Phobos", ""):
        answer = client.post("/settings/preferences/", {"timezone": wrong})
        assert answer.status_code == 422
        assert 'id="id_timezone_error"' in answer.text
    assert users.settings_of(maya).timezone == "Etc/GMT-8"


def test_a_time_zone_is_offered_until_one_is_chosen(client: Client, maya: User) -> None:
    offer = "data-time-zone-offer"
    assert offer in client.get("/settings/").text
    assert offer in client.get("/memory/").text
    answer = client.post("/settings/preferences/", {"timezone": "UTC", "next": "/memory/"})
    assert answer["Location"] == "/memory/"
    assert offer not in client.get("/settings/").text
    elsewhere = Client()
    elsewhere.force_login(maya)
    assert offer in elsewhere.get("/settings/").text
    elsewhere.post("/settings/preferences/", {"timezone": "Asia/Shanghai"})
    elsewhere.cookies.pop("time_zone_chosen")
    assert offer not in elsewhere.get("/settings/").text


def test_the_settings_lead_to_password_second_step_keys_and_webhooks(
    client: Client, maya: User
) -> None:
    keys.create(user=maya, name="Notebook", scopes=["read"])
    page = client.get("/settings/").text
    for address in ("sessions/#password-title", "signin/", "sessions/", "keys/", "webhooks/"):
        assert f'href="/settings/{address}"' in page
    assert '<span class="more-settings__state">Off</span>' in page
    assert '<span class="more-settings__state">1</span>' in page


def test_a_theme_is_kept_with_the_person_or_in_a_cookie(client: Client, maya: User) -> None:
    answer = client.post("/settings/theme/", {"theme": "dark", "next": "/memory/data/"})
    assert answer["Location"] == "/memory/data/"
    assert users.settings_of(maya).theme == "dark"
    visitor = Client()
    visitor.post("/settings/theme/", {"theme": "light"})
    assert 'data-theme="light"' in visitor.get("/signin/").text
    visitor.post("/settings/theme/", {"theme": "<script>"})
    assert 'data-theme="light"' in visitor.get("/signin/").text


def test_a_language_is_kept_with_the_person_or_in_a_cookie(client: Client, maya: User) -> None:
    answer = client.post("/i18n/setlang/", {"language": "zh-hans", "next": "/memory/data/"})
    assert answer["Location"] == "/memory/data/"
    assert users.settings_of(maya).language == "zh-hans"
    assert "数据管理" in client.get("/memory/data/").text
    visitor = Client()
    visitor.post("/i18n/setlang/", {"language": "zh-hans"})
    assert 'lang="zh-hans"' in visitor.get("/signin/").text


def test_what_runs_is_looked_at_again_and_what_is_done_is_not(client: Client, maya: User) -> None:
    operation = outbox.enqueue(Kind.SUMMARIZE, subject=maya.subject, payload={})
    assert 'hx-trigger="every 2s"' in client.get("/memory/data/").text
    outbox.cancel(operation)
    headers = HTMX | {"HX-Target": "activity"}
    fragment = client.get("/memory/data/", headers=headers).text
    assert "<html" not in fragment
    assert "every 2s" not in fragment


def test_what_waits_for_long_is_not_looked_at_again(client: Client, maya: User) -> None:
    later = timezone.now() + timedelta(minutes=30)
    outbox.enqueue(Kind.CLEANUP, subject=maya.subject, payload={}, run_after=later)
    assert "every 2s" not in client.get("/memory/data/").text


def test_a_failure_is_told_in_plain_words_and_tried_again(client: Client, maya: User) -> None:
    operation = failed(maya)
    page = client.get("/memory/data/").text
    assert "The database could not be reached." in page
    client.post(f"/memory/data/operations/{operation.public_id}/retry/")
    operation.refresh_from_db()
    assert operation.status == Status.PENDING


def test_what_waits_can_be_cancelled_unless_it_forgets(client: Client, maya: User) -> None:
    plain = outbox.enqueue(Kind.CLEANUP, subject=maya.subject, payload={})
    memory = make_memory(maya, "Allergic to peanuts")
    with as_user(maya):
        forget = memory_forgets.forget_memory(user=maya, memory=memory)
    for operation in (plain, forget):
        answer = client.post(f"/memory/data/operations/{operation.public_id}/cancel/", follow=True)
        operation.refresh_from_db()
    assert plain.status == Status.CANCELLED
    assert forget.status == Status.PENDING
    assert "never a forget" in answer.text


def test_an_export_that_waits_is_cancelled_where_it_stands(client: Client, maya: User) -> None:
    with as_user(maya):
        export = exports.request_export(user=maya, format="json", actor="user", surface="page")
    address = f"/memory/data/operations/{export.operation.public_id}/cancel/"
    transfers = client.get("/memory/data/").text.partition('id="transfers"')[2]
    assert address in transfers.partition('id="activity"')[0]
    client.post(address)
    transfers = client.get("/memory/data/").text.partition('id="transfers"')[2]
    assert "transfer__line" not in transfers.partition('id="activity"')[0]


@pytest.mark.parametrize("act", ["retry", "cancel"])
def test_operations_of_others_are_not_there(client: Client, mallory: User, act: str) -> None:
    operation = failed(mallory)
    answer = client.post(f"/memory/data/operations/{operation.public_id}/{act}/")
    assert answer.status_code == 404
    operation.refresh_from_db()
    assert operation.status == Status.FAILED
    assert operation.public_id not in client.get("/memory/data/").text


def test_learning_without_trouble_is_one_line(maya: User) -> None:
    for kind in (Kind.EXTRACT_TURN, Kind.INDEX_EPISODE, Kind.EXTRACT_TURN):
        outbox.enqueue(kind, subject=maya.subject, payload={})
    Operation.objects.update(status=Status.SUCCEEDED)
    failed(maya, Kind.EXTRACT_TURN)
    lines, _upkeep = operation_rows.operation_lines(maya)
    assert [line.times for line in lines] == ["", "from 2 messages"]


def test_upkeep_stands_behind_details_unless_it_failed(client: Client, maya: User) -> None:
    outbox.enqueue(Kind.SYNC_FILES, subject=maya.subject, payload={})
    Operation.objects.update(status=Status.SUCCEEDED)
    activity, upkeep = client.get("/memory/data/").text.split("Background maintenance")
    assert "Sync the memory files" in upkeep and "Sync the memory files" not in activity
    Operation.objects.update(status=Status.FAILED)
    page = client.get("/memory/data/").text
    assert "Sync the memory files" in page and "Background maintenance" not in page


def test_all_receipts_can_be_shown(client: Client, maya: User) -> None:
    with as_user(maya):
        for number in range(12):
            memory = make_memory(maya, f"Plays the cello {number}")
            memory_forgets.forget_memories(user=maya, memories=[memory])
    drain()
    few, every = (client.get(f"/memory/data/{query}").text for query in ("", "?receipts=all"))
    assert few.count("/memory/receipts/") < every.count("/memory/receipts/")
    assert every.count("/memory/receipts/") - few.count("/memory/receipts/") == 2
    assert "?receipts=all#receipts" in few and "?receipts=all#receipts" not in every


def test_two_receipts_in_the_list_are_told_apart(client: Client, maya: User) -> None:
    key, _text = keys.create(name="My notebook", scopes=["forget"], user=maya)
    with as_user(maya):
        memories = [make_memory(maya, f"Plays the cello {number}") for number in range(3)]
        for actor, chosen in (("user", memories[:1]), (f"key {key.pk}", memories[1:])):
            with audit_log.use_actor(actor, "page"):
                memory_forgets.forget_memories(user=maya, memories=chosen)
    drain()
    page = client.get("/memory/data/").text
    assert "1 memory · requested by you" in page
    assert "2 memories · requested by the program “My notebook”" in page
    assert all(f"…{one.public_id[-4:]}</p>" in page for one in Receipt.objects.all())
    assert "cello" not in page


def test_forgetting_shows_its_steps_and_leads_to_its_receipt(client: Client, said: Memory) -> None:
    with as_user(said.user):
        operation = memory_forgets.forget_memory(user=said.user, memory=said)
    drain()
    receipt = Receipt.objects.get(operation=operation)
    page = client.get("/memory/data/").text
    assert "Memories and everything derived from them" in page
    assert f"/memory/receipts/{receipt.public_id}/" in page
    shown = client.get(f"/memory/receipts/{receipt.public_id}/").text
    assert receipt.hash in shown
    local = timezone.localtime(receipt.finished_at)
    assert f"{local.day} {local:%B %Y}, {local:%H:%M} (UTC)" in shown
    assert "A memory was forgotten" in shown
    assert "the messages it came from" in shown
    assert "peanuts" not in shown


@pytest.mark.parametrize("layer", ["summary", "episode"])
def test_a_receipt_says_nothing_in_raw_names(client: Client, maya: User, layer: str) -> None:
    with as_user(maya):
        operation, _count = message_forgets.delete_layer(user=maya, layer=layer)
        counts = {"files:copy": 1, "files:memoryfile_line": 2, "memories_memory": 3}
        audit_chain.note_step(operation, step="copies", counts=counts)
    drain()
    receipt = Receipt.objects.get()
    shown = client.get(f"/memory/receipts/{receipt.public_id}/").text
    plain, details = shown.split('<details class="receipt__more">')
    for page in (shown, client.get("/memory/data/").text):
        assert f"{layer}_layer" not in page
    assert "were deleted" in plain and "Memories" in plain and "Lines in files" not in plain
    assert "Copies of files" in details and "Lines in files" in details
    assert "<dt>copy</dt>" not in shown and receipt.hash in details


def test_a_receipt_is_downloaded_with_all_that_its_hash_covers(
    client: Client, said: Memory
) -> None:
    with as_user(said.user):
        memory_forgets.forget_memory(user=said.user, memory=said)
    drain()
    receipt = Receipt.objects.get()
    answer = client.get(f"/memory/receipts/{receipt.public_id}/download/")
    assert answer.json()["hash"] == receipt.hash
    assert answer.json()["erased"] == receipt.erased
    assert "attachment" in answer["Content-Disposition"]


SECOND_LINES = [
    ("en", "this receipt will then say so", "Gone from the data folder since"),
    ("zh-hans", "届时本回执会写明结果", "数据文件夹里已没有它"),
]


@pytest.mark.parametrize(("language", "waiting", "gone"), SECOND_LINES)
def test_a_receipt_has_a_second_line_about_the_data_folder(
    client: Client, said: Memory, language: str, waiting: str, gone: str
) -> None:
    with as_user(said.user):
        memory_forgets.forget_memory(user=said.user, memory=said)
        users.change_settings(user=said.user, changes={"language": language})
    drain()
    receipt = Receipt.objects.get()
    address = f"/memory/receipts/{receipt.public_id}/"
    assert waiting in client.get(address).text
    assert client.get(f"{address}download/").json()["data_folder"]["status"] == "waiting"
    looked = {"files": 345, "bytes": 5_000_000, "found": 0}
    with as_system():
        audit_log.record("disk.gone", subject=None, target=receipt.public_id, details=looked)
    page = client.get(address).text
    assert gone in page and "345" in page and waiting not in page
    told = client.get(f"{address}download/").json()["data_folder"]
    assert (told["status"], told["scan"]) == ("gone", looked)
    assert told["event_hash"] == ""  # until it is sealed
    audit_chain.seal()
    sealed = AuditSeal.objects.get(event__action="disk.gone")
    told = client.get(f"{address}download/").json()["data_folder"]
    assert told["event_hash"] == sealed.hash.hex()


@pytest.mark.parametrize(
    ("language", "elsewhere"), [("en", "can’t be known from here"), ("zh-hans", "从这里无法得知")]
)
def test_where_the_database_is_elsewhere_a_receipt_says_that_it_cannot_be_known(
    client: Client,
    said: Memory,
    language: str,
    elsewhere: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "is_cluster_local", lambda: False)
    with as_user(said.user):
        memory_forgets.forget_memory(user=said.user, memory=said)
        users.change_settings(user=said.user, changes={"language": language})
    drain()
    address = f"/memory/receipts/{Receipt.objects.get().public_id}/"
    assert elsewhere in client.get(address).text


def test_receipts_of_others_are_not_there(client: Client, mallory: User) -> None:
    memory = make_memory(mallory, "Likes tea")
    with as_user(mallory):
        memory_forgets.forget_memory(user=mallory, memory=memory)
    drain()
    receipt = Receipt.objects.get()
    for tail in ("", "download/"):
        assert client.get(f"/memory/receipts/{receipt.public_id}/{tail}").status_code == 404


@pytest.mark.parametrize(
    ("layer", "counted", "model"),
    [("summary", "1 summary", Summary), ("episode", "1 earlier moment", Episode)],
)
def test_a_layer_goes_with_its_index_and_what_was_said_stays(
    client: Client,
    said: Memory,
    mallory: User,
    layer: str,
    counted: str,
    model: type[Summary] | type[Episode],
) -> None:
    theirs = make_turn(make_conversation(mallory), "I like tea.")
    make_episode(theirs)
    make_summary(theirs.conversation, "Tea.", through=2)
    address = f"/memory/data/layers/{layer}/delete/"
    assert counted in client.get(address).text
    assert client.post(address)["Location"] == "/memory/data/"
    assert not model.objects.filter(user=said.user).exists()
    drain()
    assert model.everything.filter(user=mallory).count() == 1
    assert not model.everything.filter(user=said.user).exists()
    kind = TargetKind(layer)
    for index in (Vector, LexicalEntry):
        assert not index.objects.filter(user=said.user, target_kind=kind).exists()
    assert Message.objects.filter(user=said.user).count() == 2
    receipt = Receipt.objects.get(subject=said.user.subject)
    assert (receipt.scope, receipt.scan["residue"]) == (f"{layer}_layer", 0)
    assert AuditEvent.objects.get(target=receipt.public_id).subject == said.user.subject
    assert client.post(address).status_code == 302


def test_all_memories_are_forgotten_and_others_keep_theirs(
    client: Client, said: Memory, mallory: User
) -> None:
    make_memory(mallory, "Likes tea")
    client.post("/memory/data/layers/memory/delete/")
    assert not Memory.visible.filter(user=said.user).exists()
    drain()
    assert not Memory.everything.filter(user=said.user).exists()
    assert Memory.objects.filter(user=mallory).count() == 1
    assert Message.objects.filter(user=said.user).count() == 2


def test_deleting_a_layer_in_a_dialog_leaves_by_htmx(client: Client, said: Memory) -> None:
    headers = HTMX | {"HX-Target": "dialogs"}
    dialog = client.get("/memory/data/layers/memory/delete/", headers=headers).text
    assert dialog.strip().startswith("<dialog")
    assert client.get("/memory/data/layers/other/delete/").status_code == 404


def test_a_conversation_is_found_to_be_deleted(client: Client, said: Memory, mallory: User) -> None:
    make_conversation(mallory, title="Trip of Mallory")
    page = client.get("/memory/data/conversations/?q=trip").text
    assert "Trip to Hangzhou" in page
    assert "Mallory" not in page
    assert "No conversation with that name" in client.get("/memory/data/conversations/?q=zzz").text


def test_a_key_is_shown_once_and_is_bound_to_its_maker(client: Client, maya: User) -> None:
    data = {"name": "notebook", "scopes": ["read", "forget"], "days": "30"}
    answer = client.post("/settings/keys/", data)
    made = ApiKey.objects.get(user=maya)
    text = answer.text.split('id="made-key">')[1].split("<")[0]
    assert keys.authenticate(text) == made
    assert made.scopes == ["forget", "read"]
    assert made.expires_at is not None
    assert text not in client.get("/settings/keys/").text


@pytest.mark.parametrize(
    "wrong", [{"name": ""}, {"scopes": []}, {"scopes": ["admin"]}, {"scopes": ["signin"]}]
)
def test_a_key_made_wrongly_is_a_422(client: Client, maya: User, wrong: dict[str, object]) -> None:
    data = {"name": "notebook", "scopes": ["read"], "days": "0"} | wrong
    answer = client.post("/settings/keys/", data)
    assert answer.status_code == 422
    assert "field__errors" in answer.text
    assert not ApiKey.objects.filter(user=maya).exists()


def test_revoking_asks_first_and_is_for_own_keys_only(
    client: Client, maya: User, mallory_key: str
) -> None:
    key, text = keys.create(name="notebook", scopes=["read"], user=maya)
    assert "notebook" in client.get(f"/settings/keys/{key.pk}/revoke/").text
    assert keys.authenticate(text) == key
    client.post(f"/settings/keys/{key.pk}/revoke/")
    assert keys.authenticate(text) is None
    theirs = keys.authenticate(mallory_key)
    assert theirs is not None
    for method in (client.get, client.post):
        assert method(f"/settings/keys/{theirs.pk}/revoke/").status_code == 404
    assert keys.authenticate(mallory_key) == theirs


def test_the_page_costs_as_many_queries_for_much_as_for_little(
    client: Client, said: Memory
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get("/memory/data/")
        return len(captured)

    user = said.user
    with as_user(user):
        memory_forgets.forget_memory(user=user, memory=make_memory(user, "One"))
    drain()
    queries()
    few = queries()
    for number in range(6):
        with as_user(user):
            memory_forgets.forget_memory(user=user, memory=make_memory(user, f"Number {number}"))
        drain()
        failed(user)
        make_turn(make_conversation(user), f"Said {number}")
    assert queries() == few


def test_the_page_says_by_which_method_it_learns(client: Client, settings: Settings) -> None:
    assert "writes summaries without the language model" in client.get("/settings/").text
    settings.LANGUAGE_METHOD, settings.MODEL_NAME = "model", "qwen3-8b"
    page = client.get("/settings/").text
    assert "with the language model qwen3-8b" in page
    assert "without the language model" not in page


def test_a_key_form_that_is_sent_again_creates_no_second_key(alice: User) -> None:
    browser = Client()
    browser.force_login(alice)
    page = browser.get(reverse("api_keys")).content.decode()
    once = re.search(r'name="once" value="([^"]+)"', page)
    assert once is not None
    typed = {"name": "Oboe", "scopes": ["read"], "days": "30", "once": once[1]}
    assert "mc_" in browser.post(reverse("api_keys"), typed).content.decode()
    again = browser.post(reverse("api_keys"), typed)
    assert again.status_code == 302
    assert ApiKey.objects.filter(user=alice).count() == 1
