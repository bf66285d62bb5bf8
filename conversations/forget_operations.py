"""Handlers that erase what was said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from django.db.models import Q, QuerySet

from conversations.models import Conversation, Summary
from conversations.services import erasing as said
from conversations.services import forget_choices, forgetting, layers, summaries
from conversations.services.erasing import Target
from memcenter.lib import cascades
from memories.services import beside, leaving
from memories.services import erasing as known_erasing
from memories.services import forgetting as known
from memories.services.leaving import Leaving
from ops import known_places
from ops.access import as_user
from ops.known_places import Cached
from ops.models import Kind, User
from ops.registry import handles
from ops.services import erasing, exporting, remembering
from ops.services.receipts import Counts
from ops.services.worker import Run


@handles(Kind.FORGET_MESSAGE, is_long=True)
def forget_message(run: Run) -> Mapping[str, Any]:
    """Erase one or both messages of a turn with all that rests on it.

    Running it twice is safe: each step looks up by ids what is still there, the messages go last.
    """
    user = run.user()
    if user is None:
        return erasing.finish(run, user=None, scope="message")
    pk = run.payload["conversation"]
    with as_user(user):
        target = said.target_of(user, Q(pk__in=run.payload["messages"]), conversation=pk)
    _erase(run, user, [target], forget_memories=True)
    return erasing.finish(
        run, user=user, scope="message", then=lambda: _summarize_again(user, [pk])
    )


def _summarize_again(user: User, conversations: Sequence[int]) -> None:
    """Those that are still there and whose summary was emptied."""
    there = Conversation.objects.filter(user=user, pk__in=conversations)
    for pk in there.order_by("pk").values_list("pk", flat=True):
        if Summary.everything.filter(user=user, conversation=pk, text="").exists():
            summaries.request(user=user, conversation_id=pk)


@handles(Kind.FORGET_CHOICE)
def forget_choice(run: Run) -> Mapping[str, Any]:
    """Erase the memories and messages that were chosen, with all that rests on them.

    Running it twice is safe: each step looks up by ids what is still there, the messages go last.
    """
    user, payload = run.user(), run.payload
    if user is None:
        return erasing.finish(run, user=None, scope="choice")
    with as_user(user):
        targets = forget_choices.targets_of(user, payload["messages"])
    _erase(run, user, targets, forget_memories=True, gone=payload["memories"])
    kept = ("messages",) if not payload["messages"] else ()
    return erasing.finish(
        run,
        user=user,
        scope="choice",
        kept=kept,
        then=lambda: _summarize_again(user, payload["conversations"]),
    )


@handles(Kind.CLEAR_CONVERSATION, is_long=True)
def clear_conversation(run: Run) -> Mapping[str, Any]:
    """Erase all that was said in a conversation up to the request.

    Running it twice is safe: what was said later has higher numbers and is never reached.
    """
    user = run.user()
    if user is not None:
        _erase_whole(run, user)
    return erasing.finish(run, user=user, scope="clear", kept=_kept(run))


@handles(Kind.FORGET_CONVERSATION, is_long=True)
def forget_conversation(run: Run) -> Mapping[str, Any]:
    """Erase a conversation; running it twice is safe, for the conversation's row goes last."""
    user = run.user()
    if user is not None:
        _erase_whole(run, user)
        pk = run.payload["conversation"]
        erasing.step(run, user=user, name="conversation", erase=lambda: _erase_row(user, pk))
    return erasing.finish(run, user=user, scope="conversation", kept=_kept(run))


def _erase_row(user: User, pk: int) -> Counts:
    exports = exporting.drop_exports_of(user=user, conversation=pk)
    erased = cascades.delete(Conversation.everything.filter(user=user, pk=pk))
    return {**erased, "ops_export": exports}


