"""Every link of the description is followed: of each id that a call answers, to each call about it.

`test_call_after_call.py` goes on from there at random; here nothing is left to luck.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.db import transaction
from pytest_django import Settings

from memcenter.rest.openapi import operations
from ops import webhooks
from ops.accounts import keys
from ops.api import views_operations
from ops.models import Operation, Scope, Status, User
from ops.queue import worker
from tests.memcenter.rest.test_schema import generated
from tests.memcenter.rest.test_schema import world as world
from tests.rules.test_any_call import HELD, SHAPE, product

# What ends a thing comes after all that needs it.
_ORDER = ("get", "patch", "put", "post", "delete")


class Caller:
    """Makes the calls of the description as its own examples show them, about what is there."""

    def __init__(self, key: str, user_id: str, ids: dict[str, str]) -> None:
        self.document = generated()
        self.schema: Any = schemathesis.openapi.from_dict(self.document)
        self.methods = {
            one["operationId"]: (method, one) for _path, method, one in operations(self.document)
        }
        self._key, self._user_id, self._ids = key, user_id, ids

    def call(self, name: str, path: dict[str, str]) -> Any:
        operation = self.schema.find_operation_by_id(name)
        case = operation.Case(path_parameters={**self._ids, **path}, **self._given(name))
        return case.call_and_validate(
            headers={"Authorization": f"Bearer {self._key}"},
            checks=HELD,
            excluded_checks=[SHAPE] * operation.path.endswith("/events"),
            app=product(),
        )

    def _given(self, name: str) -> dict[str, Any]:
        one = self.methods[name][1]
        for media, shown in one.get("requestBody", {}).get("content", {}).items():
            return {"body": self._about_them(shown["example"]), "media_type": media}
        needed = {
            asked["name"]: asked["example"]
            for asked in one.get("parameters", ())
            if asked["in"] == "query" and asked.get("required")
        }
        return {"query": {**needed, "user_id": self._user_id}}

    def _about_them(self, shown: Any) -> dict[str, Any]:
        """The example with ids of what is there; a client's own ids stay as they are."""
        told = dict(shown, user_id=self._user_id)
        for name, known in self._ids.items():
            if str(told.get(name, "")).partition("_")[0] == known.partition("_")[0]:
                told[name] = known
        return told

    def sources(self) -> list[str]:
        return [name for name, (_method, one) in self.methods.items() if _links(one)]

    def linked(self) -> set[str]:
        return {
            link["operationId"] for _method, one in self.methods.values() for link in _links(one)
        }

    def following(self, name: str, response: Any) -> Iterator[tuple[str, dict[str, str]]]:
        """Where an answer leads, what ends things last."""
        told = self.methods[name][1]["responses"].get(str(response.status_code), {})
        found = told.get("links", {}).values()
        for one in sorted(found, key=lambda one: self._place(one["operationId"])):
            fields = {to: said.rpartition("/")[-1] for to, said in one["parameters"].items()}
            said = response.json()
            yield one["operationId"], {to: said[field] for to, field in fields.items()}

    def _place(self, name: str) -> int:
        return _ORDER.index(self.methods[name][0])


def _links(one: dict[str, Any]) -> list[dict[str, Any]]:
    return [link for told in one["responses"].values() for link in told.get("links", {}).values()]


def reached(caller: Caller, source: str, *, run: bool = False) -> set[str]:
    """What could be called about an answer, before or after the operation that it names is run."""
    before = transaction.savepoint()  # not `atomic`: inside one the product refuses to begin
    response = caller.call(source, {})
    if run:
        worker.drain()
    found = {
        name
        for name, path in caller.following(source, response)
        if caller.call(name, path).status_code < 300
    }
    transaction.savepoint_rollback(before)
    return found


@pytest.mark.usefixtures("one_connection")
def test_every_link_leads_to_what_was_answered(
    alice: User, world: dict[str, str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMIT = settings.RATE_LIMIT_HEAVY = 1_000_000
    monkeypatch.setattr(views_operations, "EVENTS_SECONDS", 0)
    monkeypatch.setattr(webhooks, "check_address", lambda url: None)
    key = keys.create(name="whole", scopes=list(Scope.values))[1]
    caller = Caller(key, str(alice.external_id), world)
    Operation.objects.update(status=Status.SUCCEEDED)  # one of the world would forget it all
    found = set().union(*(reached(caller, source) for source in caller.sources()))
    for source in ("clear_post", "export_post", "import_post"):
        found |= reached(caller, source, run=True)
    Operation.objects.update(status=Status.FAILED)
    found |= reached(caller, "operation_retry_post")
    assert found == caller.linked()
