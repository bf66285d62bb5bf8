"""Calls that follow each other: what one answers, the next is about, as the description links them.

With a key of the whole product, each story about a person of its own.
`API_TRIES=200 pytest tests/rules/test_call_after_call.py` looks longer, at other stories each time.
"""

import itertools
from collections import Counter
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis import settings as how
from hypothesis.stateful import run_state_machine_as_test
from pytest_django import Settings
from schemathesis import Case

from ops import webhooks
from ops.access import as_system
from ops.accounts import keys
from ops.api import views_operations
from ops.models import Scope
from tests.memcenter.rest.test_schema import generated
from tests.rules.test_any_call import FORM, HELD, SHAPE, TRIES, product

LONGER = TRIES or 8
_STORIES = itertools.count()


@pytest.mark.usefixtures("one_connection")
def test_what_one_call_answers_the_next_can_be_about(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMIT = settings.RATE_LIMIT_HEAVY = 1_000_000
    monkeypatch.setattr(views_operations, "EVENTS_SECONDS", 0)
    monkeypatch.setattr(webhooks, "check_address", lambda url: None)
    with as_system():
        key = keys.create(name="whole", scopes=list(Scope.values))[1]
    schema: Any = schemathesis.openapi.from_dict(generated())
    schema.app = product()
    machine: Any = schema.as_state_machine()
    followed: Counter[str] = Counter()

    class Story(machine):  # type: ignore[misc]
        def setup(self) -> None:
            super().setup()
            self.person = f"story-{next(_STORIES)}"

        def before_call(self, case: Case[Any]) -> None:
            told_of(case, self.person)

        def get_call_kwargs(self, case: Case[Any]) -> dict[str, Any]:
            return {"headers": {"Authorization": f"Bearer {key}"}}

        def validate_response(
            self, response: Any, case: Case[Any], additional_checks: Any = None, **more: Any
        ) -> None:
            stream = case.operation.path.endswith("/events")
            left_out = [*FORM, *[SHAPE] * stream]  # `test_any_call` says which refusals are right
            case.validate_response(response, checks=HELD, excluded_checks=left_out)
            if case.path_parameters and response.status_code < 300:
                followed[case.operation.label] += 1

    run_state_machine_as_test(Story, settings=looking)
    assert followed  # how many is luck: `test_every_link.py` leaves none out


def told_of(case: Case[Any], person: str) -> None:
    """A key of nobody's has to say whom it means."""
    if isinstance(case.body, dict):
        case.body = {**case.body, "user_id": person}
        case.body.pop("owner_id", None)
    else:
        case.query = {**(case.query or {}), "user_id": person}
    if case.query and "owner_id" in case.query:
        case.query = {**case.query, "owner_id": person}


looking = how(
    max_examples=LONGER,
    stateful_step_count=12,
    derandomize=not TRIES,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
