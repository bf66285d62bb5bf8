from urllib.parse import quote

import pytest

from ops.access import as_system
from ops.accounts import keys, users
from ops.models import User
from tests.factories import make_conversation, make_memory, make_message
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db
TURN = {"conversation_id": "c1", "user_message": "Hello.", "assistant_message": "Hi."}


def test_a_bound_key_may_leave_the_user_out(alice: User, alice_key: str) -> None:
    assert answer(Api(alice_key).get("/memory/settings"))["user_id"] == "alice"


def test_a_bound_key_reaches_nobody_else(alice: User, mallory_key: str) -> None:
    error(Api(mallory_key).get("/memory/settings", user_id="alice"), 404, "not_found")


def test_an_unbound_key_must_say_whose(product_key: str) -> None:
    refused(Api(product_key).get("/memory/settings"), "user_id")
    refused(Api(product_key).post("/turns", TURN), "user_id")


def test_the_user_may_stand_in_the_query_of_a_write(product_key: str) -> None:
    answer(Api(product_key).post("/turns", TURN, user_id="bob"), 201)
    assert User.objects.filter(external_id="bob").exists()


def test_query_and_body_must_not_name_two_users(product_key: str) -> None:
    body = {**TURN, "user_id": "bob"}
    refused(Api(product_key).post("/turns", body, user_id="carol"), "user_id")
    assert not User.objects.filter(external_id__in=["bob", "carol"]).exists()


@pytest.mark.parametrize("value", [7, [], {}, "", "x" * 65, "a\nb", True, 2**80])
def test_an_impossible_user_id_is_named(value: object, product_key: str) -> None:
    refused(Api(product_key).post("/turns", {**TURN, "user_id": value}), "user_id")


def test_user_ids_are_compared_byte_for_byte(alice: User, product_key: str) -> None:
    make_memory(alice, "Likes tea.")
    assert answer(Api(product_key).get("/memory/long_term", user_id="alice"))["results"]
    assert answer(Api(product_key).get("/memory/long_term", user_id="Alice"))["results"] == []


def test_reading_does_not_make_anybody_appear(product_key: str) -> None:
    assert answer(Api(product_key).get("/memory/settings", user_id="bob"))["user_id"] == "bob"
    assert not User.objects.filter(external_id="bob").exists()


def test_bad_input_does_not_make_anybody_appear(product_key: str) -> None:
    refused(Api(product_key).post("/turns", {"user_id": "bob"}), "user_message")
    assert not User.objects.filter(external_id="bob").exists()


def test_forgetting_nobody_does_not_make_anybody_appear(product_key: str) -> None:
    body = {"user_id": "bob", "scope": "user"}
    error(Api(product_key).post("/memory/forget", body), 404, "not_found")
    assert not User.objects.filter(external_id="bob").exists()


def test_the_first_write_notes_the_key_that_made_the_user(product_key: str) -> None:
    answer(Api(product_key).post("/turns", {**TURN, "user_id": "bob"}), 201)
    bob = User.objects.get(external_id="bob")
    assert bob.created_by is not None and bob.created_by.name == "backend"


def test_an_id_of_ours_does_not_say_whose_it_is(alice: User, product_key: str) -> None:
    memory = make_memory(alice, "Alice plays chess.")
    path = f"/memory/long_term/{memory.public_id}"
    refused(Api(product_key).get(path), "user_id")
    assert answer(Api(product_key).get(path, user_id="alice"))["user_id"] == "alice"


def test_our_id_and_another_user_do_not_belong_together(
    alice: User, mallory: User, product_key: str
) -> None:
    conversation = make_conversation(alice)
    message = make_message(conversation, "Hello.")
    memory = make_memory(alice, "Alice plays chess.")
    for path in (
        f"/conversations/{conversation.public_id}",
        f"/messages/{message.public_id}",
        f"/memory/long_term/{memory.public_id}",
    ):
        error(Api(product_key).get(path, user_id="mallory"), 404, "not_found")


def test_a_clients_own_id_needs_the_user(alice: User, product_key: str) -> None:
    make_conversation(alice, external_id="c1")
    refused(Api(product_key).get("/conversations/c1"), "user_id")


@pytest.fixture
def web_user(db: None) -> User:
    return users.register(username="wendy", password="a long enough one")


