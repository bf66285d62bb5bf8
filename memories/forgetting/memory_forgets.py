"""Forget memories or projects on request: hide them now and enqueue their erasure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from conversations.models import Conversation, Episode, Message, Role, Summary, Turn
from foundation.errors import Invalid, NotFound
from foundation.text import segment, shingles
from memories.extraction.masking import masked
from memories.forgetting import rederivation
from memories.models import Memory, MemoryStatus, MemoryVersion, Project, Source
from memories.writing import memory_writes, similar_memories
from ops import audit_chain, registry
from ops.forgetting import forget_steps
from ops.models import Kind, Operation, User
from ops.queue.run import Run

ONLY_MATCH = "only_match"  # value of `chosen` if the user wasn't asked to choose
WAS = "was"  # payload key for the kind and time of each memory if the user wasn't asked to choose


def forget_memory(
    *, user: User, memory: Memory, requested_by_key: int | None = None, chosen: str = ""
) -> Operation:
    """Hide a memory now, and enqueue the erasure of the memory and everything derived from it.

    The messages that the memory was learned from are kept. A repeated request returns the pending
    operation. `chosen` records in the receipt how the memory was chosen. Raise `NotFound` if the
    memory doesn't exist or belongs to another user.
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
    said_in: Collection[int] = (),
) -> Operation:
    """Forget several memories in the same way as `forget_memory`.

    Memories that no longer exist or belong to other users are skipped. `said_in` holds the keys of
    further messages that state the memories in other words; the receipt counts them among the kept
    messages. If the user wasn't asked to choose (`ONLY_MATCH`), the payload stores the kind of each
    memory and when it was learned, so that the chat can say which memories were forgotten. Raise
    `Invalid` if the list is empty, and `NotFound` if all memories were skipped.
    """
    if not memories:
        raise Invalid.field("ids", "Name at least one memory.")
    forget_steps.register_forget(user)
    wanted = {memory.pk for memory in memories}
    blank_titles(user, add_archived(user, wanted))
    found = set(lock(user, Q(pk__in=wanted)))
    if not found:
        raise NotFound("This memory doesn’t exist.")
    before = forget_steps.find_unfinished(
        Kind.FORGET_MEMORY, user=user, payload={"memories": sorted(found)}
    )
    if before is not None:
        return before
    gone = add_archived(user, found)
    payload: dict[str, object] = {
        "memories": sorted(gone),
        **({"chosen": chosen} if chosen else {}),
    }
    if chosen == ONLY_MATCH:
        was = Memory.everything.filter(pk__in=found).order_by("pk")
        payload[WAS] = [
            [kind, at.isoformat()] for kind, at in was.values_list("kind", "created_at")
        ]
    return _begin(Kind.FORGET_MEMORY, user, payload, gone, requested_by_key, said_in=said_in)


def forget_project(
    *, user: User, project: Project, requested_by_key: int | None = None
) -> Operation:
    """Hide a project and all its memories now, and enqueue their erasure.

    Raise `NotFound` if the project doesn't exist or belongs to another user.
    """
    forget_steps.register_forget(user)
    found = Project.everything.select_for_update().filter(user=user, pk=project.pk).first()
    if found is None:
        raise NotFound("This project doesn’t exist.")
    payload = {"project": found.pk}
    before = forget_steps.find_unfinished(Kind.FORGET_PROJECT, user=user, payload=payload)
    if before is not None:
        return before
    own = Memory.everything.filter(user=user, project=found).values_list("pk", flat=True)
    blank_titles(user, add_archived(user, own))
    Project.objects.filter(pk=found.pk).update(hidden_at=timezone.now())
    gone = add_archived(user, lock(user, Q(project=found)))
    return _begin(Kind.FORGET_PROJECT, user, payload, gone, requested_by_key)


