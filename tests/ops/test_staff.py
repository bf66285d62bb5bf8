"""What auditors, operators and owners see and do in the admin."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from memcenter.lib.errors import Conflict, NotFound
from memcenter.rest.requests import people
from memories.forgetting import memory_forgets
from ops.access import as_user
from ops.accounts import keys, roles, users
from ops.admin import overview
from ops.models import ApiKey, AuditEvent, Kind, ModelCall, Operation, Status, User
from ops.queue import outbox, worker
from tests.factories import make_memory
from tests.memcenter.rest.client import Api

pytestmark = pytest.mark.django_db

QUEUE, AUDIT = (reverse(f"admin:{name}_changelist") for name in ("ops_operation", "ops_auditevent"))


def member(role: str) -> Client:
    users.register(username=role, password="a-long-enough-password")
    call_command("setrole", role, role, verbosity=0)
    client = Client()
    client.force_login(User.objects.get(username=role))
    return client


@pytest.fixture
def failed(alice: User) -> Operation:
    operation = outbox.enqueue(Kind.CLEANUP, subject=alice.subject, payload={})
    Operation.objects.filter(pk=operation.pk).update(status=Status.FAILED)
    return operation


def test_an_auditor_reads_what_was_done_and_nothing_that_was_said(alice: User) -> None:
    memory = make_memory(alice, "Likes tea")
    auditor = member("auditor")
    assert auditor.get(AUDIT).status_code == 200
    assert auditor.get(reverse("admin:memories_memory_changelist")).status_code == 403
    reveal = reverse("admin:memories_memory_reveal", args=[memory.pk])
    assert auditor.post(reveal).status_code == 404
    assert not AuditEvent.objects.filter(action="admin.reveal").exists()


def test_an_auditor_changes_nothing(failed: Operation) -> None:
    auditor = member("auditor")
    assert "Try again" not in auditor.get(QUEUE).text
    assert auditor.post(reverse("admin:ops_operation_again", args=["cleanup"])).status_code == 404
    auditor.post(QUEUE, {"action": "retry", "_selected_action": [failed.pk]})
    failed.refresh_from_db()
    assert failed.status == Status.FAILED


def test_the_last_active_owner_can_not_be_switched_off(alice: User) -> None:
    member("owner")
    operator = member("operator")
    owner = User.objects.get(username="owner")
    lock = {"action": "lock", "_selected_action": [owner.pk, alice.pk]}
    operator.post(reverse("admin:ops_user_changelist"), lock)
    on = set(User.objects.filter(is_active=True).values_list("username", flat=True))
    assert on == {"owner", "operator"}
    with pytest.raises(Conflict):
        users.set_active(user=owner, is_active=False)


def test_one_of_two_owners_is_switched_off_and_on_again() -> None:
    member("owner")
    users.register(username="second", password="a-long-enough-password")
    second = User.objects.get(username="second")
    roles.give(second, roles.Role.OWNER)
    users.set_active(user=second, is_active=False)
    assert not User.objects.get(pk=second.pk).is_active
    users.set_active(user=second, is_active=True)
    assert User.objects.get(pk=second.pk).is_active
    told = AuditEvent.objects.filter(subject=second.subject, target=f"user {second.pk}")
    assert [one.action for one in told.order_by("pk")] == ["user.lock", "user.unlock"]


def test_the_admin_has_no_way_of_its_own_to_a_new_password() -> None:
    """It would end no session elsewhere, leave no event and no line in the ledger."""
    owner = member("owner")
    new = {"old_password": "a-long-enough-password"} | dict.fromkeys(
        ("new_password1", "new_password2"), "another-long-password"
    )
    answer = owner.post(reverse("admin:password_change"), new)
    assert (answer.status_code, answer["Location"]) == (302, reverse("session_list"))
    assert User.objects.get(username="owner").check_password("a-long-enough-password")


def test_an_operator_tries_all_that_failed_again_by_one_click(failed: Operation) -> None:
    operator = member("operator")
    again = reverse("admin:ops_operation_again", args=["cleanup"])
    assert again in operator.get(QUEUE).text
    assert operator.get(again).status_code == 405
    assert operator.post(again).status_code == 302
    failed.refresh_from_db()
    assert failed.status == Status.PENDING
    assert AuditEvent.objects.filter(action="operation.retry", target=failed.public_id).exists()


def test_an_operator_reveals_and_that_is_written_down(alice: User) -> None:
    memory = make_memory(alice, "Likes tea")
    operator = member("operator")
    shown = operator.post(reverse("admin:memories_memory_reveal", args=[memory.pk]), follow=True)
    assert "Likes tea" in shown.text
    assert AuditEvent.objects.filter(action="admin.reveal", subject=alice.subject).exists()


def test_a_role_is_given_and_taken_and_both_are_written_down(db: None) -> None:
    operator = member("operator")
    call_command("setrole", "operator", "none", verbosity=0)
    assert operator.get(QUEUE).status_code == 302
    assert AuditEvent.objects.filter(action="staff.role").count() == 2
    with pytest.raises(CommandError, match="no login"):
        call_command("setrole", "nobody", "owner")


def test_whom_a_backend_key_reaches_is_never_staff(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(username="alice")
    with pytest.raises(CommandError, match="external id"):
        call_command("setrole", "alice", "owner")


def test_the_audit_log_says_what_was_forgotten_and_whether_it_is_done(alice: User) -> None:
    memory = make_memory(alice, "Likes tea")
    with as_user(alice):
        operation = memory_forgets.forget_memory(user=alice, memory=memory)
    auditor = member("auditor")
    page = f"{AUDIT}?deed=forgotten&q={alice.subject}"
    assert operation.public_id in (before := auditor.get(page).text)
    waiting, done = str(Status.PENDING.label), str(Status.SUCCEEDED.label)
    assert before.count(waiting) == auditor.get(page).text.count(waiting) > 0
    worker.drain()
    assert auditor.get(page).text.count(done) == before.count(done) + 1
    assert operation.public_id not in auditor.get(f"{AUDIT}?deed=keys").text
    assert operation.public_id not in auditor.get(f"{AUDIT}?through=key").text


def test_costs_are_told_by_day_and_step(db: None) -> None:
    for outcome in ("ok", "failed"):
        ModelCall.objects.create(
            step="extract", provider="p", model="m", input_tokens=3, cost="0.5", outcome=outcome
        )
    [one] = overview.spent(now=timezone.now())
    assert (one.step, one.calls, one.failed, one.tokens_in) == ("extract", 2, 1, 6)
    page = member("operator").get(reverse("admin:ops_modelcall_changelist"))
    assert "Model usage in the last 30 days" in page.text and "1.000000" in page.text


def test_the_queue_costs_as_many_statements_for_much_as_for_little(alice: User) -> None:
    operator = member("operator")

    def statements() -> int:
        with CaptureQueriesContext(connection) as found:
            operator.get(QUEUE)
        return len(found)

    outbox.enqueue(Kind.CLEANUP, subject=None, payload={})
    statements()
    few = statements()
    for _ in range(9):
        outbox.enqueue(Kind.REINDEX, subject=alice.subject, payload={})
    assert statements() == few


def first_owner() -> User:
    call_command("firstrun")
    return User.objects.get(username="demo")


def test_the_first_login_is_the_owner_whom_no_backend_key_reaches() -> None:
    owner = first_owner()
    client = Client()
    client.force_login(owner)
    assert client.get(reverse("admin:index")).status_code == 200
    assert f'href="{reverse("admin:index")}"' in client.get(reverse("memory_home")).text
    key = ApiKey.objects.get().pk
    assert ApiKey.objects.get(pk=key).user is None
    with pytest.raises(NotFound):
        people.reachable(owner)


def test_somebody_who_is_no_staff_is_offered_no_admin(alice: User) -> None:
    client = Client()
    client.force_login(alice)
    assert reverse("admin:index") not in client.get(reverse("memory_home")).text


def test_the_last_owner_is_not_demoted_until_there_is_another_one() -> None:
    owner = first_owner()
    with pytest.raises(CommandError, match="last owner"):
        call_command("setrole", "demo", "none")
    member("owner")
    call_command("setrole", "demo", "auditor")
    owner.refresh_from_db()
    assert not owner.is_superuser and owner.is_staff
    with pytest.raises(CommandError, match="last owner"):
        call_command("setrole", "owner", "none")


def test_an_owner_is_not_forgotten_before_the_role_is_handed_over(client: Client) -> None:
    owner = first_owner()
    owner.set_password("a-long-enough-password")
    owner.save()
    client.force_login(owner)
    form = {"password": "a-long-enough-password", "phrase": "delete everything"}
    answer = client.post(reverse("forget_everything"), form)
    assert answer.status_code == 422
    assert "This is an owner." in answer.text
    own = Api(keys.create(name="own", scopes=["forget"], user=owner)[1])
    assert own.post("/memory/forget", {"scope": "user"}).status_code == 409
    assert not Operation.objects.exists() and User.objects.get(pk=owner.pk).hidden_at is None