@pytest.fixture
def staff(db: None) -> User:
    return User.objects.create_superuser("root", "a long enough one")


@pytest.mark.parametrize("who", ["web_user", "staff"])
def test_an_unbound_key_never_reaches_who_has_no_external_id(
    who: str, product_key: str, request: pytest.FixtureRequest
) -> None:
    user: User = request.getfixturevalue(who)
    memory = make_memory(user, "Likes tea.")
    api = Api(product_key)
    path = f"/memory/long_term/{memory.public_id}"
    refused(api.get(path), "user_id")
    for name in (user.username, str(user.pk), str(user.subject)):
        assert answer(api.get("/memory/long_term", user_id=name))["results"] == []
        error(api.get(path, user_id=name), 404, "not_found")


def test_their_own_key_reaches_who_has_no_external_id(web_user: User) -> None:
    text = keys.create(name="wendy's", scopes=["read"], user=web_user)[1]
    assert answer(Api(text).get("/memory/settings"))["user_id"] is None
    error(Api(text).get("/memory/settings", user_id="wendy"), 404, "not_found")


def test_while_a_user_is_forgotten_writes_conflict_and_reads_find_nobody(
    alice: User, product_key: str
) -> None:
    answer(Api(product_key).post("/memory/forget", {"user_id": "alice", "scope": "user"}), 202)
    body = {**TURN, "user_id": "alice"}
    error(Api(product_key).post("/turns", body), 409, "being_forgotten")
    error(Api(product_key).get("/memory/settings", user_id="alice"), 404, "not_found")


def test_asking_to_be_forgotten_again_gives_the_same_answer(alice: User, product_key: str) -> None:
    body = {"user_id": "alice", "scope": "user"}
    first = answer(Api(product_key).post("/memory/forget", body), 202)
    assert answer(Api(product_key).post("/memory/forget", body), 202) == first


def test_operations_stay_readable_while_a_user_is_forgotten(alice: User, product_key: str) -> None:
    answer(Api(product_key).post("/memory/forget", {"user_id": "alice", "scope": "user"}), 202)
    found = answer(Api(product_key).get("/memory/ops", user_id="alice"))
    assert [one["kind"] for one in found["results"]] == ["forget_user"]


def test_other_fields_that_nobody_knows_are_ignored(product_key: str) -> None:
    body = {**TURN, "user_id": "bob", "shoe_size": 42}
    answer(Api(product_key).post("/turns", body, colour="red"), 201)


def test_a_hidden_users_objects_are_nowhere(alice: User, product_key: str) -> None:
    memory = make_memory(alice, "Alice plays chess.")
    with as_system():
        User.objects.filter(pk=alice.pk).update(hidden_at="2026-01-01T00:00Z")
    path = f"/memory/long_term/{memory.public_id}"
    error(Api(product_key).get(path, user_id="alice"), 404, "not_found")


ALIKE = [
    "Zo\u00eb",  # composed
    "Zoe\u0308",  # and not
    "ana",
    "ana ",
    " ana",
    "Ana",
    "\uff41na",  # full width
    "\U0001f469\u200d\U0001f467",  # one family, joined
    "\U0001f469\U0001f467",  # two people
    "\U0001f3f3\ufe0f" * 32,  # 64 characters in 224 bytes
    "\U0001f600" * 64,  # 256 bytes
    "a/b?c=d&e#f",
    "%41na",
    "a\u00a0b",
    "a b",
]


def test_ids_that_look_alike_are_as_many_people(product_key: str) -> None:
    api = Api(product_key)
    for number, name in enumerate(ALIKE):
        said = {"user_message": f"I own {number} cats.", "assistant_message": "Nice."}
        answer(api.post("/turns", {"user_id": name, "conversation_id": name, **said}), 201)
    for number, name in enumerate(ALIKE):
        [row] = answer(api.get("/conversations", user_id=name))["results"]
        assert (row["user_id"], row["external_id"]) == (name, name)
        path = f"/conversations/{quote(name, safe='')}/messages"
        if "/" not in name:  # a slash in a path is one more part of it: our id is there for that
            messages = answer(api.get(path, user_id=name))["results"]
            assert messages[0]["content"] == f"I own {number} cats."
        one = answer(api.get(f"/conversations/{row['id']}", user_id=name))
        assert one["user_id"] == name
