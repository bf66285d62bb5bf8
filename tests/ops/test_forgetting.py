from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.forgetting import message_forgets as said
from conversations.models import Conversation, Message
from conversations.recording import temporary
from conversations.recording.turns import MessageInput
from foundation.errors import Conflict, NotFound
from memories.models import DailyNote, Memory, MemoryFile, Project, Tombstone
from ops import audit_chain, registry
from ops.access import as_user
from ops.accounts import keys, users
from ops.forgetting import person_forgets
from ops.models import (
    ApiKey,
    AuditEvent,
    Delivery,
    Export,
    IdempotencyRecord,
    Identity,
    Import,
    Invitation,
    Kind,
    Operation,
    Receipt,
    SecondFactor,
    SignInLink,
    Status,
    User,
    Webhook,
    WeeklyMail,
)
from ops.queue import outbox, worker
from tests.conftest import key_row
from tests.draining import drained
from tests.factories import (
    make_conversation,
    make_episode,
    make_memory,
    make_summary,
    make_trace,
    make_turn,
)
from tests.killing import Kill, kill_at, revive
from tests.rows import personal_models, rows_of, tables_of

pytestmark = pytest.mark.django_db

TEA = "I drink green tea every morning before work"


def file_of(kind: str, name: str) -> str:
    return storages[kind].save(f"tests/{name}", ContentFile(TEA.encode()))


def exists(path: str) -> bool:
    return any(storages[kind].exists(path) for kind in ("exports", "imports"))


def give_everything(user: User) -> None:
    """At least one row in most tables."""
    now = timezone.now()
    turn = make_turn(make_conversation(user, title="Mornings"), TEA)
    make_episode(turn)
    make_summary(turn.conversation, f"{user} drinks tea", through=2)
    project = Project.objects.create(user=user, key="apollo")
    memory = make_memory(user, f"{user} drinks green tea", turns=[turn], project=project)
    make_trace(user, TEA, hits=[memory.public_id], conversation=turn.conversation)
    Tombstone.objects.create(user=user, memory_public_id="mem_x", text_hash="0")
    MemoryFile.objects.create(user=user, path="MEMORY.md", content=TEA)
    DailyNote.objects.create(user=user, day=now.date(), number=1, text=TEA, created_at=now)
    key, _ = keys.create(name="own", scopes=["read"], user=user)
    hook = Webhook.objects.create(user=user, api_key=key, url="https://example.org/", events=[])
    Delivery.objects.create(webhook=hook, event="memory.created", subject=user.subject)
    later = now + timedelta(minutes=5)
    SignInLink.objects.create(user=user, digest=f"digest {user.pk}", expires_at=later)
    SecondFactor.objects.create(user=user, secret=f"secret {user.pk}", recovery=["digest"])
    Invitation.objects.create(
        user=user, digest=f"invitation {user.pk}", name=TEA, role="member", expires_at=later
    )
    Identity.objects.create(user=user, issuer="https://id.example", sub=f"sub {user.pk}")
    WeeklyMail.objects.create(user=user, address=f"person{user.pk}@example.org", asked_at=now)
    IdempotencyRecord.objects.create(
        user=user, api_key=key, key="k", fingerprint="f", body={"x": TEA}, expires_at=later
    )
    for model, kind, place in (
        (Export, Kind.EXPORT_USER, "exports"),
        (Import, Kind.IMPORT, "imports"),
    ):
        made = outbox.enqueue(kind, subject=user.subject, payload={}, run_after=later)
        path = file_of(place, f"{user.pk}")
        model.objects.create(user=user, operation=made, path=path, format="json")


@pytest.fixture
def everything(alice: User, mallory: User) -> None:
    give_everything(alice)
    give_everything(mallory)


def forget(user: User) -> tuple[Operation, str]:
    with as_user(user):
        return person_forgets.forget_user(user=user)


def test_everything_of_a_person_is_hidden_at_once(alice: User, everything: None) -> None:
    forget(alice)
    alice.refresh_from_db()
    assert alice.hidden_at is not None
    for participant in registry.user_data_kinds():
        if participant.name in ("message", "memory", "conversation", "dailynote", "account"):
            assert participant.count(alice) == 0
            assert list(participant.export(alice)) == []
    assert not Memory.objects.filter(user=alice).exists()
    assert Memory.objects.exists()


def test_a_person_is_signed_out_and_their_keys_are_revoked(
    alice: User, alice_key: str, mallory_key: str
) -> None:
    client = Client()
    client.force_login(alice)
    forget(alice)
    assert keys.authenticate(alice_key) is None
    assert keys.authenticate(mallory_key) is not None
    alice.refresh_from_db()
    assert client.session["_auth_user_hash"] != alice.get_session_auth_hash()


