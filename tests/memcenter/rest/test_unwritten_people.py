"""Lists, settings and searches of somebody who has not written yet: empty, and nobody appears."""

import pytest

from ops.accounts import keys
from ops.models import User
from tests.case_loop import check_each
from tests.memcenter.rest.client import Api, answer, error
from tests.rules.test_endpoints import routes

pytestmark = pytest.mark.django_db
ROOT = "/api/v1"
# A summary is a single thing, and keys are asked for with a scope of their own.
SINGLE = ("/memory/summary", "/keys")
LISTS = [
    path
    for one in routes()
    if one.method == "get"
    and "<" not in one.path
    and (path := one.path.removeprefix(ROOT)) not in SINGLE
]
LIST_COUNT = 15  # counted by hand
ASKED = {"query": "tea", "ids": "mem_x", "conversation_id": "c1"}


def test_whatever_names_no_single_thing_is_answered(product_key: str) -> None:
    def check(path: str) -> None:
        found = answer(Api(product_key).get(path, user_id="nobody", **ASKED))
        assert found.get("results", []) == []
        assert not User.objects.filter(external_id="nobody").exists()

    check_each(LISTS, check, count=LIST_COUNT)


def test_the_keys_of_somebody_are_a_list_too() -> None:
    key = keys.create(name="all", scopes=["read", "admin"])[1]
    assert answer(Api(key).get("/keys", user_id="nobody"))["results"] == []


def test_a_conversation_that_is_not_there_is_not_found(alice: User, product_key: str) -> None:
    for path in ("/search", "/memory/episodes"):
        error(Api(product_key).get(path, user_id="alice", **ASKED), 404)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/search", {"query": "tea"}),
        ("/memories/search", {"query": "tea"}),
        ("/memories/timeline", {}),
    ],
)
def test_a_search_finds_nothing(path: str, query: dict[str, str], product_key: str) -> None:
    found = answer(Api(product_key).get(path, user_id="nobody", **query))
    assert not found.get("results")
    assert not User.objects.filter(external_id="nobody").exists()


def test_settings_are_the_defaults(product_key: str) -> None:
    found = answer(Api(product_key).get("/memory/settings", user_id="nobody"))
    assert found["longterm_enabled"] is True
    assert not User.objects.filter(external_id="nobody").exists()


@pytest.mark.parametrize(
    "path",
    [
        *("/memory/long_term/mem_x", "/conversations/c1", "/messages/msg_x", "/memory/ops/op_x"),
        *("/conversations/c1/messages", "/memory/summary"),
    ],
)
def test_a_single_thing_stays_not_found(path: str, product_key: str) -> None:
    error(Api(product_key).get(path, user_id="nobody", conversation_id="c1"), 404)
