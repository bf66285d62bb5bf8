"""Every form of the pages, filled in by a person who has one of everything they can change."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

import pyotp
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.models import Turn
from memories.extraction.types import OWNER_UNSURE
from memories.learning import change_previews
from memories.models import Change, FileVersion, Memory, MemoryFile, Project
from memories.review import ReviewState
from ops import weekly_mail
from ops.accounts import keys, registration, users
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
    Webhook,
    WeeklyMail,
)
from ops.queue import outbox
from ops.weekly_mail import Link
from tests.case_loop import check_each
from tests.factories import (
    make_conversation,
    make_decision,
    make_memory,
    make_turn,
    make_version,
)
from tests.memories.pages import make_binned, make_candidate

PASSWORD = "correct-horse-battery"
APP = pyotp.random_base32()


@dataclass(frozen=True)
class World:
    """A person who has one of everything that a page can change."""

    user: User
    turn: Turn
    memory: Memory
    candidate: Memory
    binned: Memory
    file: MemoryFile
    binned_file: MemoryFile
    key: ApiKey
    failed: Operation
    waiting: Operation
    webhook: Webhook
    other_session: int


def _note(user: User, path: str, **more: Any) -> MemoryFile:
    file = MemoryFile.objects.create(user=user, path=path, content="x", **more)
    FileVersion.objects.create(user=user, file=file, number=1, content="x", actor="page")
    return file


def make_world(client: Client) -> World:
    """Signed in by the page itself, a moment ago, and once more elsewhere."""
    user = users.register(username="ana", password=PASSWORD)
    elsewhere = Client()
    for one in (elsewhere, client):
        one.post("/signin/", {"username": "ana", "password": PASSWORD})
    turn = make_turn(make_conversation(user), "I play chess.", "Chess, nice.")
    project = Project.objects.create(user=user, key="p1")
    memory = make_memory(user, "Ana plays chess.", turns=[turn], project=project)
    make_version(memory, "Ana plays much chess.", change=Change.EDITED)
    operations = [
        outbox.enqueue(Kind.REINDEX, subject=user.subject, payload={"n": n}) for n in range(2)
    ]
    Operation.objects.filter(pk=operations[0].pk).update(status=Status.FAILED)
    return World(
        user=user,
        turn=turn,
        memory=memory,
        candidate=make_candidate(user, "Ana plays go."),
        binned=make_binned(user, "Ana played bridge."),
        file=_note(user, "plan.md"),
        binned_file=_note(user, "old.md", deleted_at=timezone.now()),
        key=keys.create(name="mine", scopes=["read"], user=user)[0],
        failed=operations[0],
        waiting=operations[1],
        webhook=Webhook.objects.create(
            user=user, url="https://ana.example/", events=["memory.created"], secret="s"
        ),
        other_session=SignIn.objects.filter(user=user).order_by("pk")[0].pk,
    )


Form = Callable[[World], tuple[list[Any], Mapping[str, Any]]]


def _memory(**form: Any) -> Form:
    return lambda world: ([world.memory.public_id], form)


def _file(**form: Any) -> Form:
    return lambda world: ([world.file.path], form)


def _conversation(**form: Any) -> Form:
    return lambda world: ([world.turn.conversation.public_id], form)


def _nothing(**form: Any) -> Form:
    return lambda world: ([], form)


def _token(world: World, link: Link) -> str:
    row = WeeklyMail.objects.get(user=world.user)
    return weekly_mail.url_of(link, row).split("/")[-2]


def _guest(**form: Any) -> Form:
    """About somebody else."""
    return lambda world: ([User.objects.get(username="guest").pk], form)


# Forms of owners, who act on others.
OF_OWNERS = {
    "people",
    "invitation_revoke",
    "registration_switch",
    "person_role",
    "person_hand_over",
    "person_active",
    "person_key_revoke",
}

FORMS: dict[str, Form] = {
    "conversation_new": _nothing(text="I play the oboe."),
    "conversation": _conversation(text="I play the oboe."),
    "conversation_answer": _conversation(),
    "conversation_edit": lambda world: (
        [world.turn.conversation.public_id],
        {"text": "I play the oboe.", "message": world.turn.user_message.public_id},
    ),
    "conversation_rename": _conversation(title="Oboe"),
    "conversation_export": _conversation(format="json"),
    "conversation_clear": _conversation(memories="on"),
    "conversation_delete": _conversation(memories="on"),
    "message_forget": lambda world: ([world.turn.user_message.public_id], {"cascade": "on"}),
    "message_remember": lambda world: (
        [world.turn.user_message.public_id],
        {"content": "Plays the oboe", "kind": "fact"},
    ),
    "message_rate": lambda world: (
        [world.turn.assistant_message.public_id],
        {"rating": "positive"},
    ),
    "turn_forget": lambda world: ([world.turn.public_id], {"all": "1", "sure": "1"}),
    "turn_owner": lambda world: (
        [world.turn.public_id],
        {"memory": world.candidate.public_id, "mine": "yes"},
    ),
    "turn_undo": lambda world: ([world.turn.public_id], {"memory": world.memory.public_id}),
    "export_everything": _nothing(format="zip", password=PASSWORD),
    "import_file": lambda world: (
        [],
        {"file": SimpleUploadedFile("x.md", b"## fact\n- Plays the oboe.\n")},
    ),
    "data_layer_delete": lambda world: (["memory"], {}),
    "memory_keep_told": lambda world: (
        [],
        {
            "keep": [
                one.id
                for one in change_previews.preview_changes("I play the oboe.", user=world.user)
            ]
        },
    ),
    "memory_add": _nothing(content="Plays the oboe", kind="fact"),
    "memory_edit": _memory(content="Plays the oboe", kind="fact"),
    "memory_bulk": lambda world: ([], {"ids": [world.memory.public_id], "do": "pin"}),
    "memory_undo": lambda world: (["token"], {}),
    "memory_undecide": lambda world: (["token"], {}),
    "memory_pin": _memory(),
    "memory_unpin": _memory(),
    "memory_disable": _memory(),
    "memory_enable": _memory(),
    "memory_rate": _memory(rating="negative"),
    "memory_delete": _memory(),
    "memory_restore": lambda world: ([world.binned.public_id], {}),
    "memory_forget": _memory(turns="on"),
    "memory_restore_version": lambda world: ([world.memory.public_id, 1], {}),
    "memory_decide": lambda world: ([world.candidate.public_id], {"decision": "accept"}),
    "memory_file_add": _nothing(path="mine.md", content="Plays the oboe"),
    "memory_file_edit": _file(content="Plays the oboe"),
    "memory_file_delete": _file(),
    "memory_file_restore": _file(version="1"),
    "memory_file_take_back": lambda world: ([world.binned_file.pk], {}),
    "memory_note_add": _nothing(text="Plays the oboe"),
    "bin_empty": _nothing(),
    "project_forget": lambda world: (["p1"], {}),
    "sign_in": _nothing(username="ana", password=PASSWORD),
    "sign_in_code": _nothing(code="spare code"),
    "second_factor_on": lambda world: (
        [],
        {"code": pyotp.TOTP(APP).now(), "password": PASSWORD},
    ),
    "second_factor_off": _nothing(password=PASSWORD),
    "second_factor_renew": _nothing(password=PASSWORD),
    "identity_disconnect": _nothing(password=PASSWORD),
    "register": _nothing(username="eve", password=PASSWORD, again=PASSWORD),
    "first_password": _nothing(username="ana", password=PASSWORD),
    "sign_out": _nothing(),
    "join": lambda world: (["token"], {"username": "eve", "password": PASSWORD}),
    "people": _nothing(name="Oboe", role="auditor"),
    "invitation_revoke": lambda world: ([world.user.invitations.get().pk], {}),
    "registration_switch": _nothing(registration="on"),
    "person_role": _guest(role="auditor", password=PASSWORD),
    "person_hand_over": _guest(password=PASSWORD),
    "person_active": _guest(active="off"),
    "person_key_revoke": lambda world: ([world.user.pk, world.key.pk], {}),
    "set_theme": _nothing(theme="dark"),
    "set_language": _nothing(language="zh-hans"),
    "save_preferences": _nothing(
        display_name="Maya", language="en", timezone="Asia/Shanghai", theme="dark"
    ),
    "set_switch": lambda world: (["longterm_enabled"], {"longterm_enabled": "off"}),
    "weekly_mail_on": _nothing(address="ana@example.org"),
    "weekly_mail_off": _nothing(),
    "weekly_mail_confirm": lambda world: ([_token(world, Link.CONFIRM)], {}),
    "weekly_mail_stop": lambda world: (
        [_token(world, Link.STOP)],
        {"List-Unsubscribe": "One-Click"},
    ),
    "api_keys": _nothing(name="Oboe", scopes=["read"], days="30"),
    "api_key_revoke": lambda world: ([world.key.pk], {}),
    "session_end_others": _nothing(),
    "session_end": lambda world: ([world.other_session], {}),
    "password_change": _nothing(current=PASSWORD, password="another-horse-battery"),
    "operation_retry": lambda world: ([world.failed.public_id], {}),
    "operation_cancel": lambda world: ([world.waiting.public_id], {}),
    "forget_everything": _nothing(phrase="delete everything", password=PASSWORD),
    "webhook_list": _nothing(url="https://93.184.216.34/", events=["memory.created"]),
    "webhook_try": lambda world: ([world.webhook.public_id], {}),
    "webhook_switch": lambda world: ([world.webhook.public_id], {"active": "off"}),
    "webhook_remove": lambda world: ([world.webhook.public_id], {}),
}


@dataclass(frozen=True)
class FilledForm:
    """A form with its own copy of the person and of their browser."""

    name: str
    world: World
    client: Client

    def send(self) -> Any:
        args, form = FORMS[self.name](self.world)
        return self.client.post(reverse(self.name, args=args), form)


def check_each_form(check: Callable[[FilledForm], object]) -> None:
    """Check every form, filled in by one person whose things are as before for each of them."""
    client = Client()
    world = make_world(client)

    def check_form(name: str) -> None:
        browser = Client()
        browser.cookies = copy.deepcopy(client.cookies)
        filled = FilledForm(name, copy.deepcopy(world), browser)
        prepare(name, filled.world, browser)
        check(filled)

    check_each(FORMS, check_form, count=len(FORMS))


def prepare(name: str, world: World, client: Client) -> None:
    """What must be so before the page can do anything."""
    if name in ("sign_in", "register", "join", "sign_in_code"):
        client.logout()
    prepare_mail(name, world)
    prepare_people(name, world)
    prepare_signing_in(name, world, client)
    if name == "first_password":
        User.objects.filter(pk=world.user.pk).update(password="!", username=None)
        client.force_login(User.objects.get(pk=world.user.pk))
        session = client.session
        session["signed_in_at"] = timezone.now().timestamp()
        session.save()
    if name == "memory_enable":
        Memory.objects.filter(pk=world.memory.pk).update(status="disabled")
    if name == "memory_unpin":
        Memory.objects.filter(pk=world.memory.pk).update(pinned=True)
    if name in ("memory_undo", "memory_undecide"):
        undecided = ReviewState(world.candidate.public_id, None, is_removal=False)
        kept = {
            "memory_undo": ("restore", [world.binned.public_id]),
            "memory_undecide": ("undecide", [json.dumps(asdict(undecided))]),
        }
        session = client.session
        session["undo"] = {"token": kept[name]}
        session.save()
    if name == "conversation_answer":
        Turn.objects.all().delete()
        world.turn.assistant_message.delete()
    if name == "turn_forget":
        asked = {
            "status": "needs_choice",
            "memory_ids": [world.memory.public_id],
            "message_ids": [world.turn.user_message.public_id],
            "likely_ids": [world.memory.public_id, world.turn.user_message.public_id],
        }
        payload = {"turn": world.turn.pk, "forget": asked}
        outbox.enqueue(Kind.EXTRACT_TURN, subject=world.user.subject, payload=payload)
    if name == "turn_owner":
        world.candidate.versions.update(reason=OWNER_UNSURE)
        make_decision(world.turn, world.candidate, "ADD")
    if name == "turn_undo":
        world.memory.versions.filter(number__gt=1).delete()
        Memory.objects.filter(pk=world.memory.pk).update(current_version=1)


def prepare_mail(name: str, world: World) -> None:
    if name in ("weekly_mail_off", "weekly_mail_confirm", "weekly_mail_stop"):
        WeeklyMail.objects.create(
            user=world.user, address="ana@example.org", asked_at=timezone.now()
        )


def prepare_people(name: str, world: World) -> None:
    if name == "register":
        registration.switch_registration(is_open=True)
    if name in OF_OWNERS | {"join"}:
        users.give_role(world.user, Role.OWNER)
        users.register(username="guest", password=PASSWORD)
        Invitation.objects.create(
            user=world.user,
            digest=keys.digest("token"),
            role=Role.MEMBER,
            expires_at=timezone.now() + timedelta(days=1),
        )


def prepare_signing_in(name: str, world: World, client: Client) -> None:
    if name in ("sign_in_code", "second_factor_off", "second_factor_renew"):
        spare = keys.digest("sparecode")
        SecondFactor.objects.create(user=world.user, secret=APP, recovery=[spare])
    if name == "sign_in_code":
        client.post("/signin/", {"username": "ana", "password": PASSWORD})
    if name == "second_factor_on":
        session = client.session
        session["new_second_factor"] = APP
        session.save()
    if name == "identity_disconnect":
        Identity.objects.create(user=world.user, issuer="https://id.example", sub="ana")
