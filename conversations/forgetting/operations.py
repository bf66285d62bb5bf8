"""Operation handlers that erase messages, conversations and layers.

The `_reapply_…` functions repeat earlier requests after a backup was restored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

from django.db.models import Q, QuerySet

from conversations.forgetting import message_erasure, message_forgets
from conversations.forgetting.message_erasure import Target
from conversations.models import Conversation, Message, Summary
from conversations.recording import summaries
from foundation.database import cascades
from memories.forgetting import erased_texts, memory_erasure, memory_forgets, rederivation
from memories.forgetting.erased_texts import ErasedTexts
from memories.models import Memory
from ops.access import as_user
from ops.audit_chain import Counts
from ops.forgetting import forget_steps
from ops.forgetting.person_forgets import reapply_handler
from ops.models import Kind, Operation, User
from ops.queue.run import Run
from ops.registry import handles
from ops.residue import erased_hashes, stores
from ops.residue.stores import Cached
from ops.transfer import exports


@handles(Kind.FORGET_MESSAGE, is_long=True)
def forget_message(run: Run) -> Mapping[str, Any]:
    """Erase the messages that the operation lists, with everything derived from them.

    The operation lists one or both messages of a turn, or a message and all later messages. Safe to
    run twice: each step looks up existing rows by id, and the messages are deleted last.
    """
    user = run.user()
    if user is None:
        return forget_steps.finish(run, user=None, scope="message")
    pk = run.payload["conversation"]
    with as_user(user):
        target = message_erasure.target_of(user, Q(pk__in=run.payload["messages"]), conversation=pk)
    _erase(run, user, [target], forget_memories=True)
    scope = "message" if len(run.payload["messages"]) <= 2 else "messages"
    return forget_steps.finish(
        run,
        user=user,
        scope=scope,
        kept=_kept_messages(run),
        then=lambda: _request_summaries(user, [pk]),
    )


def _request_summaries(user: User, conversations: Sequence[int]) -> None:
    existing = Conversation.objects.filter(user=user, pk__in=conversations)
    for pk in existing.order_by("pk").values_list("pk", flat=True):
        if Summary.everything.filter(user=user, conversation=pk, text="").exists():
            summaries.request(user=user, conversation_id=pk)


@handles(Kind.FORGET_CHOICE)
def forget_choice(run: Run) -> Mapping[str, Any]:
    """Erase the chosen memories and messages with everything derived from them.

    Safe to run twice: each step looks up existing rows by id; messages are deleted last.
    """
    user, payload = run.user(), run.payload
    if user is None:
        return forget_steps.finish(run, user=None, scope="choice")
    with as_user(user):
        targets = message_forgets.targets_of(user, payload["messages"])
    _erase(run, user, targets, forget_memories=True, gone=payload["memories"])
    kept = _kept_messages(run) if payload["messages"] else ("messages",)
    kept += ("memories",) if payload.get(message_forgets.KEPT_MEMORIES) else ()
    return forget_steps.finish(
        run,
        user=user,
        scope="choice",
        kept=kept,
        then=lambda: _request_summaries(user, payload["conversations"]),
    )


@handles(Kind.CLEAR_CONVERSATION, is_long=True)
def clear_conversation(run: Run) -> Mapping[str, Any]:
    """Erase all messages that a conversation contained at the time of the request.

    Safe to run twice: later messages have higher numbers and are never touched.
    """
    user = run.user()
    if user is not None:
        _erase_whole(run, user)
    return forget_steps.finish(run, user=user, scope="clear", kept=_kept_types(run))


@handles(Kind.FORGET_CONVERSATION, is_long=True)
def forget_conversation(run: Run) -> Mapping[str, Any]:
    """Erase a conversation. Safe to run twice: the conversation's row is deleted last."""
    user = run.user()
    if user is not None:
        _erase_whole(run, user)
        pk = run.payload["conversation"]
        forget_steps.step(run, user=user, name="conversation", erase=lambda: _erase_row(user, pk))
    return forget_steps.finish(run, user=user, scope="conversation", kept=_kept_types(run))


