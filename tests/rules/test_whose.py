"""A key that is bound to nobody must name the person in every call about one.

A backend whose variable is empty must not become a hole: neither an empty name nor an id of ours
says whose data is meant.
"""

import re
from typing import Any

import pytest
from pytest_django import Settings

from ops.models import Operation, User
from tests.memcenter.rest.client import Api, answer, error
from tests.rows import rows_of
from tests.rules.test_endpoints import Route, aimed, called, example, routes, whole_key
from tests.rules.test_endpoints import ids as ids

pytestmark = pytest.mark.django_db
# Keys and webhooks may be the product's own, and metrics may be of all people.
OF_ALL = [one for one in routes() if one.endpoint.all_users_for is not None]
OF_A_PERSON = [one for one in routes() if one.endpoint.all_users_for is None]
OF_OWNERS = [
    one
    for one in OF_A_PERSON
    if one.endpoint.takes is not None and "owner_id" in one.endpoint.takes().fields
]


def names_the_person(response: Any) -> bool:
    fields = error(response, 400, "invalid")["fields"]
    return bool({"user_id", "owner_id"} & set(fields))


@pytest.mark.parametrize("route", OF_A_PERSON, ids=str)
def test_a_call_that_names_no_person_is_refused(
    route: Route, alice: User, ids: dict[str, str], settings: Settings
) -> None:
    settings.DEFAULT_OWNER = "" if route in OF_OWNERS else "alice"  # it is for the agents' calls
    before = rows_of(alice)
    assert names_the_person(called(route, whole_key(), ids))
    assert rows_of(alice) == before


@pytest.mark.parametrize("route", routes(), ids=str)
def test_an_empty_name_is_refused_whatever_the_key(
    route: Route, alice: User, alice_key: str, ids: dict[str, str], settings: Settings
) -> None:
    settings.DEFAULT_OWNER = "alice"
    before = rows_of(alice)
    for key in (whole_key(), whole_key(alice)):
        assert names_the_person(called(route, key, ids, user_id=""))
        if route in OF_OWNERS:
            assert names_the_person(called(route, key, ids, owner_id=""))
    assert rows_of(alice).keys() == before.keys()


WITH_BODIES = [
    one
    for one in routes()
    if one.method in ("post", "put", "patch") and one.endpoint.media == "application/json"
]


@pytest.mark.parametrize("route", WITH_BODIES, ids=str)
def test_a_name_of_null_in_a_body_is_none(
    route: Route, alice: User, ids: dict[str, str], settings: Settings
) -> None:
    settings.DEFAULT_OWNER = "alice"
    before = rows_of(alice)
    body = {**aimed(example(route), ids), "user_id": None}
    path = route.path
    for name, value in ids.items():
        path = re.sub(rf"<\w+:{name}>", value, path)
    assert names_the_person(Api(whole_key()).call(route.method, path, body))
    assert rows_of(alice) == before


@pytest.mark.parametrize("route", OF_A_PERSON, ids=str)
def test_an_empty_name_in_the_query_of_a_write_is_refused(
    route: Route, alice: User, ids: dict[str, str]
) -> None:
    if route in WITH_BODIES:
        path = route.path
        for name, value in ids.items():
            path = re.sub(rf"<\w+:{name}>", value, path)
        body = aimed(example(route), ids)
        response = Api(whole_key()).call(route.method, path, body, user_id="")
    else:
        response = called(route, whole_key(), ids, user_id="")
    assert names_the_person(response)


@pytest.mark.parametrize("route", OF_ALL, ids=str)
def test_the_products_own_keys_and_webhooks_need_no_person_and_show_none(
    route: Route, alice: User, ids: dict[str, str]
) -> None:
    before = rows_of(alice)
    response = called(route, whole_key(), ids)
    assert response.status_code in (200, 201, 404)
    assert b"Alice's" not in response.content and b"alice.example" not in response.content
    assert rows_of(alice) == before


@pytest.mark.parametrize("route", OF_OWNERS, ids=str)
def test_a_default_owner_is_meant_where_none_is_named(
    route: Route, alice: User, ids: dict[str, str], settings: Settings
) -> None:
    settings.DEFAULT_OWNER = "alice"
    assert called(route, whole_key(), ids).status_code in (200, 201)


@pytest.mark.parametrize("route", OF_OWNERS, ids=str)
def test_a_default_owner_does_not_reach_the_ids_of_others(
    route: Route, alice: User, mallory: User, ids: dict[str, str], settings: Settings
) -> None:
    settings.DEFAULT_OWNER = "mallory"
    before = rows_of(alice)
    response = called(route, whole_key(), ids)
    assert b"plays chess" not in response.content
    assert rows_of(alice) == before


def test_an_owner_and_a_user_must_be_the_same(alice: User, mallory: User) -> None:
    api = Api(whole_key())
    assert names_the_person(api.get("/projects", owner_id="alice", user_id="mallory"))
    answer(api.get("/projects", owner_id="alice", user_id="alice"))


def test_a_query_must_not_name_two_people(alice: User, mallory: User) -> None:
    response = Api(whole_key()).get("/memory/settings?user_id=alice&user_id=mallory")
    assert names_the_person(response)


def test_the_key_that_asked_for_an_operation_reads_it_without_naming_the_person(
    product_key: str,
) -> None:
    said = {"conversation_id": "c1", "user_message": "I play chess.", "assistant_message": "Ok."}
    api, other = Api(product_key), Api(whole_key())
    begun = answer(api.post("/turns", {**said, "user_id": "alice"}), 201)["op_ids"]
    begun.append(
        answer(api.post("/clear", {"conversation_id": "c1", "user_id": "alice"}), 202)["op_id"]
    )
    for op_id in begun:
        path = f"/memory/ops/{op_id}"
        assert answer(api.get(path))["op_id"] == op_id
        assert names_the_person(other.get(path))
        assert answer(other.get(path, user_id="alice"))["op_id"] == op_id
        Operation.objects.filter(public_id=op_id).update(status="failed")
        assert names_the_person(api.post(f"{path}/retry"))
        answer(api.post(f"{path}/retry", {"user_id": "alice"}))