@handles(Kind.FORGET_LAYER, is_long=True)
def forget_layer(run: Run) -> Mapping[str, Any]:
    """Erase all summaries or episodes up to the request; what was said stays.

    Running it twice is safe: what is made from now on has higher keys.
    """
    user, layer, through = run.user(), run.payload["layer"], run.payload["through"]
    if user is not None:
        rows = layers.rows_of(user, layer=layer, through=through)
        erasing.remember(
            run, user=user, texts=lambda: remembering.words_of(rows), rows=lambda: [rows]
        )
        operation = run.operation
        steps: dict[str, Callable[[], Counts]] = {
            "index": lambda: layers.erase_layer(user, layer=layer, through=through),
            "copies": lambda: known_erasing.erase_copies(user=user, operation=operation),
            "exports": lambda: erasing.erase_transfers(user),
        }
        for name, erase in steps.items():
            erasing.step(run, user=user, name=name, erase=erase)
    return erasing.finish(run, user=user, scope=f"{layer}_layer", kept=("messages",))


def _erase_whole(run: Run, user: User) -> None:
    payload = run.payload
    with as_user(user):
        target = forgetting.whole(
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
    """What is made from messages first, and the messages last: they tell what is made from them.

    The memories in `gone` go whatever they rest on. It hides once more: something may have been
    learned while the request was on its way.
    """

    def hide() -> Counts:
        for target in targets:
            said.hide(user, target)
            forgetting.hide_memories(user, target, forget=forget_memories)
        return {}

    resting = forget_choices.resting_on(targets, gone=gone)
    erasing.step(run, user=user, name="hide", erase=hide)
    _remember(run, user, targets, resting=resting if forget_memories else None, gone=gone)
    if forget_memories:
        known.erase_in_rounds(run, user=user, resting=resting, gone=gone)
    operation, asked = run.operation, run.operation.created_at

    def of_each(erase: Callable[[User, Target], Counts]) -> Callable[[], Counts]:
        return lambda: sum((Counter(erase(user, one)) for one in targets), Counter())

    steps: dict[str, Callable[[], Counts]] = {
        "traces": of_each(partial(said.erase_traces, until=asked)),
        "index": of_each(said.erase_index),
        "summaries": of_each(said.erase_summaries),
        "turns": of_each(said.erase_turns),
        "messages": of_each(said.erase_messages),
        "copies": lambda: known_erasing.erase_copies(user=user, operation=operation),
        "exports": lambda: erasing.erase_transfers(user, [one.conversation for one in targets]),
    }
    for name, erase in steps.items():
        erasing.step(run, user=user, name=name, erase=erase)


def _remember(
    run: Run, user: User, targets: Sequence[Target], *, resting: Q | None, gone: Sequence[int]
) -> None:
    """`resting` is None where the memories that rest on it are kept."""
    found, elsewhere = Leaving(), list[str]()
    conversations = [one.conversation for one in targets]

    def look() -> list[str]:
        nonlocal found, elsewhere
        if resting is None:
            found = leaving.nothing(user=user, resting=forget_choices.resting_on(targets, gone=()))
        else:
            found = leaving.of(user=user, resting=resting, gone=gone)
        said_there = (
            remembering.words_of(rows) for one in targets for rows in said.words_of(user, one)
        )
        texts = [*found.texts, *chain.from_iterable(said_there)]
        elsewhere = [
            *leaving.said_elsewhere(user=user, texts=texts, without=found.along),
            *beside.staying(user=user, texts=texts, leaving=found, conversations=conversations),
        ]
        known_erasing.blank_questions_about(user=user, texts=texts)
        return texts

    erasing.remember(
        run,
        user=user,
        texts=look,
        rows=lambda: [
            *found.rows,
            *(rows for one in targets for rows in said.rows_of(user, one)),
            *_own_row(run, user),
        ],
        staying=lambda: [*found.staying, *elsewhere],
    )


def _own_row(run: Run, user: User) -> list[QuerySet[Conversation]]:
    if run.operation.kind != Kind.FORGET_CONVERSATION:
        return []
    return [Conversation.everything.filter(user=user, pk=run.payload["conversation"])]


def _kept(run: Run) -> tuple[str, ...]:
    return () if run.payload["forget_memories"] else ("memories",)


known_places.vouches(said.vouching)
known_places.caches(
    Cached("mc:temporary:", "conversations.services.temporary", messages=True),
    Cached("mc:answering:", "conversations.services.under_way"),
)
