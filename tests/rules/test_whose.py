"""A key that is bound to nobody must name the person in every call about one.

A backend whose variable is empty must not become a hole: neither an empty name nor an id of ours
says whose data is meant.
"""

from typing import Any

import pytest
from pytest_django import Settings

from ops.models import Operation, User
from tests.memcenter.rest.client import Api, answer, error
from tests.rows import rows_of
from tests.rules.test_endpoints import (
    Route,
    aimed,
    called,
    check_each_route,
    endpoint_count,
    example,
    path_of,
    routes,
    whole_key,
)
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


# Counted by hand: a rule that is checked for fewer endpoints than these guards less than it says.
PRODUCTS_OWN, OWNERS, BODIES, UPLOADS = 14, 5, 31, 1
KEYS = "ops_apikey"


def names_the_person(response: Any) -> bool:
    fields = error(response, 400, "invalid")["fields"]
    return bool({"user_id", "owner_id"} & set(fields))


WITH_BODIES = [
    one
    for one in routes()
    if one.method in ("post", "put", "patch") and one.endpoint.media == "application/json"
]


def test_the_endpoints_of_these_rules_are_those_of_the_urls() -> None:
    assert len(OF_ALL) + len(OF_A_PERSON) == endpoint_count()
    writing = [one for one in routes() if one.method in ("post", "put", "patch")]
    uploads = [one for one in writing if one.endpoint.media != "application/json"]
    assert len(WITH_BODIES) == len(writing) - len(uploads) and len(uploads) == UPLOADS


def test_a_call_that_names_no_person_is_refused(
    alice: User, ids: dict[str, str], settings: Settings
) -> None:
    key, before = whole_key(), rows_of(alice)

    def check(route: Route) -> None:
        # it is for the agents' calls
        settings.DEFAULT_OWNER = "" if route in OF_OWNERS else "alice"
        assert names_the_person(called(route, key, ids))
        assert rows_of(alice) == before

    check_each_route(check, OF_A_PERSON, count=endpoint_count() - PRODUCTS_OWN)


def test_an_empty_name_is_refused_whatever_the_key(
    alice: User, ids: dict[str, str], settings: Settings
) -> None:
    settings.DEFAULT_OWNER = "alice"
    ours, hers, before = whole_key(), whole_key(alice), rows_of(alice)

    def check(route: Route) -> None:
        for key in (ours, hers):
            assert names_the_person(called(route, key, ids, user_id=""))
            if route in OF_OWNERS:
                assert names_the_person(called(route, key, ids, owner_id=""))
        after = rows_of(alice)
        del after[KEYS]  # it was used
        assert after == {table: rows for table, rows in before.items() if table != KEYS}

    check_each_route(check)


def test_a_name_of_null_in_a_body_is_none(
    alice: User, ids: dict[str, str], settings: Settings
) -> None:
    settings.DEFAULT_OWNER = "alice"
    key, before = whole_key(), rows_of(alice)

    def check(route: Route) -> None:
        body = {**aimed(example(route), ids), "user_id": None}
        assert names_the_person(Api(key).call(route.method, path_of(route, ids), body))
        assert rows_of(alice) == before

    check_each_route(check, WITH_BODIES, count=BODIES)


def test_an_empty_name_in_the_query_of_a_write_is_refused(alice: User, ids: dict[str, str]) -> None:
    key = whole_key()

    def check(route: Route) -> None:
        if route in WITH_BODIES:
            body = aimed(example(route), ids)
            response = Api(key).call(route.method, path_of(route, ids), body, user_id="")
        else:
            response = called(route, key, ids, user_id="")
        assert names_the_person(response)

    check_each_route(check, OF_A_PERSON, count=endpoint_count() - PRODUCTS_OWN)


def test_the_products_own_keys_and_webhooks_need_no_person_and_show_none(
    alice: User, ids: dict[str, str]
) -> None:
    key, before = whole_key(), rows_of(alice)

    def check(route: Route) -> None:
        response = called(route, key, ids)
        assert response.status_code in (200, 201, 404)
        assert b"Alice's" not in response.content and b"alice.example" not in response.content
        assert rows_of(alice) == before

    check_each_route(check, OF_ALL, count=PRODUCTS_OWN)


def test_a_default_owner_is_meant_where_none_is_named(
    alice: User, ids: dict[str, str], settings: Settings
) -> None:
    settings.DEFAULT_OWNER = "alice"
    key = whole_key()

    def check(route: Route) -> None:
        assert called(route, key, ids).status_code in (200, 201)

    check_each_route(check, OF_OWNERS, count=OWNERS)


def test_a_default_owner_does_not_reach_the_ids_of_others(
    alice: User, mallory: User, ids: dict[str, str], settings: Settings
) -> None:
    settings.DEFAULT_OWNER = "mallory"
    key, before = whole_key(), rows_of(alice)

    def check(route: Route) -> None:
        assert b"plays chess" not in called(route, key, ids).content
        assert rows_of(alice) == before

    check_each_route(check, OF_OWNERS, count=OWNERS)


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