def add_archived(user: User, memory_ids: Iterable[int]) -> set[int]:
    """Return these ids, and those of archived memories that were joined only into these memories.

    A consolidated memory contains the text of archived memories, so all of them are erased
    together.
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


def erase_in_rounds(run: Run, *, user: User, lost_sources: Q, gone: Sequence[int] = ()) -> None:
    """Erase the memories in `gone`, and erase or derive again those that depend on lost sources.

    `lost_sources` selects the lost sources. The memories are processed in rounds, each in its own
    transaction.
    """
    more = True

    def erase_round() -> audit_chain.Counts:
        nonlocal more
        derived = rederivation.derive(user=user, lost_sources=lost_sources, gone=gone)
        memory_writes.drop_cached_counts(user.pk)
        more = derived.more
        return derived.erased

    while more:
        forget_steps.step(run, user=user, name="memories", erase=erase_round)


def lock(user: User, wanted: Q) -> list[int]:
    """Lock the memories that match `wanted` until the transaction ends, and return their ids."""
    rows = Memory.everything.select_for_update().filter(wanted, user=user)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def _begin(
    kind: Kind,
    user: User,
    payload: Mapping[str, object],
    gone: set[int],
    requested_by_key: int | None,
    *,
    said_in: Collection[int] = (),
) -> Operation:
    payload = {**payload, **kept_messages_payload(find_stating_messages(user, gone) | set(said_in))}
    rederivation.hide(user=user, lost_sources=Q(memory__in=gone), gone=gone)
    memory_writes.drop_cached_counts(user.pk)
    about = Q(payload__memory__in=sorted(gone))
    return forget_steps.enqueue_forget(
        kind,
        user=user,
        payload=payload,
        about=about,
        requested_by_key=requested_by_key,
        target=_target(payload, gone),
    )


def blank_titles(user: User, memories: Collection[int]) -> None:
    """Blank conversation titles that repeat part of a message that states one of these memories.

    Such a message is either a source of one of the memories, or any user message in a conversation
    whose title matches a memory. Call this function before memories are locked, since conversations
    are always locked first.
    """
    sources = Source.objects.filter(user=user, memory__in=memories)
    stating = Q(pk__in=sources.values("message")) | Q(pk__in=sources.values("turn__user_message"))
    stating |= Q(
        conversation__in=_conversations_with_titles_about(user, memories, sources), role=Role.USER
    )
    texts: dict[int, list[str]] = defaultdict(list)
    messages = Message.objects.filter(stating, user=user).exclude(conversation__title="")
    for conversation, content in messages.values_list("conversation", "content"):
        texts[conversation].append(content)
    for row in Conversation.objects.filter(user=user, pk__in=texts).order_by("pk"):
        if row.title and not shingles.blank_title_if_contained(
            row.title, [*texts[row.pk], *map(masked, texts[row.pk])]
        ):
            Conversation.objects.filter(pk=row.pk).update(title="")


def repeating_messages(
    user: User, memories: Collection[int], *, told: Collection[int] = ()
) -> list[Message]:
    """Return the messages that contain the text or a source quotation of one of these memories.

    The oldest message comes first. Both the user's messages and the answers to them are searched.
    Messages in `told` are left out. An answer is also left out if its question is in `told` or
    contains one of the texts, since an answer is forgotten with its question.
    """
    sources = Source.objects.filter(user=user, memory__in=memories)
    return _repeating(user, _texts_of(user, memories, sources), told=told)


def _repeating(user: User, texts: Collection[str], *, told: Collection[int]) -> list[Message]:
    found = similar_memories.messages_containing(texts, user=user)
    rows = Message.objects.filter(user=user, pk__in=found).exclude(pk__in=told)
    questions = {*found, *told}
    answered = Turn.objects.filter(user=user, user_message__in=questions)
    return list(rows.exclude(pk__in=answered.values("assistant_message")).order_by("pk"))


def kept_messages_payload(messages: Collection[int]) -> dict[str, object]:
    """Return the payload entries that describe the kept messages, given their keys.

    Kept messages still state the memories that the operation forgets.
    """
    return {
        forget_steps.STILL_SAID: len(messages),
        forget_steps.STILL_SAYING: sorted(messages),
        forget_steps.STILL_IN: _rows_with(messages),
    }


@registry.register_kept_count
def _kept_rows(operation: Operation) -> Mapping[str, int]:
    """Count the kept rows that still repeat the forgotten memories, by type.

    If the user wasn't asked to choose (`ONLY_MATCH`), the messages that requested the operation
    count too. They may have been recorded after the payload was stored.
    """
    messages = set(operation.payload.get(forget_steps.STILL_SAYING, ()))
    if operation.payload.get("chosen") == ONLY_MATCH:
        asking = Operation.objects.filter(
            subject=operation.subject, payload__forget__op_id=operation.public_id
        )
        turns = Turn.objects.filter(pk__in=list(asking.values_list("payload__turn", flat=True)))
        messages |= set(turns.values_list("user_message", flat=True))
    return _rows_with(messages) if messages else {}


def _rows_with(messages: Collection[int]) -> Mapping[str, int]:
    """Count the visible messages with these keys, and the episodes and summaries that cover them.

    Return the numbers by type. All summaries of a conversation count as one.
    """
    kept = Message.objects.filter(pk__in=messages)
    turns = Turn.objects.filter(Q(user_message__in=kept) | Q(assistant_message__in=kept))
    covering = Summary.objects.filter(
        conversation=OuterRef("conversation"), through_number__gte=OuterRef("number")
    ).exclude(text="")
    covered = kept.filter(Exists(covering)).values("conversation").distinct()
    return {
        "message": kept.count(),
        "episode": Episode.objects.filter(turn__in=turns).count(),
        "summary": covered.count(),
    }


def find_stating_messages(user: User, memories: Collection[int]) -> set[int]:
    """Return the keys of visible messages that are sources of these memories or repeat them."""
    sources = Source.objects.filter(user=user, memory__in=memories)
    asked = Q(pk__in=sources.values("message")) | Q(pk__in=sources.values("turn__user_message"))
    found = set(Message.objects.filter(asked, user=user).values_list("pk", flat=True))
    return found | {one.pk for one in repeating_messages(user, memories, told=found)}


def find_messages_repeating_hidden(user: User, memories: Collection[int]) -> set[int]:
    """Return the keys of visible messages that repeat the hidden texts of these memories.

    Call this function if memories are hidden because their source messages are forgotten.
    """
    versions = MemoryVersion.everything.filter(user=user, memory__in=memories)
    hidden = versions.filter(hidden_at__isnull=False).values_list("content", flat=True)
    return {one.pk for one in _repeating(user, {*hidden} - {""}, told=())}


def _texts_of(user: User, memories: Collection[int], sources: QuerySet[Source]) -> set[str]:
    versions = MemoryVersion.objects.filter(user=user, memory__in=memories)
    quotes = sources.values_list("quote", flat=True)
    return {*versions.values_list("content", flat=True), *quotes} - {""}


def _conversations_with_titles_about(
    user: User, memories: Collection[int], sources: QuerySet[Source]
) -> list[int]:
    """Return the keys of conversations whose titles match one of these memories.

    A title matches if it contains all words of a version or quotation, or if the version or
    quotation contains all words of the title.
    """
    texts = _texts_of(user, memories, sources)
    stated = [words for text in texts if (words := frozenset(segment.terms(text)))]
    titles = Conversation.objects.filter(user=user).exclude(title="").values_list("pk", "title")
    named = ((pk, frozenset(segment.terms(title))) for pk, title in titles)
    return [pk for pk, title in named if title and any(title <= of or of <= title for of in stated)]


def _target(payload: Mapping[str, object], gone: set[int]) -> dict[str, object]:
    if "project" in payload:
        return {"project": payload["project"]}
    memories = Memory.everything.filter(pk__in=gone).order_by("pk")
    return {"memories": list(memories.values_list("public_id", flat=True))}
