import pytest

from memories.models import Kind
from ops.accounts import users
from ops.models import User
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer, error

pytestmark = pytest.mark.django_db


def test_the_portrait_has_groups_of_phrases(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Allergic to nuts", tags=["food"], kind=Kind.CONSTRAINT)
    (group,) = answer(Api(alice_key).get("/memory/portrait"))["groups"]
    assert group["group"] == "food"
    (phrase,) = group["phrases"]
    assert (phrase["id"], phrase["content"]) == (memory.public_id, "Allergic to nuts")


def test_it_is_empty_while_memory_is_off(alice: User, alice_key: str) -> None:
    make_memory(alice, "Allergic to nuts")
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    assert answer(Api(alice_key).get("/memory/portrait")) == {"groups": []}


def test_a_stranger_is_not_found(alice: User, mallory_key: str) -> None:
    error(Api(mallory_key).get("/memory/portrait", user_id="alice"), 404, "not_found")
