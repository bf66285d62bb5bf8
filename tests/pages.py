"""Every page a signed-in person can open, and a person who has something on each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone

from conversations.models import Conversation, Turn
from memories.files import memory_files
from memories.files.grammar import CURATED
from memories.models import (
    Change,
    DailyNote,
    FileVersion,
    Kind,
    Memory,
    MemoryFile,
    MemoryStatus,
    Project,
    Refusal,
    Relation,
    RelationKind,
    SecretCategory,
)
from ops import webhooks
from ops.accounts import registration, users
from ops.models import ApiKey, Delivery, Operation, Priority, Receipt, Role, Status, User, Webhook
from ops.models import Kind as OperationKind
from tests.factories import (
    make_conversation,
    make_episode,
    make_memory,
    make_summary,
    make_trace,
    make_turn,
    make_version,
)

_KINDS = tuple(Kind)
_LONG = " and that is why it matters to them on most days of the week" * 2


@dataclass(frozen=True)
class Seen:
    """What the addresses of the pages name."""

    conversation: Conversation
    turn: Turn
    memory: Memory
    key: ApiKey
    receipt: Receipt
    webhook: Webhook


Address = Callable[[Seen], str]


def _page(name: str, *args: str, query: str = "") -> Address:
    """`args` are names of what is seen, whose public id (or pk) goes into the address."""

    def address(seen: Seen) -> str:
        return reverse(name, args=[_reference(seen, one) for one in args]) + query

    return address


def _reference(seen: Seen, name: str) -> Any:
    """What stands for itself begins with an equals sign."""
    if name.startswith("="):
        return name[1:]
    row = getattr(seen, name)
    return row.pk if name == "key" else getattr(row, "public_id", row.pk)


PAGES: dict[str, Address] = {
    "chat_home": _page("chat_home"),
    "conversation": _page("conversation", "conversation"),
    "conversation_edit": _page("conversation_edit", "conversation"),
    "conversation_rename": _page("conversation_rename", "conversation"),
    "conversation_export": _page("conversation_export", "conversation"),
    "conversation_clear": _page("conversation_clear", "conversation"),
    "conversation_delete": _page("conversation_delete", "conversation"),
    "message_remember": lambda seen: reverse(
        "message_remember", args=[seen.turn.user_message.public_id]
    ),
    "message_forget": lambda seen: reverse(
        "message_forget", args=[seen.turn.assistant_message.public_id]
    ),
    "memory_home": _page("memory_home"),
    "memory_week": _page("memory_week"),
    "memory_week before": _page("memory_week", query="?last=2026-01-04"),
    "memory_conversation": _page("memory_conversation"),
    "memory_conversation asked": _page("memory_conversation", query="?q=what+matters"),
    "memory_list": _page("memory_list"),
    "memory_list searched": _page("memory_list", query="?q=matters"),
    "memory_list narrowed": _page("memory_list", query="?kind=fact&tag=t0"),
    "memory_list of a project": _page("memory_list", query="?project=atlas"),
    "memory_add": _page("memory_add"),
    "memory_page": _page("memory_page", "memory"),
    "memory_page used": _page("memory_page", "memory", query="?show=used"),
    "memory_page related": _page("memory_page", "memory", query="?show=related"),
    "memory_edit": _page("memory_edit", "memory"),
    "memory_forget": _page("memory_forget", "memory"),
    "project_forget": _page("project_forget", "=atlas"),
    "memory_review": _page("memory_review"),
    "memory_bin": _page("memory_bin"),
    "bin_empty": _page("bin_empty"),
    "memory_refusals": _page("memory_refusals"),
    "memory_files": _page("memory_files"),
    "memory_file_add": _page("memory_file_add"),
    "memory_file": _page("memory_file", "=MEMORY.md"),
    "memory_file of one's own": _page("memory_file", "=notes/plan.md"),
    "memory_file_edit": _page("memory_file_edit", "=MEMORY.md"),
    "memory_file_history": _page("memory_file_history", "=MEMORY.md"),
    "memory_pictures": _page("memory_pictures"),
    "settings_page": _page("settings_page"),
    "data_management": _page("data_management"),
    "data_conversations": _page("data_conversations"),
    "data_layer_delete": _page("data_layer_delete", "=memory"),
    "export_everything": _page("export_everything"),
    "forget_everything": _page("forget_everything"),
    "receipt_page": _page("receipt_page", "receipt"),
    "api_keys": _page("api_keys"),
    "api_key_revoke": _page("api_key_revoke", "key"),
    "welcome": _page("welcome"),
    "people": _page("people"),
    "person_page": lambda seen: reverse("person_page", args=[seen.key.user_id]),
    "person_key_revoke": lambda seen: reverse(
        "person_key_revoke", args=[seen.key.user_id, seen.key.pk]
    ),
    "webhook_list": _page("webhook_list"),
    "webhook_remove": _page("webhook_remove", "webhook"),
    "session_list": _page("session_list"),
    "signin_settings": _page("signin_settings"),
}


def lived_in(user: User, *, size: int) -> Seen:
    """An owner with about `size` of everything; the first of each as the product makes them."""
    users.give_role(user, Role.OWNER)
    project = Project.objects.create(user=user, key="atlas", name="Atlas")
    conversations = [make_conversation(user, title=f"Talk {n}") for n in range(max(2, size // 5))]
    turns = [_turn(conversations[n % 3 % len(conversations)], n) for n in range(size // 5)]
    for version in range(1, 4):
        make_summary(conversations[0], "They talked." + _LONG, through=4, version=version)
    first = _remembered(user, turns, project, size=size)
    for n in range(min(size, 40)):
        make_version(first, f"It matters {n}", change=Change.EDITED)
        make_trace(user, "what matters?", hits=[first.public_id], conversation=conversations[0])
    _filed(user, size)
    key = _background(user, size)
    receipt = Receipt.objects.filter(subject=user.subject)[0]
    return Seen(conversations[0], turns[0], first, key, receipt, _told(user, size))


def _turn(conversation: Conversation, n: int) -> Turn:
    turn = make_turn(conversation, f"I said {n}{_LONG}", "I see." + _LONG)
    make_episode(turn)
    return turn


def _remembered(user: User, turns: list[Turn], project: Project, *, size: int) -> Memory:
    """In use, waiting, in the bin, refused; gives the first, on which the others bear."""
    found = [make_memory(user, f"It matters {n}", turns=[turns[0]]) for n in range(size // 5)]
    rows = [
        # Over several days, so that the charts are drawn.
        Memory(
            user=user, origin="user", created_at=timezone.now() - timedelta(days=n % 3), **fields
        )
        for n in range(size)
        for fields in _fields(n, project, against=found[0])
    ]
    Memory.objects.bulk_create(rows)
    others = Memory.objects.filter(user=user, status=MemoryStatus.ACTIVE).exclude(pk=found[0].pk)
    Relation.objects.bulk_create(
        Relation(user=user, memory=found[0], other=one, kind=RelationKind.SUPPORTS)
        for one in others
    )
    category = SecretCategory.values[0]
    Refusal.objects.bulk_create(
        Refusal(user=user, turn=turns[0], category=category) for _ in range(size)
    )
    return found[0]


def _fields(n: int, project: Project, *, against: Memory) -> list[dict[str, Any]]:
    now = timezone.now()
    tags = [f"t{n % 60}", f"a longer tag {n % 7}"]
    kind = _KINDS[n % len(_KINDS)]
    used = {
        "content": f"Number {n} matters{_LONG}",
        "kind": kind,
        "project": project if n % 3 == 0 else None,
        "tags": tags,
        "pinned": n % 11 == 0,
        "access_count": n,
    }
    waiting = {
        "content": f"Perhaps {n}{_LONG}",
        "kind": kind,
        "status": MemoryStatus.CANDIDATE,
        "conflicts_with": against if n % 2 else None,
    }
    binned = {"content": f"Gone {n}{_LONG}", "kind": kind, "deleted_at": now}
    return [used, waiting, binned | {"purge_at": now + timedelta(days=1 + n % 7)}]


def _filed(user: User, size: int) -> None:
    """Both curated files with a history, notes of their own, lines of many days."""
    for path in CURATED:
        memory_files.refresh_file(user, path)
    steps = "\n".join(f"- Step {n} matters" for n in range(size))
    for path in ("notes/plan.md", *(f"notes/{n}.md" for n in range(min(size, 40)))):
        file = MemoryFile.objects.create(user=user, path=path, content=f"# Plan\n\n{steps}\n")
        FileVersion.objects.create(
            user=user, file=file, number=1, content=file.content, actor="page"
        )
    today = timezone.now().date()
    DailyNote.objects.bulk_create(
        DailyNote(
            user=user,
            day=today - timedelta(days=n % 40),
            number=n,
            text=f"Line {n}",
            created_at=timezone.now(),
        )
        for n in range(size)
    )


def _background(user: User, size: int) -> ApiKey:
    now = timezone.now()
    User.objects.bulk_create(User(username=f"{user.username}.{n}") for n in range(size))
    for n in range(min(size, 60)):
        registration.invite(user=user, role=Role.MEMBER, name=f"Guest {n}")
    keys = [
        ApiKey(
            user=user,
            name=f"Key {n}",
            prefix="mc_abcdefg",
            digest=f"{user.pk}-{n}",
            scopes=["read"],
        )
        for n in range(size)
    ]
    ApiKey.objects.bulk_create(keys)
    operations = [
        Operation(
            kind=OperationKind.FORGET_MEMORY,
            subject=user.subject,
            priority=Priority.FORGET,
            status=Status.SUCCEEDED,
            run_after=now,
            finished_at=now,
        )
        for _ in range(size)
    ]
    erased = {"database": {"memories_memory": 1}}
    Receipt.objects.bulk_create(
        Receipt(
            operation=one,
            subject=user.subject,
            scope="memory",
            requested_at=now,
            finished_at=now,
            erased=erased,
        )
        for one in Operation.objects.bulk_create(operations)
    )
    return keys[0]


def _told(user: User, size: int) -> Webhook:
    """As many addresses as there may be, with what they were told and how that went."""
    made = [
        Webhook(user=user, url=f"https://93.184.216.34/told/{n}", events=["memory.created"])
        for n in range(min(size, webhooks.MOST))
    ]
    hooks = Webhook.objects.bulk_create(made)
    now = timezone.now()
    outcomes: list[dict[str, Any]] = [{"delivered_at": now}, {"error": "It did not answer."}, {}]
    Delivery.objects.bulk_create(
        Delivery(webhook=hook, event="memory.created", **outcome)
        for hook in hooks
        for outcome in outcomes
    )
    return hooks[0]
