"""Whatever is sent to the API, it answers as its own description says, and never with a 5xx.

`API_TRIES=500 pytest tests/rules/test_any_call.py` looks longer, at other calls each time.
"""

import functools
import os
import zoneinfo
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as how
from hypothesis import strategies as st
from pytest_django import Settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from conversations.recording import temporary
from memcenter.rest.openapi import operations as described
from ops.accounts import keys
from ops.api import views_operations
from ops.models import Scope, User
from tests.memcenter.rest.test_schema import generated
from tests.memcenter.rest.test_schema import world as world

MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
TRIES = int(os.environ.get("API_TRIES", "0"))
load_all_checks()
HELD: list[Any] = CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "negative_data_rejection",
        "positive_data_acceptance",
    ]
)
# What no schema can say: a part of the answer to a valid call that is refused, then the calls in
# which that is excused (a part of their path), and why.
EXCUSED: dict[str, tuple[str, str]] = {
    "Take the cursor from": ("", "a cursor is opaque"),
    "two people": ("", "two fields name a person, and must be equal"),
    "years 2 and 9998": ("", "the ends of the calendar"),
    "NUL characters": ("", "a NUL in a field that no schema declares"),
    "looks like a secret": ("", "a secret is recognised by its text"),
    "be larger than": ("", "the size of a whole object"),
    "levels deep": ("", "how deep an object is nested"),
    "The two messages need two ids": ("turns", "two fields must differ"),
    '"fields":{"file":': ("memory/import", "what the file holds"),
    '"fields":{"path":': ("memory/files/{file_path}", "each name in a path is checked"),
    "printable characters": ("webhooks", "printable is told by Unicode"),
    "The memory is not valid": ("memory/long_term", "valid_until isn't before valid_from"),
    "Name the project of": ("memory", "a setting names a default project"),
    "A project key has": ("ingest/memory", "a key is derived from the name"),
    "That date is in the past": ("keys", "depends on the time of the call"),
    "address": ("webhooks", "an address is looked up"),
    "This id is not one of ours": ("memory/flush", "an id that doesn't exist"),
    "This version doesn’t exist": ("restore", "a number that doesn't exist"),
    "would escape": ("files/tool", "each name in a path is checked"),
    "A path ": ("files/tool", "each name in a path is checked"),
    "A name in a path": ("files/tool", "each name in a path is checked"),
    "verbatim in": ("files/tool", "old_str depends on the content of the file"),
    "Multiple occurrences": ("files/tool", "old_str depends on the content of the file"),
    "`insert_line` parameter": ("files/tool", "depends on the length of the file"),
}
# OpenAPI 3.0 can call a stream a text, not say what each event holds: test_events.py does.
SHAPE: Any = CHECKS.get_one("response_schema_conformance")
FORM: list[Any] = CHECKS.get_by_names(["negative_data_rejection", "positive_data_acceptance"])


schemathesis.openapi.format("time-zone", st.sampled_from(sorted(zoneinfo.available_timezones())))


def operations() -> list[Any]:
    """All operations, without their security: every call here has its key."""
    document = generated()
    for _path, _method, operation in described(document):
        operation.pop("security")
    schema: Any = schemathesis.openapi.from_dict(document)
    accepting = schema.config.checks.positive_data_acceptance
    accepting.expected_statuses = [*accepting.expected_statuses, "412", "413"]
    return [one.ok() for one in schema.get_all_operations()]


@pytest.fixture
def in_passing(alice: User) -> Iterator[None]:
    """Erase the temporary conversations that were begun: Redis knows no transaction to undo."""
    yield
    temporary.erase_all(alice)


@functools.cache
def product() -> Callable[..., Any]:
    """Each answer is read and closed, as a server does it: what it owes is written then."""
    inner = WSGIHandler()

    def handle(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        response = inner(environ, start_response)
        try:
            return [b"".join(response)]
        finally:
            response.close()

    return handle


def aim_at(case: Case[Any], ids: Mapping[str, str | None]) -> None:
    """Let the same call be about things that are there: made-up ids find nothing to break.

    An id that is wrong on purpose stays.
    """
    wrong = {one.parameter for one in mutations(case)}
    there = {name: value for name, value in ids.items() if name not in wrong}
    for part in ("path_parameters", "query", "body"):
        values = getattr(case, part)
        if isinstance(values, dict) and case.media_type != "multipart/form-data":
            setattr(case, part, {name: there.get(name, value) for name, value in values.items()})


def mutations(case: Case[Any]) -> list[Any]:
    """Return what makes the case wrong on purpose."""
    return list(getattr(case.meta and case.meta.phase.data, "mutations", None) or [])


def is_excused(path: str, response: Any) -> bool:
    """Return whether a call was refused for a reason that no schema can say."""
    told = response.content.decode() if response.status_code == 400 else ""
    return any(said in told and where in path for said, (where, _reason) in EXCUSED.items())


def is_taken_apart(case: Case[Any]) -> bool:
    """Return whether only single memories of a batch are wrong: the answer says so of each."""
    places = [one.path for one in mutations(case)]
    return bool(places) and all(len(one) > 1 and one[0] == "memories" for one in places)


@pytest.mark.usefixtures("one_connection", "in_passing")
@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("operation", operations(), ids=lambda one: one.label)
def test_any_call_is_answered_as_described(
    operation: Any,
    mode: GenerationMode,
    alice: User,
    world: dict[str, str],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.RATE_LIMIT = settings.RATE_LIMIT_HEAVY = 1_000_000
    monkeypatch.setattr(views_operations, "EVENTS_SECONDS", 0)
    operation.schema.app = product()
    key = keys.create(name="whole", scopes=list(Scope.values), user=alice)[1]
    ids = {**world, "user_id": alice.external_id, "owner_id": alice.external_id}

    @looking
    @given(case=operation.as_strategy(generation_mode=mode), aim=st.booleans())
    def holds(case: Case[Any], aim: bool) -> None:
        if aim:
            aim_at(case, ids)
        headers = {"Authorization": f"Bearer {key}"}
        response = case.call(headers=headers, app=product())
        left_out = [SHAPE] if operation.path.endswith("/events") else []
        if is_excused(operation.path, response) or is_taken_apart(case):
            left_out += FORM
        case.validate_response(response, checks=HELD, excluded_checks=left_out, headers=headers)

    holds()


looking = how(
    max_examples=TRIES or 8,
    derandomize=not TRIES,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
