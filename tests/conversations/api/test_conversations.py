import pytest

from conversations.models import Conversation
from ops.models import Operation, User
from tests.factories import make_conversation, make_memory, make_message, make_turn
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db
SHAPE = {
    "id",
    "external_id",
    "user_id",
    "title",
    "kind",
    "temporary",
    "message_count",
    "last_message_at",
    "created_at",
    "updated_at",
}


def test_a_conversation_is_started(alice: User, alice_key: str) -> None:
    body = {"conversation_id": "c1", "title": "Chess", "kind": "group"}
    made = answer(Api(alice_key).post("/conversations", body), 201)
    assert set(made) == SHAPE
    assert (made["external_id"], made["title"], made["kind"]) == ("c1", "Chess", "group")
    assert made["user_id"] == "alice" and made["temporary"] is False


def test_one_without_an_id_of_the_clients_gets_ours_only(alice: User, alice_key: str) -> None:
    made = answer(Api(alice_key).post("/conversations"), 201)
    assert made["id"].startswith("conv_") and made["external_id"] is None


def test_starting_it_again_gives_the_same(alice: User, alice_key: str) -> None:
    body = {"conversation_id": "c1", "title": "Chess"}
    first = answer(Api(alice_key).post("/conversations", body), 201)
    again = answer(Api(alice_key).post("/conversations", body | {"title": "Go"}), 200)
    assert (again["id"], again["title"]) == (first["id"], "Chess")


def test_the_list_has_the_newest_first_and_only_ones_own(
    alice: User, mallory: User, alice_key: str
) -> None:
    make_conversation(alice, title="one")
    make_conversation(mallory, title="hers")
    make_conversation(alice, title="two")
    page = answer(Api(alice_key).get("/conversations"))
    assert [one["title"] for one in page["results"]] == ["two", "one"]
    assert set(page["results"][0]) == SHAPE


def test_the_list_is_searched_by_title(alice: User, alice_key: str) -> None:
    make_conversation(alice, title="About chess")
    make_conversation(alice, title="About tea")
    page = answer(Api(alice_key).get("/conversations", query="CHESS"))
    assert [one["title"] for one in page["results"]] == ["About chess"]


@pytest.mark.parametrize("by_ours", [True, False])
def test_one_is_found_by_either_id(by_ours: bool, alice: User, alice_key: str) -> None:
    row = make_conversation(alice, external_id="c1", title="Chess")
    path = f"/conversations/{row.public_id if by_ours else 'c1'}"
    assert answer(Api(alice_key).get(path))["title"] == "Chess"


def test_it_is_renamed(alice: User, alice_key: str) -> None:
    row = make_conversation(alice)
    changed = answer(Api(alice_key).patch(f"/conversations/{row.public_id}", {"title": "Tea"}))
    assert changed["title"] == "Tea"
    row.refresh_from_db()
    assert row.title == "Tea"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", 7),
        ("title", "x" * 201),
        ("title", None),
        ("title", "a\x00b"),
        ("kind", "crowd"),
        ("kind", 7),
        ("temporary", "true"),
        ("conversation_id", 7),
        ("conversation_id", "conv_ours"),
        ("conversation_id", "op_ours"),
        ("conversation_id", "x" * 201),
        ("conversation_id", ""),
        ("conversation_id", "a\nb"),
    ],
)
def test_a_bad_field_is_named(field: str, value: object, alice: User, alice_key: str) -> None:
    refused(Api(alice_key).post("/conversations", {field: value}), field)
    assert not Conversation.objects.exists()


@pytest.mark.parametrize("title", [7, "x" * 201, None, ["x"]])
def test_a_bad_title_is_named(title: object, alice: User, alice_key: str) -> None:
    row = make_conversation(alice, title="Chess")
    refused(Api(alice_key).patch(f"/conversations/{row.public_id}", {"title": title}), "title")


def test_deleting_forgets_it(alice: User, alice_key: str) -> None:
    row = make_conversation(alice)
    memory = make_memory(alice, "Plays chess.", turns=[make_turn(row, "I play chess.")])
    api = Api(alice_key)
    accepted = answer(api.delete(f"/conversations/{row.public_id}"), 202)
    assert accepted["status"] == "accepted"
    operation = Operation.objects.get(public_id=accepted["op_id"])
    assert operation.kind == "forget_conversation" and operation.requested_by_key is not None
    error(api.get(f"/conversations/{row.public_id}"), 404)
    error(api.get(f"/memory/long_term/{memory.public_id}"), 404)


def test_deleting_may_keep_what_was_learned(alice: User, alice_key: str) -> None:
    row = make_conversation(alice)
    memory = make_memory(alice, "Plays chess.", turns=[make_turn(row, "I play chess.")])
    api = Api(alice_key)
    answer(api.delete(f"/conversations/{row.public_id}", forget_memories="false"), 202)
    answer(api.get(f"/memory/long_term/{memory.public_id}"))


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"forget_memories": "perhaps"}, "forget_memories"),
        ({"forget_memory": "false"}, "forget_memory"),
        ({"cascade": "true"}, "cascade"),
    ],
)
def test_a_doubtful_deletion_deletes_nothing(
    query: dict[str, str], field: str, alice: User, alice_key: str
) -> None:
    row = make_conversation(alice)
    refused(Api(alice_key).delete(f"/conversations/{row.public_id}", **query), field)
    assert Conversation.objects.filter(pk=row.pk).exists()


@pytest.mark.parametrize("method", ["get", "patch", "delete"])
def test_a_stranger_finds_nothing(method: str, alice: User, mallory_key: str) -> None:
    row = make_conversation(alice, external_id="c1", title="Chess")
    for name in (row.public_id, "c1"):
        body = {"title": "Stolen"} if method == "patch" else None
        error(Api(mallory_key).call(method, f"/conversations/{name}", body), 404, "not_found")
    row.refresh_from_db()
    assert row.title == "Chess" and row.hidden_at is None


def test_messages_of_a_stranger_are_not_found(alice: User, mallory_key: str) -> None:
    row = make_conversation(alice, external_id="c1")
    message = make_message(row, "Hello.")
    api = Api(mallory_key)
    error(api.get(f"/conversations/{row.public_id}/messages"), 404)
    error(api.get(f"/messages/{message.public_id}"), 404)
    error(api.delete(f"/messages/{message.public_id}"), 404)
    body = {"role": "user", "content": "Hi."}
    error(api.post(f"/conversations/{row.public_id}/messages", body), 404)
