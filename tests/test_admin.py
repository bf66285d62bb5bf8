"""The admin: everything is there to look at, nothing is said before somebody asks to see it."""

from __future__ import annotations

import re

import orjson
import pytest
from django.contrib import admin
from django.core.management import call_command
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from memories.models import Memory, VectorChange
from ops import audit_chain, audit_log
from ops.accounts import keys
from ops.models import (
    ApiKey,
    AuditEvent,
    AuditHead,
    AuditSeal,
    DiskKey,
    DiskTrace,
    ErasedRows,
    ErasedText,
    ErasureKey,
    Instance,
    Kind,
    Operation,
    Status,
    UnsealedEvent,
    User,
)
from ops.queue import outbox
from tests.factories import (
    make_conversation,
    make_episode,
    make_memory,
    make_summary,
    make_trace,
    make_turn,
)
from tests.rows import personal_models
from tests.rules.test_personal_data import our_models

# Keys and hashes of a forget under way, the audit log's chain, and numbers that another
# store is yet to be told: nobody's to see. The instance's one row shows above the operations.
INNER = (
    *(AuditHead, AuditSeal, UnsealedEvent, ErasedRows, ErasedText, ErasureKey, VectorChange),
    *(DiskKey, DiskTrace, Instance),
)
SHOWN = [model for model in our_models() if model not in INNER]
SECRET = "Mein Hund heißt Wölfchen"


@pytest.fixture
def staff(db: None) -> User:
    return User.objects.create_superuser("root", "a-long-enough-password")


@pytest.fixture
def browser(staff: User) -> Client:
    client = Client()
    client.force_login(staff)
    return client


@pytest.fixture
def said(alice: User) -> None:
    conversation = make_conversation(alice, title=SECRET)
    turn = make_turn(conversation, SECRET)
    make_episode(turn)
    make_summary(conversation, SECRET, through=2)
    memory = make_memory(alice, SECRET, turns=[turn], tags=[SECRET])
    make_trace(alice, SECRET, hits=[memory.public_id])