def test_writes_are_refused_meanwhile_and_a_new_person_begins_afterwards(
    alice: User, everything: None
) -> None:
    operation, _ = forget(alice)
    with pytest.raises(Conflict) as refused:
        users.find_or_create("alice")
    assert refused.value.code == "being_forgotten"
    drained(operation)
    again = users.find_or_create("alice")
    assert (again.pk, again.subject) != (alice.pk, alice.subject)
    assert tables_of(again) == {"ops_user", "ops_usersettings"}


def test_no_row_of_a_forgotten_person_is_left_anywhere(alice: User, everything: None) -> None:
    operation, _ = forget(alice)
    drained(operation)
    assert tables_of(alice) == set()
    for model in personal_models():
        assert "alice" not in str(list(model._base_manager.values())).casefold()
    assert not User.objects.filter(external_id="alice").exists()


def test_a_bystander_keeps_every_row_and_file(alice: User, mallory: User, everything: None) -> None:
    before, operation = rows_of(mallory), forget(alice)[0]
    drained(operation)
    assert rows_of(mallory) == before
    assert Delivery.objects.count() == 1
    assert all(exists(path) for path in paths())


def paths() -> list[str]:
    return [str(row.path) for model in (Export, Import) for row in model.objects.all()]


def test_the_files_of_exports_and_imports_go(alice: User) -> None:
    give_everything(alice)
    files = paths()
    assert all(exists(path) for path in files)
    drained(forget(alice)[0])
    assert not any(exists(path) for path in files)
    assert Receipt.objects.get().erased["files"] == {"transfer": 2}


def test_sessions_of_the_person_go_and_others_stay(alice: User, mallory: User) -> None:
    for user in (alice, alice, mallory):
        Client().force_login(user)
    drained(forget(alice)[0])
    assert Session.objects.get().get_decoded()["_auth_user_id"] == str(mallory.pk)
    assert Receipt.objects.get().erased["database"]["django_session"] == 2


