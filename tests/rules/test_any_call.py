"""Whatever is sent to the API, it answers as its own description says, and never with a 5xx.

`API_TRIES=500 pytest tests/rules/test_any_call.py` looks longer, at other calls each time.
"""

import functools
import os
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
    ]
)
# OpenAPI 3.0 can call a stream a text, not say what each event holds: test_events.py does.
SHAPE: Any = CHECKS.get_one("response_schema_conformance")


def operations() -> list[Any]:
    schema: Any = schemathesis.openapi.from_dict(generated())
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


def aimed(values: Any, ids: Mapping[str, str | None]) -> Any:
    """The same call, about things that are there: made-up ids find nothing to break."""
    if not isinstance(values, dict):
        return values
    return {name: ids.get(name, value) for name, value in values.items()}


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
            case.path_parameters = aimed(case.path_parameters, ids)
            case.query = aimed(case.query, ids)
            case.body = aimed(case.body, ids)
        headers = {"Authorization": f"Bearer {key}"}
        left_out = [SHAPE] if operation.path.endswith("/events") else []
        case.call_and_validate(
            headers=headers, checks=HELD, excluded_checks=left_out, app=product()
        )

    holds()


looking = how(
    max_examples=TRIES or 8,
    derandomize=not TRIES,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