def address(model: type[Model], page: str, *args: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


@pytest.mark.parametrize("model", SHOWN, ids=lambda model: model.__name__)
def test_every_model_has_a_page(model: type[Model], browser: Client) -> None:
    assert model in admin.site._registry
    assert browser.get(address(model, "changelist")).status_code == 200


def test_the_admin_names_models_and_columns_in_chinese_and_leads_back(
    browser: Client, said: None
) -> None:
    page = browser.get(address(Memory, "changelist"), headers={"Accept-Language": "zh-Hans"}).text
    assert "审计记录" in page and "Audit events" not in page
    assert "类型" in page and "更新时间" in page
    assert "Memory Center" not in page and "Type to search" not in page
    assert "返回记忆中心" in page and f'href="{reverse("memory_home")}"' in page


@pytest.mark.parametrize("model", SHOWN, ids=lambda model: model.__name__)
def test_what_people_said_is_masked_in_lists_and_on_pages(
    model: type[Model], browser: Client, said: None
) -> None:
    pages = [address(model, "changelist")]
    pages += [address(model, "change", row.pk) for row in model._base_manager.all()[:3]]
    for page in pages:
        answer = browser.get(page)
        assert answer.status_code == 200
        assert SECRET not in answer.text
        assert "wölfchen" not in answer.text.casefold()


def test_a_mask_tells_how_much_there_is(browser: Client, said: None) -> None:
    memory = make_memory(User.objects.get(external_id="alice"), "x" * 132)
    assert "••• 132 characters" in browser.get(address(type(memory), "changelist")).text
    assert "••• 132 characters" in browser.get(address(type(memory), "change", memory.pk)).text


def test_revealing_shows_the_content_once_and_is_audited(
    browser: Client, alice: User, staff: User
) -> None:
    memory = make_memory(alice, SECRET)
    page = address(type(memory), "change", memory.pk)
    answer = browser.post(address(type(memory), "reveal", memory.pk), follow=True)
    assert SECRET in answer.text
    event = AuditEvent.objects.get(action="admin.reveal")
    assert event.actor == f"staff {staff.pk}"
    assert event.subject == alice.subject
    assert event.target == f"memories.memory {memory.public_id}"
    assert SECRET not in str(event.details)
    assert audit_chain.first_break() is None
    assert SECRET not in browser.get(page).text


def test_revealing_needs_a_post_and_a_row(browser: Client, alice: User) -> None:
    memory = make_memory(alice, SECRET)
    assert browser.get(address(type(memory), "reveal", memory.pk)).status_code == 405
    assert browser.post(address(type(memory), "reveal", 0)).status_code == 404
    assert not AuditEvent.objects.filter(action="admin.reveal").exists()


def test_what_one_reveal_opened_opens_nothing_else(browser: Client, alice: User) -> None:
    one, other = make_memory(alice, "The first one"), make_memory(alice, SECRET)
    browser.post(address(type(one), "reveal", one.pk))
    assert SECRET not in browser.get(address(type(other), "change", other.pk)).text


@pytest.mark.parametrize("model", personal_models(), ids=lambda model: model.__name__)
def test_nothing_personal_is_added_changed_or_deleted_here(
    model: type[Model], browser: Client, said: None
) -> None:
    assert browser.get(address(model, "add")).status_code == 403
    for row in model._base_manager.all()[:1]:
        assert browser.post(address(model, "change", row.pk), {}).status_code == 403
        assert browser.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
        assert model._base_manager.filter(pk=row.pk).exists()


def test_hidden_rows_are_not_shown(browser: Client, alice: User) -> None:
    memory = make_memory(alice, SECRET)
    type(memory).everything.update(hidden_at=memory.created_at)
    assert memory.public_id not in browser.get(address(type(memory), "changelist")).text
    assert browser.get(address(type(memory), "change", memory.pk)).status_code == 302


def test_secrets_are_never_on_a_page(browser: Client, alice: User) -> None:
    key, text = keys.create(name="phone", scopes=["read"], user=alice)
    answer = browser.get(address(ApiKey, "change", key.pk)).text
    assert key.digest not in answer and text not in answer
    alice.set_password("a-long-enough-password")
    alice.save()
    assert alice.password not in browser.get(address(User, "change", alice.pk)).text


@pytest.mark.parametrize("visitor", ["", "alice"])
def test_only_staff_get_in(visitor: str, alice: User) -> None:
    client = Client()
    if visitor:
        client.force_login(alice)
    answer = client.get(address(User, "changelist"))
    assert answer.status_code == 302
    assert "/admin/login/" in answer["Location"]


def test_a_failed_operation_is_tried_again_by_staff(browser: Client, alice: User) -> None:
    operation = outbox.enqueue(Kind.CLEANUP, subject=alice.subject, payload={})
    Operation.objects.filter(pk=operation.pk).update(status=Status.FAILED)
    data = {"action": "retry", "_selected_action": [operation.pk]}
    browser.post(address(Operation, "changelist"), data)
    operation.refresh_from_db()
    assert operation.status == Status.PENDING
    assert AuditEvent.objects.filter(action="operation.retry", target=operation.public_id).exists()


def test_staff_revoke_keys_and_lock_people_and_both_are_audited(
    browser: Client, alice: User, alice_key: str
) -> None:
    key = ApiKey.objects.get(user=alice)
    chosen = {"action": "revoke", "_selected_action": [key.pk]}
    browser.post(address(ApiKey, "changelist"), chosen)
    assert keys.authenticate(alice_key) is None
    browser.post(address(User, "changelist"), {"action": "lock", "_selected_action": [alice.pk]})
    alice.refresh_from_db()
    assert not alice.is_active
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert actions >= {"key.revoke", "user.lock"}


def test_the_audit_log_is_exported_as_json_lines(browser: Client, staff: User) -> None:
    event = audit_log.append("tried", actor="test", surface="test", subject=None)
    data = {"action": "export", "_selected_action": [event.pk]}
    answer = browser.post(address(AuditEvent, "changelist"), data)
    [line] = b"".join(answer.streaming_content).splitlines()  # type: ignore[attr-defined]
    told = orjson.loads(line)
    assert (told["number"], told["hash"]) == (event.seal.number, event.seal.hash.hex())
    assert "audit.jsonl" in answer["Content-Disposition"]


def test_a_member_of_the_staff_is_made_by_the_command(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "a-long-enough-password")
    call_command("createsuperuser", interactive=False, username="keeper", verbosity=0)
    made = User.objects.get(username="keeper")
    assert made.is_staff and made.is_superuser and made.external_id is None
    assert made.check_password("a-long-enough-password")


@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model._meta.label)
def test_the_plural_of_every_model_is_english(model: type[Model]) -> None:
    plural = str(model._meta.verbose_name_plural)
    assert not re.search(r"[^aeiou]ys$|ss$", plural), plural


def test_the_admin_has_the_colours_of_the_pages(settings: Settings) -> None:
    tokens = (settings.STATICFILES_DIRS[0] / "css" / "tokens.css").read_text()
    for shades in settings.UNFOLD["COLORS"].values():
        assert all(colour in tokens for colour in shades.values())