def test_all_sessions_are_looked_through_a_batch_at_a_time(
    alice: User, mallory: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(person_forgets, "_SESSIONS_AT_ONCE", 2)
    for user in (alice, mallory, alice, alice, mallory, alice, mallory):
        Client().force_login(user)
    with CaptureQueriesContext(connection) as queries:
        assert person_forgets.erase_sessions(alice.pk) == 4
    read = [one["sql"] for one in queries if "session_data" in str(one["sql"])]
    assert len(read) == 4 and all("LIMIT 2" in sql for sql in read)
    left = {one.get_decoded()["_auth_user_id"] for one in Session.objects.all()}
    assert left == {str(mallory.pk)} and Session.objects.count() == 3


def test_temporary_conversations_go(alice: User) -> None:
    chat = temporary.create(user=alice, external_id=None)
    temporary.append(chat, messages=(MessageInput(TEA),))
    drained(forget(alice)[0])
    assert temporary.find(user=alice, reference=chat.public_id) is None
    assert temporary.read(chat) == []


def test_nothing_temporary_is_left_for_whoever_has_the_same_name_next(alice: User) -> None:
    """Also where a call was still on its way when everything was erased."""
    chat = temporary.create(user=alice, external_id="c1")
    temporary.append(chat, messages=(MessageInput(TEA),))
    drained(forget(alice)[0])
    for late in (
        lambda: temporary.append(chat, messages=(MessageInput(TEA),)),
        lambda: temporary.rename(chat, title="Tea"),
        lambda: temporary.create(user=alice, external_id="c2"),
    ):
        with pytest.raises(NotFound):
            late()
    again = users.find_or_create("alice")
    assert again.pk != alice.pk
    assert temporary.list_conversations(again) == []
    for reference in ("c1", "c2", chat.public_id):
        assert temporary.find(user=again, reference=reference) is None


def test_the_admins_log_names_nobody_who_is_gone(alice: User, mallory: User) -> None:
    content_type = ContentType.objects.get_for_model(User)
    for user in (alice, mallory):
        LogEntry.objects.create(
            user=mallory,
            content_type=content_type,
            object_id=str(user.pk),
            object_repr=str(user),
            action_flag=CHANGE,
        )
    drained(forget(alice)[0])
    assert LogEntry.objects.get().object_repr == "mallory"


def test_waiting_work_is_withdrawn_and_forgets_are_done(alice: User, mallory: User) -> None:
    turn = make_turn(make_conversation(alice), TEA)
    waiting, others = (
        outbox.enqueue(Kind.EXTRACT_TURN, subject=user.subject, payload={"turn": turn.pk})
        for user in (alice, mallory)
    )
    with as_user(alice):
        earlier = said.forget_message(user=alice, message=turn.user_message)
    operation, _ = forget(alice)
    waiting.refresh_from_db()
    others.refresh_from_db()
    assert (waiting.status, others.status) == (Status.CANCELLED, Status.PENDING)
    drained(operation)
    drained(earlier)


def test_an_answer_that_was_on_its_way_names_an_operation_and_is_no_residue(alice: User) -> None:
    exporting = outbox.enqueue(Kind.EXPORT_USER, subject=alice.subject, payload={})
    operation, _ = forget(alice)
    answer = {"op_id": exporting.public_id}
    key, _ = keys.create(name="product", scopes=["write"])
    later = timezone.now() + timedelta(days=1)
    with as_user(alice):
        record = IdempotencyRecord.objects.create(
            user=alice, api_key=key, key="k", fingerprint="f", body=answer, expires_at=later
        )
    drained(operation)
    assert not IdempotencyRecord.objects.filter(pk=record.pk).exists()


def test_an_id_that_somebody_kept_as_a_note_is_no_residue_of_it(alice: User) -> None:
    turn = make_turn(make_conversation(alice), TEA)
    with as_user(alice):
        said.forget_message(user=alice, message=turn.user_message)
        named = str(Operation.objects.get().public_id)
        make_memory(alice, "Waits for it", data={"op": named})
    drained(forget(alice)[0])


def test_the_token_is_kept_as_a_hash_and_ends_after_thirty_days(alice: User) -> None:
    operation, token = forget(alice)
    assert token.startswith("rt_")
    assert operation.token_digest == keys.digest(token)
    assert token not in str(Operation.objects.values())
    assert operation.token_expires_at is not None
    assert (operation.token_expires_at - timezone.now()).days in (29, 30)


def test_asking_twice_gives_the_same_operation_and_token(alice: User) -> None:
    assert forget(alice) == forget(alice)
    assert Operation.objects.filter(kind=Kind.FORGET_USER).count() == 1


def test_asking_for_somebody_who_is_gone_is_not_found(alice: User) -> None:
    drained(forget(alice)[0])
    with pytest.raises(NotFound):
        forget(alice)


def test_the_receipt_says_what_went_and_outlives_the_account(alice: User, everything: None) -> None:
    operation = drained(forget(alice)[0])
    receipt = Receipt.objects.get(operation=operation)
    assert operation.result == {"receipt_id": receipt.public_id}
    assert (receipt.scope, receipt.subject, receipt.kept) == ("user", alice.subject, [])
    erased = receipt.erased["database"]
    assert (erased["ops_user"], erased["conversations_message"]) == (1, 2)
    assert audit_chain.first_break() is None
    assert "alice" not in str([*Receipt.objects.values(), *AuditEvent.objects.values()])


def test_people_that_a_key_of_theirs_made_stay(alice: User, alice_key: str) -> None:
    made = users.find_or_create("bob", created_by=key_row(alice_key))
    drained(forget(alice)[0])
    made.refresh_from_db()
    assert made.created_by is None
    assert not ApiKey.objects.exists()


STEPS = [one.name for one in registry.user_data_kinds()]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", [*STEPS[::4], "memory", "message", "account", "receipt"])
def test_it_survives_being_killed_at_any_step(
    alice: User,
    mallory: User,
    everything: None,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    moment: str,
) -> None:
    before, operation = rows_of(mallory), forget(alice)[0]
    with pytest.raises(Kill):
        kill_at(monkeypatch, step=step, moment=moment)
    revive(monkeypatch)
    drained(operation)
    assert tables_of(alice) == set()
    assert Receipt.objects.get().erased["database"]["conversations_message"] == 2
    assert rows_of(mallory) == before


def test_running_it_again_when_the_account_is_gone_gives_the_same_receipt(alice: User) -> None:
    operation = drained(forget(alice)[0])
    Operation.objects.filter(pk=operation.pk).update(status=Status.PENDING, finished_at=None)
    result = operation.result
    assert drained(operation).result == result
    assert Receipt.objects.count() == 1


def test_it_is_tried_again_while_redis_is_down(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*args: Any, **fields: Any) -> Any:
        raise OSError("connection refused")

    monkeypatch.setattr(temporary, "erase_all", down)
    operation, _ = forget(alice)
    worker.drain(limit=1)
    operation.refresh_from_db()
    assert (operation.status, operation.attempt) == (Status.PENDING, 1)
    monkeypatch.undo()
    Operation.objects.update(run_after=timezone.now())
    drained(operation)


def test_the_command_forgets_one_person_and_waits(
    alice: User, mallory: User, capsys: pytest.CaptureFixture[str]
) -> None:
    make_turn(make_conversation(alice), TEA)
    make_turn(make_conversation(mallory), TEA)
    call_command("forgetuser", "alice", "--wait")
    assert capsys.readouterr().out.startswith("op_")
    assert Message.everything.count() == 2
    assert Conversation.everything.get().user == mallory


def test_the_command_needs_a_user_who_is_there(alice: User) -> None:
    with pytest.raises(CommandError):
        call_command("forgetuser")
    with pytest.raises(CommandError, match="This user doesn’t exist"):
        call_command("forgetuser", "nobody")
    assert User.objects.get().hidden_at is None
