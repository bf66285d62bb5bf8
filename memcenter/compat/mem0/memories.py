"""Views for mem0's `add`, `get_all`, `search` and `delete_all`, and for single memories."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from conversations.models import MessageTime
from conversations.recording import conversation_names, turns
from conversations.recording.turns import MessageInput
from foundation import ids as made_ids
from foundation.errors import Invalid
from memcenter.compat.mem0 import filters, memory_search, people, rendering
from memcenter.compat.mem0.filters import ANY, ENTITIES
from memcenter.compat.mem0.people import Mem0View
from memcenter.rest.endpoint import ParsedRequest, endpoint
from memories import selectors
from memories.forgetting import memory_forgets
from memories.models import Memory, Origin
from memories.recall.search import prepare_query
from memories.writing import curation, direct_writes
from memories.writing.direct_writes import MemoryInput
from ops.access import as_user
from ops.models import Operation, Scope, User

UNANSWERED = "…"
_LONGEST_THREAD = 200
_MOST_MESSAGES = 500


@dataclass(frozen=True)
class Ids:
    user: str | None = None
    agent: str = ""
    app: str = ""
    run: str = ""

    @property
    def thread(self) -> str:
        """Return the conversation's external id, which differs for each run, agent and app."""
        given = {"run": self.run, "agent": self.agent, "app": self.app}
        name = memory_search.THREADS + ";".join(
            f"{key}={value}" for key, value in given.items() if value
        )
        if len(name) <= _LONGEST_THREAD:
            return name
        return memory_search.THREADS + hashlib.sha256(name.encode()).hexdigest()

    @property
    def labels(self) -> dict[str, str]:
        given = {"agent_id": self.agent, "app_id": self.app, "run_id": self.run}
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True)
class AddCall:
    """The validated body of an `add` call."""

    ids: Ids
    messages: list[tuple[str, str]]
    infer: bool
    metadata: Mapping[str, Any]
    at: datetime | None
    until: datetime | None

    def labels(self) -> dict[str, Any]:
        """Return the labels (key-value pairs) to store with each turn of this call.

        The value of `call` is a new random id, which identifies all turns of the call.
        """
        given: dict[str, Any] = {"call": made_ids.request_id(), **self.ids.labels}
        if self.metadata:
            given["metadata"] = dict(self.metadata)
        if self.until is not None:
            given["valid_until"] = self.until.isoformat()
        if self.at is not None:
            given["occurred_at"] = self.at.isoformat()
        return given


def parse_add(body: Mapping[str, Any]) -> AddCall:
    """Parse the body of an `add` call. Raise `Invalid`, naming the field, if a value is invalid."""
    at = body.get("timestamp")
    return AddCall(
        ids=ids_of(body),
        messages=list(_messages(body.get("messages"))),
        infer=body.get("infer") is not False,
        metadata=filters.read_metadata(body.get("metadata")),
        at=None if at is None else filters.read_time(at, field="timestamp"),
        until=filters.read_expiry(body.get("expiration_date")),
    )


def ids_of(body: Mapping[str, Any]) -> Ids:
    """Return the user, agent, app and run that a body names at the top level or in `filters`.

    In `filters`, these names may also be inside an AND. Raise `Invalid` if the body names none of
    the four, or if a name is `*`.
    """
    found: dict[str, str] = {}
    for place in (*_flat(body.get("filters")), body):
        for key in ENTITIES:
            if place.get(key) is not None:
                found[key] = filters.read_name(place[key], field=key)
    if not found or ANY in found.values():
        raise Invalid.field("user_id", "Give user_id, agent_id, app_id or run_id, each by name.")
    return Ids(
        found.get("user_id"),
        found.get("agent_id", ""),
        found.get("app_id", ""),
        found.get("run_id", ""),
    )


