"""A restored backup undoes no decision about access, and sends nothing until it may."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pyotp
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from foundation.embedded import backup
from foundation.embedded.postgres import wheel_binaries
from memories.files import memory_tool
from memories.models import Memory, MemoryFile
from memories.writing import curation
from ops import ledger, selectors, webhooks, weekly_mail
from ops.access import as_system, as_user
from ops.accounts import keys, registration, sign_ins, users
from ops.forgetting import person_forgets
from ops.models import (
    ApiKey,
    Identity,
    Invitation,
    Kind,
    Operation,
    Role,
    SecondFactor,
    SignIn,
    Status,
    User,
    UserSettings,
    Webhook,
    WeeklyMail,
)
from ops.queue import outbox, webhook_events, worker
from tests import databases
from tests.factories import make_memory

OLD, NEW = "a-long-enough-password", "another-long-password"
Drill = Callable[[Callable[[], object]], None]
Case = Iterator[None]


@pytest.fixture
def maya(transactional_db: None) -> Iterator[User]:
    """With a ledger of her own: what tests before wrote into it is of databases that are gone."""
    shutil.rmtree(ledger.path().parent, ignore_errors=True)
    with as_system():
        made = users.register(username="maya", password=OLD)
    yield made
    shutil.rmtree(ledger.path().parent, ignore_errors=True)


@pytest.fixture
def drill(maya: User, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Drill:
    """Make a backup, do something, and put the backup back."""
    where = backup.BackupTarget(
        url=databases.postgres.url("owner", database=connection.settings_dict["NAME"]),
        data=Path(settings.DATA_DIR),
        secret_key=settings.SECRET_KEY,
        tools=wheel_binaries(),
    )
    monkeypatch.setattr("memcenter.management.commands.backup.configured_instance", lambda: where)
    monkeypatch.setattr("memcenter.management.commands.restore.configured_instance", lambda: where)

    def run(change: Callable[[], object]) -> None:
        call_command("backup", tmp_path / "backup.tar")
        change()
        call_command("restore", tmp_path / "backup.tar", replace=True)

    return run


def key_of(maya: User) -> tuple[ApiKey, str]:
    with as_user(maya):
        return keys.create(name="laptop", scopes=["read", "write"], user=maya)


def turn_on(maya: User) -> list[str]:
    secret = sign_ins.new_secret()
    code = pyotp.TOTP(secret).now()
    return list(sign_ins.turn_on_second_factor(user=maya, secret=secret, code=code))


def signed_in(maya: User) -> Client:
    browser = Client()
    browser.post(reverse("sign_in"), {"username": maya.username, "password": OLD})
    assert browser.get(reverse("session_list")).status_code == 200
    return browser


def listen(maya: User) -> Webhook:
    with as_user(maya):
        return webhooks.create(
            user=maya, url="https://hooks.example/mc", events=["memory.created"], secret="s3"
        )


def tool(maya: User, command: dict[str, str]) -> None:
    planned = memory_tool.prepare(command, user=maya)
    with as_user(maya):
        planned()


# Each case has a person of its own and stops twice: where the backup is made, and after what was
# decided since. What follows is asked of the restored instance.


def a_revoked_key_stays_revoked(maya: User) -> Case:
    (key, text), (other, kept) = key_of(maya), key_of(maya)
    yield
    keys.revoke(key)
    yield
    ask = Client(headers={"Authorization": f"Bearer {text}"})
    assert ask.get("/api/v1/conversations").status_code == 401
    assert keys.authenticate(kept) == other


def a_key_that_may_do_less_since_may_do_no_more(maya: User) -> Case:
    key, text = key_of(maya)
    yield
    keys.change(key, changes={"scopes": ["read"]})
    yield
    found = keys.authenticate(text)
    assert found is not None and found.scopes == ["read"]


def a_key_that_must_name_the_person_since_must_do_so_again(maya: User) -> Case:
    key, text = key_of(maya)
    yield
    keys.change(key, changes={"requires_user": True})
    yield
    found = keys.authenticate(text)
    assert found is not None and found.requires_user


def somebody_who_was_switched_off_stays_so(maya: User) -> Case:
    _key, text = key_of(maya)
    yield
    users.set_active(user=maya, is_active=False)
    yield
    assert not User.objects.get(pk=maya.pk).is_active
    ask = Client(headers={"Authorization": f"Bearer {text}"})
    assert ask.get("/api/v1/conversations").status_code == 401


def an_old_password_opens_nothing(maya: User) -> Case:
    yield
    users.change_password(user=maya, password=NEW)
    yield
    assert not User.objects.get(subject=maya.subject).has_usable_password()


def a_password_that_the_command_replaced_opens_nothing(maya: User) -> Case:
    yield
    terminal = mock.patch("getpass.getpass", return_value=NEW)
    with terminal:
        call_command("changepassword", maya.username)
    assert User.objects.get(pk=maya.pk).check_password(NEW)
    yield
    assert not User.objects.get(pk=maya.pk).has_usable_password()


def a_session_that_was_ended_stays_ended(maya: User) -> Case:
    browser = signed_in(maya)
    yield
    sign_ins.end_session(user=maya, sign_in=SignIn.objects.get(user=maya).pk)
    yield
    assert browser.get(reverse("session_list")).status_code == 302


def sessions_that_were_ended_at_once_stay_ended(maya: User) -> Case:
    browser = signed_in(maya)
    yield
    sign_ins.end_all_sessions(maya)
    yield
    assert browser.get(reverse("session_list")).status_code == 302


def a_second_step_that_was_taken_off_shuts_nobody_out(maya: User) -> Case:
    turn_on(maya)
    yield
    sign_ins.turn_off_second_factor(maya)
    yield
    assert not SecondFactor.objects.filter(user=maya).exists()
    assert User.objects.get(pk=maya.pk).check_password(OLD)


def an_account_with_a_newer_second_step_does_not_open_by_its_password_alone(maya: User) -> Case:
    yield
    turn_on(maya)
    yield
    assert not User.objects.get(pk=maya.pk).has_usable_password()


def a_used_recovery_code_stays_used(maya: User) -> Case:
    code, other, *_ = turn_on(maya)
    yield
    sign_ins.use_second_factor_code(user=maya, code=code)
    yield
    again = User.objects.get(pk=maya.pk)
    assert not sign_ins.use_second_factor_code(user=again, code=code)
    assert sign_ins.use_second_factor_code(user=again, code=other)


def an_account_elsewhere_that_was_disconnected_stays_so(maya: User) -> Case:
    Identity.objects.create(user=maya, issuer="https://id.example", sub="maya-1")
    yield
    sign_ins.disconnect_identity(maya)
    yield
    assert not Identity.objects.filter(user=maya).exists()


def someone_who_is_no_longer_staff_stays_so(maya: User) -> Case:
    users.give_role(maya, Role.AUDITOR)
    yield
    users.give_role(maya, Role.MEMBER)
    yield
    assert users.role_of(User.objects.get(pk=maya.pk)) is Role.MEMBER


def an_operator_of_an_older_ledger_is_an_auditor(maya: User) -> Case:
    yield
    ledger.record_decision("role", maya.subject, role="operator")
    yield
    assert users.role_of(User.objects.get(pk=maya.pk)) is Role.AUDITOR


def an_invitation_that_was_used_or_revoked_opens_nothing(maya: User) -> Case:
    users.give_role(maya, Role.OWNER)
    used, revoked, kept = (registration.invite(user=maya, role=Role.MEMBER) for _ in range(3))
    yield
    registration.accept_invitation(used.token, username="guest", password=OLD, language="", zone="")
    registration.revoke_invitation(revoked.invitation)
    yield
    assert list(Invitation.objects.values_list("digest", flat=True)) == [kept.invitation.digest]


def registration_that_was_closed_stays_closed(maya: User) -> Case:
    registration.switch_registration(is_open=True)
    yield
    registration.switch_registration(is_open=False)
    yield
    assert not registration.is_registration_open()


def memory_that_was_switched_off_stays_off(maya: User) -> Case:
    yield
    users.change_settings(user=maya, changes={"longterm_enabled": False})
    yield
    assert not UserSettings.objects.get(user=maya).longterm_enabled


def deleted_memories_are_in_the_recycle_bin_again(maya: User) -> Case:
    gone, kept, back = (make_memory(maya, text) for text in ("Plays chess", "Likes tea", "Sings"))
    yield
    curation.recycle(user=maya, memory=gone)
    curation.recycle(user=maya, memory=back)
    curation.restore_from_bin(user=maya, memory=back)
    yield
    left = set(Memory.objects.filter(user=maya).values_list("public_id", flat=True))
    assert left == {kept.public_id, back.public_id}


def a_file_that_an_agent_deleted_stays_deleted(maya: User) -> Case:
    create = {"command": "create", "file_text": "Pack light."}
    tool(maya, create | {"path": "/memories/other.md"})
    tool(maya, create | {"path": "/memories/trip.md"})
    delete = {"command": "delete", "path": "/memories/trip.md"}
    planned = memory_tool.prepare(delete, user=maya)
    yield
    planned()
    yield
    left = MemoryFile.objects.filter(user=maya).values_list("path", flat=True)
    assert list(left) == ["other.md"]


def a_removed_webhook_stays_removed(maya: User) -> Case:
    hook = listen(maya)
    yield
    webhooks.remove(hook)
    yield
    assert not Webhook.objects.filter(user=maya).exists()


def a_webhook_that_leads_elsewhere_since_is_switched_off(maya: User) -> Case:
    hook = listen(maya)
    yield
    webhooks.change(hook, changes={"url": "https://new.example/mc"})
    yield
    assert not Webhook.objects.get(user=maya).is_active


def subscribed(maya: User, address: str = "maya@example.org") -> None:
    with as_user(maya, changing=True):
        weekly_mail.switch_on(user=maya, address=address, language="en")


def a_weekly_mail_that_was_switched_off_stays_off(maya: User) -> Case:
    subscribed(maya)
    yield
    weekly_mail.switch_off(maya)
    yield
    assert not WeeklyMail.objects.filter(user=maya).exists()


def a_weekly_mail_that_goes_elsewhere_since_is_off(maya: User) -> Case:
    subscribed(maya)
    yield
    weekly_mail.switch_on(user=maya, address="m@example.net", language="en")
    yield
    assert not WeeklyMail.objects.filter(user=maya).exists()


def a_weekly_mail_that_nobody_touched_stays_on(maya: User) -> Case:
    subscribed(maya)
    yield
    WeeklyMail.objects.filter(user=maya).update(confirmed_at=timezone.now())
    yield
    assert WeeklyMail.objects.filter(user=maya).exists()


CASES: tuple[Callable[[User], Case], ...] = (
    a_revoked_key_stays_revoked,
    a_key_that_may_do_less_since_may_do_no_more,
    a_key_that_must_name_the_person_since_must_do_so_again,
    somebody_who_was_switched_off_stays_so,
    an_old_password_opens_nothing,
    a_password_that_the_command_replaced_opens_nothing,
    a_session_that_was_ended_stays_ended,
    sessions_that_were_ended_at_once_stay_ended,
    a_second_step_that_was_taken_off_shuts_nobody_out,
    an_account_with_a_newer_second_step_does_not_open_by_its_password_alone,
    a_used_recovery_code_stays_used,
    an_account_elsewhere_that_was_disconnected_stays_so,
    someone_who_is_no_longer_staff_stays_so,
    an_operator_of_an_older_ledger_is_an_auditor,
    an_invitation_that_was_used_or_revoked_opens_nothing,
    registration_that_was_closed_stays_closed,
    memory_that_was_switched_off_stays_off,
    deleted_memories_are_in_the_recycle_bin_again,
    a_file_that_an_agent_deleted_stays_deleted,
    a_removed_webhook_stays_removed,
    a_webhook_that_leads_elsewhere_since_is_switched_off,
    a_weekly_mail_that_was_switched_off_stays_off,
    a_weekly_mail_that_goes_elsewhere_since_is_off,
    a_weekly_mail_that_nobody_touched_stays_on,
)
# A command opens its own transaction.
COMMANDS = (a_password_that_the_command_replaced_opens_nothing,)


# An owner decides about others.
OF_OTHERS = (an_invitation_that_was_used_or_revoked_opens_nothing,)


def test_what_was_decided_since_the_backup_holds_after_a_restore(maya: User, drill: Drill) -> None:
    people = [users.register(username=f"person-{n}", password=OLD) for n in range(len(CASES))]
    running = [case(person) for case, person in zip(CASES, people, strict=True)]
    for case in running:
        next(case)
    drill(lambda: decide(people, running))
    broken = {}
    for name, asked in zip((one.__name__ for one in CASES), running, strict=True):
        try:
            assert next(asked, "over") == "over"
        except AssertionError as error:
            broken[name] = str(error)
    assert broken == {}


def decide(people: list[User], running: list[Case]) -> None:
    for person, case, one in zip(people, CASES, running, strict=True):
        if case in COMMANDS:
            next(one)
            continue
        with as_system() if case in OF_OTHERS else as_user(person):
            next(one)


def test_a_restored_instance_sends_nothing_until_it_may(
    maya: User, drill: Drill, capsys: pytest.CaptureFixture[str]
) -> None:
    hook = listen(maya)
    with as_user(maya):
        webhook_events.test(hook.pk, subject=maya.subject)
    drill(lambda: None)
    assert "resumedeliveries" in capsys.readouterr().out
    waiting = Operation.objects.get(kind=Kind.DELIVER_WEBHOOK)
    assert (waiting.status, waiting.attempt) == (Status.PENDING, 0)
    worker.drain()
    waiting.refresh_from_db()
    assert waiting.attempt == 0
    now = timezone.now()
    assert not selectors.is_stalled(since=now)
    call_command("resumedeliveries")
    assert selectors.is_stalled(since=now)
    worker.drain(limit=1)
    waiting.refresh_from_db()
    assert waiting.attempt == 1


def test_the_owner_lets_it_go_on_in_the_admin(maya: User) -> None:
    users.give_role(maya, Role.OWNER)
    owner = Client()
    owner.force_login(maya)
    queue, resume = (reverse(f"admin:ops_operation_{name}") for name in ("changelist", "resume"))
    assert resume not in owner.get(queue).text
    with as_system():
        webhook_events.hold_deliveries()
    assert resume in owner.get(queue).text
    assert "restored from a backup" in owner.get(reverse("webhook_list")).text
    assert owner.get(resume).status_code == 405
    owner.post(resume)
    assert webhook_events.deliveries_held_since() is None
    with as_system():
        users.give_role(users.register(username="next", password=OLD), Role.OWNER)
        users.give_role(maya, Role.AUDITOR)
    assert owner.post(resume).status_code == 404


def test_a_copied_data_folder_is_noticed_at_the_next_start(maya: User) -> None:
    call_command("reapply_forgets", at_start=True)
    assert webhook_events.deliveries_held_since() is None
    key, _text = key_of(maya)
    forget = outbox.enqueue(Kind.FORGET_MEMORY, subject=maya.subject, payload={})
    ledger.write(forget, {"memories": ["mem_000000000000000000000000"]})
    assert not person_forgets.is_older_than_ledger()
    ledger.record_decision("key", key.digest, revoked=True, scopes=[], expires_at=None)
    Operation.objects.all().delete()
    assert person_forgets.is_older_than_ledger()
    call_command("reapply_forgets", at_start=True)
    assert webhook_events.deliveries_held_since() is not None
    key.refresh_from_db()
    assert key.revoked_at is not None


def revoke_a_key(maya: User) -> None:
    keys.revoke(ApiKey.objects.get(user=maya))


def change_the_password(maya: User) -> None:
    users.change_password(user=maya, password=NEW)


def remove_a_webhook(maya: User) -> None:
    webhooks.remove(Webhook.objects.get(user=maya))


@pytest.mark.parametrize(
    "decide_since",
    [revoke_a_key, change_the_password, remove_a_webhook],
    ids=lambda one: one.__name__,
)
def test_a_copied_data_folder_is_noticed_where_nothing_was_forgotten_since(
    maya: User, decide_since: Callable[[User], None]
) -> None:
    """The database is put back as it was; the ledger beside it is not."""
    listen(maya)
    key_of(maya)
    before = {one: list(one.objects.all()) for one in (User, Webhook, ApiKey)}
    with as_user(maya):
        decide_since(maya)
    for model, rows in before.items():
        for row in rows:
            row.save(force_insert=not model.objects.filter(pk=row.pk).exists())
    assert not person_forgets.is_older_than_ledger()
    call_command("reapply_forgets", at_start=True)
    assert webhook_events.deliveries_held_since() is not None
    assert ledger.reapply_decisions() == 0
    holds = {
        revoke_a_key: ApiKey.objects.get().revoked_at is not None,
        change_the_password: not User.objects.get().has_usable_password(),
        remove_a_webhook: not Webhook.objects.exists(),
    }
    assert [one for one, is_so in holds.items() if is_so] == [decide_since]


def test_nothing_is_applied_to_an_instance_that_was_not_restored(maya: User) -> None:
    key, _text = key_of(maya)
    hook = listen(maya)
    with as_user(maya):
        users.change_password(user=maya, password=NEW)
        turn_on(maya)
        keys.change(key, changes={"scopes": ["read"], "requires_user": True})
        users.set_active(user=maya, is_active=False)
        users.set_active(user=maya, is_active=True)
        webhooks.change(hook, changes={"events": ["memory.deleted"]})
        sign_ins.end_all_sessions(maya)
        users.change_settings(user=maya, changes={"summary_enabled": False})
    assert ledger.reapply_decisions() == 0
    assert webhook_events.deliveries_held_since() is None
    assert User.objects.get().check_password(NEW)


@pytest.mark.parametrize(
    "since", [("role", {"role": "member"}), ("active", {"is_active": False})], ids=str
)
def test_an_owner_whose_successor_is_not_in_the_backup_stays(
    maya: User, since: tuple[str, dict[str, object]]
) -> None:
    """Also at a later start, when there is another owner again."""
    with as_system():
        users.give_role(maya, Role.OWNER)
    ledger.record_decision(since[0], maya.subject, **since[1])
    assert ledger.reapply_decisions() == 0
    with as_system():
        users.give_role(users.register(username="next", password=OLD), Role.OWNER)
    assert ledger.reapply_decisions() == 0
    assert users.role_of(User.objects.get(pk=maya.pk)) is Role.OWNER


def test_every_kind_that_is_written_can_be_applied(maya: User) -> None:
    """Kinds are written as words in many places; each must be known to this version."""
    with as_user(maya):
        users.change_password(user=maya, password=NEW)
        sign_ins.forget_session("a-session")
    assert {one.kind for one in ledger.latest_decisions()} <= ledger._appliers.keys()


def test_the_ledger_of_decisions_holds_no_text_and_no_secret(maya: User) -> None:
    _key, text = key_of(maya)
    memory = make_memory(maya, "Plays chess")
    with as_user(maya):
        users.change_password(user=maya, password=NEW)
        codes = turn_on(maya)
        curation.recycle(user=maya, memory=memory)
        keys.revoke(keys.authenticate(text) or _key)
    written = ledger.decisions_path().read_text(encoding="utf-8")
    assert ledger.decisions_path().stat().st_mode & 0o077 == 0
    secrets = (text, NEW, "chess", "maya", *codes, SecondFactor.objects.get().secret)
    assert [one for one in secrets if one in written] == []


def test_a_key_is_revoked_also_where_the_ledger_can_not_be_written(
    maya: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "accepted").write_text("a file where the folder should be")
    monkeypatch.setattr(ledger, "decisions_path", lambda: tmp_path / "accepted" / "decisions.jsonl")
    key, text = key_of(maya)
    with as_user(maya):
        keys.revoke(key)
    assert keys.authenticate(text) is None
