"""Asking for memories and projects to be forgotten: hidden now, erased by an operation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db.models import Q
from django.utils import timezone

from conversations.models import Conversation, Message
from memcenter.lib import shingles
from memcenter.lib.errors import Invalid, NotFound
from memories.extraction.sensitive import masked
from memories.models import Memory, MemoryStatus, Project, Source
from memories.services import deriving, hot_cache
from ops.models import Kind, Operation, User
from ops.services import erasing, receipts
from ops.services.worker import Run


def forget_memory(
    *, user: User, memory: Memory, requested_by_key: int | None = None, chosen: str = ""
) -> Operation:
    """Hide one memory now and erase it with everything derived from it.

    The messages it came from stay. Asked again meanwhile, it gives the same operation. Raises
    `NotFound` when it is gone or another's. `chosen` is who chose it, for the receipt.
    """
    return forget_memories(
        user=user, memories=[memory], requested_by_key=requested_by_key, chosen=chosen
    )


def forget_memories(
    *,
    user: User,
    memories: Sequence[Memory],
    requested_by_key: int | None = None,
    chosen: str = "",
) -> Operation:
    """The same for several at once; those of others and those already gone are left out.

    Raises `Invalid` when none is named and `NotFound` when none is left.
    """
    if not memories:
        raise Invalid.field("ids", "Name at least one memory.")
    erasing.start(user)
    wanted = {memory.pk for memory in memories}
    blank_titles(user, with_archived(user, wanted))
    found = set(lock(user, Q(pk__in=wanted)))
    if not found:
        raise NotFound("There is no such memory.")
    before = erasing.take_up(Kind.FORGET_MEMORY, user=user, payload={"memories": sorted(found)})
    if before is not None:
        return before
    gone = with_archived(user, found)
    payload = {"memories": sorted(gone), **({"chosen": chosen} if chosen else {})}
    return _begin(Kind.FORGET_MEMORY, user, payload, gone, requested_by_key)


def forget_project(
    *, user: User, project: Project, requested_by_key: int | None = None
) -> Operation:
    """Hide a project and all its memories now, and erase them.

    Raises `NotFound` when it is gone or another's.
    """
    erasing.start(user)
    found = Project.everything.select_for_update().filter(user=user, pk=project.pk).first()
    if found is None:
        raise NotFound("There is no such project.")
    payload = {"project": found.pk}
    before = erasing.take_up(Kind.FORGET_PROJECT, user=user, payload=payload)
    if before is not None:
        return before
    own = Memory.everything.filter(user=user, project=found).values_list("pk", flat=True)
    blank_titles(user, with_archived(user, own))
    Project.objects.filter(pk=found.pk).update(hidden_at=timezone.now())
    gone = with_archived(user, lock(user, Q(project=found)))
    return _begin(Kind.FORGET_PROJECT, user, payload, gone, requested_by_key)


def with_archived(user: User, memory_ids: Iterable[int]) -> set[int]:
    """With the archived memories of which nothing is left but what is made from them in these.

    Their text lives on in what they were consolidated to, so it goes with it.
    """
    gone = set(memory_ids)
    while True:
        archived = Memory.everything.filter(
            user=user,
            status=MemoryStatus.ARCHIVED,
            versions__outputs__memory__in=gone,
        ).exclude(pk__in=gone)
        elsewhere = Memory.everything.filter(
            user=user, versions__inputs__memory__in=archived
        ).exclude(Q(pk__in=gone) | Q(pk__in=archived))
        more = archived.exclude(versions__outputs__memory__in=elsewhere).values_list(
            "pk", flat=True
        )
        found = set(more)
        if not found:
            return gone
        gone |= found


def erase_in_rounds(run: Run, *, user: User, resting: Q, gone: Sequence[int] = ()) -> None:
    """Erase or derive again all that rests on what matches, a transaction for each round."""
    more = True

    def round_() -> receipts.Counts:
        nonlocal more
        derived = deriving.derive(user=user, resting=resting, gone=gone)
        hot_cache.drop(user.pk)
        more = derived.more
        return derived.erased

    while more:
        erasing.step(run, user=user, name="memories", erase=round_)


def lock(user: User, wanted: Q) -> list[int]:
    """Hold these memories until the transaction ends, in one order; gives their keys."""
    rows = Memory.everything.select_for_update().filter(wanted, user=user)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def _begin(
    kind: Kind,
    user: User,
    payload: Mapping[str, object],
    gone: set[int],
    requested_by_key: int | None,
) -> Operation:
    deriving.hide(user=user, resting=Q(memory__in=gone), gone=gone)
    hot_cache.drop(user.pk)
    about = Q(payload__memory__in=sorted(gone))
    return erasing.begin(
        kind,
        user=user,
        payload=payload,
        about=about,
        requested_by_key=requested_by_key,
        target=_target(payload, gone),
    )


def blank_titles(user: User, memories: Collection[int]) -> None:
    """Blank the title of each conversation that is called by a message that told one of these.

    Call it before memories are locked: conversations are locked first everywhere.
    """
    sources = Source.objects.filter(user=user, memory__in=memories)
    told = Q(pk__in=sources.values("message")) | Q(pk__in=sources.values("turn__user_message"))
    texts: dict[int, list[str]] = defaultdict(list)
    messages = Message.objects.filter(told, user=user).exclude(conversation__title="")
    for conversation, content in messages.values_list("conversation", "content"):
        texts[conversation].append(content)
    for row in Conversation.objects.filter(user=user, pk__in=texts).order_by("pk"):
        if row.title and not shingles.title_without(
            row.title, [*texts[row.pk], *map(masked, texts[row.pk])]
        ):
            Conversation.objects.filter(pk=row.pk).update(title="")


def _target(payload: Mapping[str, object], gone: set[int]) -> dict[str, object]:
    if "project" in payload:
        return {"project": payload["project"]}
    memories = Memory.everything.filter(pk__in=gone).order_by("pk")
    return {"memories": list(memories.values_list("public_id", flat=True))}
