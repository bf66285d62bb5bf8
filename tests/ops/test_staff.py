"""What auditors and owners see and do in the admin, and that an owner is left."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from foundation.errors import Conflict, NotFound
from memcenter.compat.mem0.people import name_of
from memcenter.rest import people
from memories.forgetting import memory_forgets
from ops import selectors
from ops.access import as_user
from ops.accounts import keys, users
from ops.forgetting import person_forgets
from ops.models import ApiKey, AuditEvent, Kind, ModelCall, Operation, Role, Status, User
from ops.queue import outbox, worker
from tests.factories import make_memory
from tests.memcenter.rest.client import Api

pytestmark = pytest.mark.django_db
PASSWORD = "a-long-enough-password"

QUEUE, AUDIT = (reverse(f"admin:{name}_changelist") for name in ("ops_operation", "ops_auditevent"))


def member(role: str) -> Client:
    users.register(username=role, password=PASSWORD)
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
    reveal = reverse("admin:memories_memory_reveal", args=[memory.pk])
    for page in ("changelist", "change"):
        args = [memory.pk] if page == "change" else []
        shown = auditor.get(reverse(f"admin:memories_memory_{page}", args=args)).text
        assert "••• 9 characters" in shown and "Likes tea" not in shown
        assert reveal not in shown and 'value="lock"' not in shown
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
    client = member("owner")
    owner = User.objects.get(username="owner")
    lock = {"action": "lock", "_selected_action": [owner.pk, alice.pk]}
    client.post(reverse("admin:ops_user_changelist"), lock)
    on = set(User.objects.filter(is_active=True).values_list("username", flat=True))
    assert on == {"owner"}
    with pytest.raises(Conflict):
        users.set_active(user=owner, is_active=False)


def test_one_of_two_owners_is_switched_off_and_on_again() -> None:
    member("owner")
    users.register(username="second", password=PASSWORD)
    second = User.objects.get(username="second")
    users.give_role(second, Role.OWNER)
    users.set_active(user=second, is_active=False)
    assert not User.objects.get(pk=second.pk).is_active
    users.set_active(user=second, is_active=True)
    assert User.objects.get(pk=second.pk).is_active
    told = AuditEvent.objects.filter(subject=second.subject, target=f"user {second.pk}")
    assert [one.action for one in told.order_by("pk")] == ["user.lock", "user.unlock"]


def test_the_admin_has_no_way_of_its_own_to_a_new_password() -> None:
    """It would end no session elsewhere, leave no event and no line in the ledger."""
    owner = member("owner")
    new = {"old_password": PASSWORD} | dict.fromkeys(
        ("new_password1", "new_password2"), "another-long-password"
    )
    answer = owner.post(reverse("admin:password_change"), new)
    assert (answer.status_code, answer["Location"]) == (302, reverse("session_list"))
    assert User.objects.get(username="owner").check_password(PASSWORD)


def test_an_owner_tries_all_that_failed_again_by_one_click(failed: Operation) -> None:
    owner = member("owner")
    again = reverse("admin:ops_operation_again", args=["cleanup"])
    assert again in owner.get(QUEUE).text
    assert owner.get(again).status_code == 405
    assert owner.post(again).status_code == 302
    failed.refresh_from_db()
    assert failed.status == Status.PENDING
    assert AuditEvent.objects.filter(action="operation.retry", target=failed.public_id).exists()


def test_an_owner_reveals_and_that_is_written_down(alice: User) -> None:
    memory = make_memory(alice, "Likes tea")
    owner = member("owner")
    shown = owner.post(reverse("admin:memories_memory_reveal", args=[memory.pk]), follow=True)
    assert "Likes tea" in shown.text
    assert AuditEvent.objects.filter(action="admin.reveal", subject=alice.subject).exists()


def test_a_role_is_given_and_taken_and_both_are_written_down(db: None) -> None:
    auditor = member("auditor")
    call_command("setrole", "auditor", "member", verbosity=0)
    assert auditor.get(QUEUE).status_code == 302
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
    [one] = selectors.model_costs(now=timezone.now())
    assert (one.step, one.calls, one.failed, one.tokens_in) == ("extract", 2, 1, 6)
    page = member("owner").get(reverse("admin:ops_modelcall_changelist"))
    assert "Model usage in the last 30 days" in page.text and "1.000000" in page.text


def test_the_queue_costs_as_many_statements_for_much_as_for_little(alice: User) -> None:
    owner = member("owner")

    def statements() -> int:
        with CaptureQueriesContext(connection) as found:
            owner.get(QUEUE)
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
        people.require_reachable(owner)


def test_somebody_who_is_no_staff_is_offered_no_admin(alice: User) -> None:
    client = Client()
    client.force_login(alice)
    assert reverse("admin:index") not in client.get(reverse("memory_home")).text


def test_the_last_owner_is_not_demoted_until_there_is_another_one() -> None:
    owner = first_owner()
    with pytest.raises(CommandError, match="last owner"):
        call_command("setrole", "demo", "member")
    member("owner")
    call_command("setrole", "demo", "auditor")
    owner.refresh_from_db()
    assert not owner.is_superuser and owner.is_staff
    with pytest.raises(CommandError, match="last owner"):
        call_command("setrole", "owner", "member")


def test_an_owner_who_is_switched_off_or_being_forgotten_does_not_count() -> None:
    owner, other = first_owner(), users.register(username="other", password=PASSWORD)
    for gone in ({"is_active": False}, {"hidden_at": timezone.now()}):
        users.give_role(other, Role.OWNER)
        User.objects.filter(pk=other.pk).update(**gone)
        with pytest.raises(Conflict, match="last owner"):
            users.set_active(user=owner, is_active=False)
        User.objects.filter(pk=other.pk).update(is_active=True, hidden_at=None)


def test_nobody_locks_the_last_owner_in_the_admin_and_others_are_signed_out() -> None:
    owner, client = first_owner(), member("owner")
    alice = users.find_or_create("alice")
    own = User.objects.get(username="owner")
    signed_in = Client()
    signed_in.force_login(owner)
    people = reverse("admin:ops_user_changelist")
    lock = {"action": "lock", "_selected_action": [owner.pk, own.pk, alice.pk]}
    assert "2 were changed." in client.post(people, lock, follow=True).text
    assert set(User.objects.filter(is_active=False)) == {owner, alice}
    unlock = {"action": "unlock", "_selected_action": [owner.pk]}
    client.post(people, unlock)
    assert signed_in.get(reverse("settings_page")).status_code == 302
    call_command("setrole", "owner", "auditor")
    client.post(people, lock | {"_selected_action": [owner.pk]})
    assert User.objects.get(pk=owner.pk).is_active


@pytest.mark.django_db(transaction=True)
def test_of_two_owners_who_go_at_once_one_stays() -> None:
    people = [first_owner(), users.register(username="other", password=PASSWORD)]
    users.give_role(people[1], Role.OWNER)
    both = threading.Barrier(2)

    def go(user: User) -> str:
        try:
            both.wait()
            with as_user(user, changing=True):
                person_forgets.forget_user(user=user)
        except Conflict as refused:
            return refused.message
        finally:
            connection.close()
        return ""

    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(go, people))
    assert sorted(map(bool, said)) == [False, True]
    assert User.objects.filter(is_superuser=True, hidden_at=None).count() == 1


@pytest.mark.parametrize("way", ["page", "own key", "mem0"])
def test_an_owner_who_is_not_the_last_is_forgotten_and_the_last_is_not(way: str) -> None:
    owner = first_owner()
    user = users.register(username="other", password=PASSWORD)
    users.give_role(user, Role.OWNER)
    assert forgets(user, way)
    assert not forgets(owner, way)
    assert set(User.objects.filter(hidden_at=None)) == {owner}


def forgets(user: User, way: str) -> bool:
    """Ask for everything of this person to be forgotten; tell whether it was accepted."""
    if way == "page":
        user.set_password(PASSWORD)
        user.save()
        client = Client()
        client.force_login(user)
        form = {"password": PASSWORD, "phrase": "delete everything"}
        return client.post(reverse("forget_everything"), form).status_code == 302
    if way == "own key":
        own = Api(keys.create(name="own", scopes=["forget"], user=user)[1])
        return own.post("/memory/forget", {"scope": "user"}).status_code == 202
    _, text = keys.create(name="own", scopes=["forget", "read"], user=user)
    asked = Client(headers={"Authorization": f"Token {text}"})
    return asked.delete(f"/v2/entities/user/{name_of(user)}/").status_code == 200


def test_the_last_owner_is_not_forgotten_before_the_role_is_handed_over(client: Client) -> None:
    owner = first_owner()
    owner.set_password(PASSWORD)
    owner.save()
    client.force_login(owner)
    form = {"password": PASSWORD, "phrase": "delete everything"}
    asked = client.get(reverse("forget_everything"))
    answer = client.post(reverse("forget_everything"), form)
    assert (asked.status_code, answer.status_code) == (200, 422)
    for page in (asked, answer):
        assert "This can’t be done yet" in page.text
        assert "You are the only owner" in page.text and 'name="phrase"' not in page.text
        assert f'href="{reverse("people")}"' in page.text
    own = Api(keys.create(name="own", scopes=["forget"], user=owner)[1])
    assert own.post("/memory/forget", {"scope": "user"}).status_code == 409
    assert not Operation.objects.exists() and User.objects.get(pk=owner.pk).hidden_at is None