def _erase_row(user: User, pk: int) -> Counts:
    dropped = exports.drop_exports_of(user=user, conversation=pk)
    erased = cascades.delete(Conversation.everything.filter(user=user, pk=pk))
    return {**erased, "ops_export": dropped}


@handles(Kind.FORGET_LAYER, is_long=True)
def forget_layer(run: Run) -> Mapping[str, Any]:
    """Erase the summaries, or the episodes, that existed at the time of the request.

    The messages are kept. Safe to run twice: later rows have higher keys.
    """
    user, layer, through = run.user(), run.payload["layer"], run.payload["through"]
    if user is not None:
        rows = message_forgets.layer_rows(user, layer=layer, through=through)
        forget_steps.prepare_erasure(
            run, user=user, texts=lambda: erased_hashes.texts_in_rows(rows), rows=lambda: [rows]
        )
        operation = run.operation
        steps: dict[str, Callable[[], Counts]] = {
            "index": lambda: message_forgets.erase_layer(user, layer=layer, through=through),
            "copies": lambda: memory_erasure.erase_copies(user=user, operation=operation),
            "exports": lambda: forget_steps.erase_transfers(user),
        }
        for name, erase in steps.items():
            forget_steps.step(run, user=user, name=name, erase=erase)
    return forget_steps.finish(run, user=user, scope=f"{layer}_layer", kept=("messages",))


def _erase_whole(run: Run, user: User) -> None:
    payload = run.payload
    with as_user(user):
        target = message_forgets.target_through(
            user, conversation=payload["conversation"], through=payload["through"]
        )
    _erase(run, user, [target], forget_memories=payload["forget_memories"])


def _erase(
    run: Run,
    user: User,
    targets: Sequence[Target],
    *,
    forget_memories: bool,
    gone: Sequence[int] = (),
) -> None:
    """Erase the targets, with the memories derived from them if `forget_memories` is set.

    Derived rows are erased first and the messages last, since derived rows are found through the
    messages. Memories in `gone` are erased even if they have other sources. The rows are hidden
    again first, since learning may have added rows after the request.
    """

    def hide() -> Counts:
        for target in targets:
            message_erasure.hide(user, target)
            if forget_memories:
                message_forgets.hide_memories(user, target)
            else:
                rederivation.keep_as_own(user=user, lost_sources=target.lost_sources)
        return {}

    lost_sources = message_forgets.lost_sources_of(targets, gone=gone)
    forget_steps.step(run, user=user, name="hide", erase=hide)
    _remember(run, user, targets, lost_sources=lost_sources if forget_memories else None, gone=gone)
    if forget_memories:
        memory_forgets.erase_in_rounds(run, user=user, lost_sources=lost_sources, gone=gone)
    operation, requested_at = run.operation, run.operation.created_at

    def of_each(erase: Callable[[User, Target], Counts]) -> Callable[[], Counts]:
        return lambda: sum((Counter(erase(user, one)) for one in targets), Counter())

    steps: dict[str, Callable[[], Counts]] = {
        "traces": of_each(partial(message_erasure.erase_traces, until=requested_at)),
        "index": of_each(message_erasure.erase_index),
        "summaries": of_each(message_erasure.erase_summaries),
        "turns": of_each(message_erasure.erase_turns),
        "messages": of_each(message_erasure.erase_messages),
        "copies": lambda: memory_erasure.erase_copies(user=user, operation=operation),
        "exports": lambda: forget_steps.erase_transfers(
            user, [one.conversation for one in targets]
        ),
    }
    for name, erase in steps.items():
        forget_steps.step(run, user=user, name=name, erase=erase)