def pair_messages(messages: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return turns, each of which pairs a user message with the answer that follows it.

    A placeholder stands in for a missing message or answer.
    """
    turns: list[tuple[str, str]] = []
    said: str | None = None
    for role, text in messages:
        if role == "user":
            if said is not None:
                turns.append((said, UNANSWERED))
            said = text
        else:
            turns.append((said or UNANSWERED, text))
            said = None
    if said is not None:
        turns.append((said, UNANSWERED))
    return turns


def _flat(filters: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(filters, dict):
        inner = filters.get("AND")
        for item in inner if isinstance(inner, list) else ():
            if isinstance(item, dict):
                yield item
        yield filters


def _messages(given: Any) -> Iterator[tuple[str, str]]:
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    listed = [given] if isinstance(given, dict) else given
    if not isinstance(listed, list) or len(listed) > _MOST_MESSAGES:
        raise Invalid.field("messages", f"Give a list of at most {_MOST_MESSAGES} messages.")
    some = False
    for message in listed:
        if not isinstance(message, dict):
            raise Invalid.field("messages", "Each message has a role and a content.")
        text = _text_of(message.get("content"))
        if message.get("role") in ("user", "assistant") and text.strip():
            some = True
            yield message["role"], text
    if not some:
        raise Invalid.field("messages", "Nobody says anything in them.")


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [part["text"] for part in parts if isinstance(part, dict) and "text" in part]
    return "\n".join(text for text in texts if isinstance(text, str))


_PAGE, _LARGEST_PAGE, _LAST_PAGE = 100, 200, 10_000
_BEST, _MOST, _THRESHOLD = 10, 1_000, 0.1


class AddView(Mem0View):
    @endpoint(summary="Learn from messages", answers={}, idempotent=False)
    def post(self, parsed: ParsedRequest) -> Response:
        given = parse_add(parsed.data)
        user = people.resolve_writable_user(parsed, given.ids.user)
        if given.infer:
            labels = given.labels()
            learning: list[Operation] = []
            with as_user(user):
                direct_writes.check_on(user)
                thread = conversation_names.find_or_create(user=user, reference=given.ids.thread)
                for said, reply in _inputs(given):
                    recorded = turns.record_turn(
                        user=user,
                        conversation=thread,
                        user_message=said,
                        assistant_message=reply,
                        labels=labels,
                        occurred_at=given.at,
                    )
                    learning.append(recorded.operations[0])
            operation = learning[-1]
            answer = {"event_id": operation.public_id, "status": "PENDING", "results": []}
            return Response(answer)
        stored = _store(given, user=user)
        return Response(
            {
                "message": "Memories stored as they are.",
                "status": "SUCCEEDED",
                "event_id": stored[0].public_id,  # already stored, so there is no operation
                "results": [rendering.stored_memory(memory) for memory in stored],
            }
        )


class MemoriesView(Mem0View):
    @endpoint(summary="List memories", answers={}, scope=Scope.READ, idempotent=False)
    def post(self, parsed: ParsedRequest) -> Response:
        number = _number(parsed, "page", default=1, most=_LAST_PAGE)
        size = _number(parsed, "page_size", default=_PAGE, most=_LARGEST_PAGE)
        search = memory_search.parse_filters(parsed.data)
        whose = people.resolve_readable_users(parsed, search.tree)
        count, found = memory_search.page(whose, search, number=number, size=size)
        return Response(
            {
                "count": count,
                "next": _link(parsed, number + 1) if number * size < count else None,
                "previous": _link(parsed, number - 1) if number > 1 else None,
                "results": [rendering.found_memory(match) for match in found],
            }
        )


class SearchView(Mem0View):
    @endpoint(summary="Search memories", answers={}, scope=Scope.READ, idempotent=False)
    def post(self, parsed: ParsedRequest) -> Response:
        text = parsed.data.get("query")
        if not isinstance(text, str) or not text.strip():
            raise Invalid.field("query", "Say what to search for.")
        limit = filters.read_number(
            parsed.data.get("top_k"), field="top_k", default=_BEST, most=_MOST
        )
        search = memory_search.parse_filters(parsed.data)
        whose = people.resolve_readable_users(parsed, search.tree)
        prepared = prepare_query(text.strip())
        threshold = _threshold(parsed.data.get("threshold"))
        found = memory_search.find_best(prepared, whose, search, limit=limit, threshold=threshold)
        results = [{**rendering.found_memory(match), "score": match.score} for match in found]
        return Response({"results": results})


class DeleteAllView(Mem0View):
    @endpoint(summary="Forget the memories of a user, agent, app or run", answers={})
    def delete(self, parsed: ParsedRequest) -> Response:
        search = memory_search.parse_query_filters(parsed.data)
        whose = people.resolve_readable_users(parsed, search.tree)
        first = memory_search.forget_matching(whose, search.tree, key_id=parsed.key_id)
        event_id = first.public_id if first else None
        return Response({"message": "Memories deleted successfully!", "event_id": event_id})


class MemoryView(Mem0View):
    @endpoint(summary="One memory", answers={})
    def get(self, parsed: ParsedRequest) -> Response:
        user = people.owner_of_memory(parsed, parsed.ids["memory_id"])
        with as_user(user):
            row = selectors.memory_of(user, parsed.ids["memory_id"], with_bin=False)
        return Response(rendering.memory(row, user=user))

    @endpoint(summary="Change a memory", answers={}, idempotent=False)
    def put(self, parsed: ParsedRequest) -> Response:
        user = people.owner_of_memory(parsed, parsed.ids["memory_id"])
        row = change(parsed.ids["memory_id"], parsed.data, user=user)
        return Response(rendering.memory(row, user=user))

    @endpoint(summary="Forget a memory", answers={})
    def delete(self, parsed: ParsedRequest) -> Response:
        user = people.owner_of_memory(parsed, parsed.ids["memory_id"])
        with as_user(user, changing=True):
            row = selectors.memory_of(user, parsed.ids["memory_id"])
            memory_forgets.forget_memory(user=user, memory=row, requested_by_key=parsed.key_id)
        return Response({"message": "Memory deleted successfully!", "cascade_count": 0})


class HistoryView(Mem0View):
    @endpoint(summary="List the earlier texts of a memory", answers={})
    def get(self, parsed: ParsedRequest) -> Response:
        user = people.owner_of_memory(parsed, parsed.ids["memory_id"])
        with as_user(user):
            row = selectors.memory_of(user, parsed.ids["memory_id"])
            versions = list(selectors.versions_of(row).order_by("number"))
        return Response(rendering.history(row, versions, user=user))


def change(memory_id: str, given: Mapping[str, Any], *, user: User) -> Memory:
    """Update the given fields of a memory (text, metadata, timestamp, expiry); return the memory.

    Raise `Invalid` if no field is given or a value is invalid.
    """
    [row] = change_several({memory_id: given}, user=user)
    return row


def change_several(given: Mapping[str, Mapping[str, Any]], *, user: User) -> list[Memory]:
    """Update memories as `change` does; `given` maps their ids to the changes.

    If one memory can't be changed, none of them is changed.
    """
    prepared = []
    for memory_id, fields in given.items():
        changes: dict[str, Any] = {}
        if fields.get("text") is not None:
            if not isinstance(fields["text"], str):
                raise Invalid.field("text", "Must be text.")
            changes["content"] = fields["text"]
        if fields.get("metadata") is not None:
            changes["metadata"] = filters.read_metadata(fields["metadata"])
        if fields.get("timestamp") is not None:
            changes["occurred_at"] = filters.read_time(fields["timestamp"], field="timestamp")
        if "expiration_date" in fields:
            changes["valid_until"] = filters.read_expiry(fields["expiration_date"])
        if not changes:
            raise Invalid.field("text", "Give text, metadata, timestamp or expiration_date.")
        with as_user(user):
            row = selectors.memory_of(user, memory_id, with_bin=False)
        prepared.append((row, curation.prepare_edit(changes, memory=row, actor=Origin.API)))
    with as_user(user, changing=True):
        return [
            curation.edit(edit, user=user, memory=row, actor=Origin.API) for row, edit in prepared
        ]


def _inputs(given: AddCall) -> Iterator[tuple[MessageInput, MessageInput]]:
    """Yield the user message and the answer of each turn.

    Clients resend earlier messages, so only the last turn is marked as received now; earlier turns
    are marked as undated. If the call contains a `timestamp`, all turns are marked as dated.
    """
    pairs = pair_messages(given.messages)
    for place, (said, reply) in enumerate(pairs, start=1):
        told = MessageTime.RECEIVED if place == len(pairs) else MessageTime.UNDATED
        told = MessageTime.DATED if given.at is not None else told
        yield MessageInput(said, told=told), MessageInput(reply, told=told)


def _store(given: AddCall, *, user: User) -> list[Memory]:
    prepared = [
        direct_writes.prepare(
            MemoryInput(
                content=text,
                kind=direct_writes.kind_of(text),
                occurred_at=given.at,
                valid_until=given.until,
                agent_id=given.ids.agent,
                app_id=given.ids.app,
                run_id=given.ids.run,
                metadata=given.metadata,
            ),
            origin=Origin.API,
            describes=False,
        )
        for _, text in given.messages
    ]
    with as_user(user, at_once=False):
        return direct_writes.store(prepared, user=user)


def _threshold(value: Any) -> float:
    if value is None:
        return _THRESHOLD
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Invalid.field("threshold", "Must lie between 0 and 1.")
    return float(value)


def _number(parsed: ParsedRequest, name: str, *, default: int, most: int) -> int:
    given = parsed.request.query_params.get(name) or parsed.data.get(name)
    return filters.read_number(given, field=name, default=default, most=most)


def _link(parsed: ParsedRequest, number: int) -> str:
    return replace_query_param(parsed.request.build_absolute_uri(), "page", number)