def _remember(
    run: Run, user: User, targets: Sequence[Target], *, lost_sources: Q | None, gone: Sequence[int]
) -> None:
    """Write the ledger, and store hashes of the texts to be erased, which the residue scan needs.

    `lost_sources` is None if memories are kept.
    """
    found, elsewhere = ErasedTexts(), list[str]()
    conversations = [one.conversation for one in targets]
    own_row = list[QuerySet[Conversation]]()
    if run.operation.kind == Kind.FORGET_CONVERSATION:
        own_row = [Conversation.everything.filter(user=user, pk=run.payload["conversation"])]

    def collect_texts() -> list[str]:
        nonlocal found, elsewhere
        if lost_sources is None:
            found = erased_texts.dependent_memory_pks(
                user=user, lost_sources=message_forgets.lost_sources_of(targets, gone=())
            )
        else:
            found = erased_texts.collect(user=user, lost_sources=lost_sources, gone=gone)
        erased = (
            erased_hashes.texts_in_rows(rows)
            for one in targets
            for rows in message_erasure.rows_with_erased_texts(user, one)
        )
        texts = [*found.texts, *chain.from_iterable(erased)]
        elsewhere = [
            *erased_texts.resembling_texts(user=user, texts=texts, without=found.memory_ids),
            *erased_texts.remaining_texts(
                user=user, texts=texts, leaving=found, conversations=conversations
            ),
        ]
        memory_erasure.blank_questions_about(user=user, texts=texts)
        return texts

    forget_steps.prepare_erasure(
        run,
        user=user,
        texts=collect_texts,
        rows=lambda: [
            *found.rows,
            *(rows for one in targets for rows in message_erasure.rows_of(user, one)),
            *own_row,
        ],
        staying=lambda: [*found.staying, *elsewhere],
    )


def _kept_types(run: Run) -> tuple[str, ...]:
    if run.payload["forget_memories"]:
        return _kept_messages(run)
    return ("memories",) if run.payload.get(message_forgets.KEPT_MEMORIES, 1) else ()


def _kept_messages(run: Run) -> tuple[str, ...]:
    """Return `("messages",)` if kept messages repeat the forgotten content, else an empty tuple."""
    return ("messages",) if run.payload.get(forget_steps.STILL_SAID) else ()


stores.register_independent_texts(message_erasure.independent_texts)
stores.register_remaining_texts(message_erasure.remaining_summaries)
stores.register_caches(
    Cached("mc:temporary:", "conversations.recording.temporary", messages=True),
    Cached("mc:answering:", "conversations.chat.answer_stream"),
)


@reapply_handler("message")
def _reapply_messages(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    """Forget each listed message again; return the last operation, or None if no message exists.

    The other message of a turn is forgotten only if the ledger lists it too.
    """
    found = Message.everything.filter(user=user, public_id__in=target["messages"]).order_by("pk")
    operations = [message_forgets.forget_message(user=user, message=one) for one in found]
    return operations[-1] if operations else None


@reapply_handler("choice")
def _reapply_choice(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    memories = list(Memory.everything.filter(user=user, public_id__in=target["memories"]))
    messages = list(Message.everything.filter(user=user, public_id__in=target["messages"]))
    if not memories and not messages:
        return None
    kept = Memory.everything.filter(user=user, public_id__in=target.get("kept", ()))
    return message_forgets.forget_rows(user, memories, messages, keeping=kept)


@reapply_handler("conversation")
def _reapply_conversation(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    found = Conversation.everything.filter(user=user, public_id=target["conversation"]).first()
    if found is None:
        return None
    return message_forgets.forget_conversation(
        user=user, conversation=found, forget_memories=target["forget_memories"]
    )


@reapply_handler("clear")
def _reapply_clear(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    found = Conversation.objects.filter(user=user, public_id=target["conversation"]).first()
    if found is None:
        return None
    return message_forgets.repeat_clear(
        user=user, conversation=found, at=at, forget_memories=target["forget_memories"]
    )


@reapply_handler("layer")
def _reapply_layer(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    rows = message_forgets.layer_rows(user, layer=target["layer"])
    newest = rows.filter(created_at__lte=at).order_by("-pk").first()
    if newest is None:
        return None
    return message_forgets.delete_layer(user=user, layer=target["layer"], through=newest.pk)[0]
