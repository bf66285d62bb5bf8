from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from ops.accounts import keys
from ops.models import ApiKey, AuditEvent, IdempotencyRecord, Scope, User
from tests.conftest import key_row
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db
NEW = {"name": "Kitchen", "scopes": ["read", "write"]}


@pytest.fixture
def admin() -> Api:
    """Of nobody's, and it may do everything but make sign-in links."""
    scopes = [one for one in Scope.values if one != Scope.SIGNIN]
    return Api(keys.create(name="admin", scopes=scopes)[1])


def test_a_key_is_made_shown_once_and_works(admin: Api) -> None:
    made = answer(admin.post("/keys", {**NEW, "user_id": "ana"}), 201)
    assert made["key"].startswith("mc_") and made["prefix"] == made["key"][:10]
    assert (made["user_id"], made["name"], made["scopes"]) == ("ana", "Kitchen", ["read", "write"])
    written = answer(Api(made["key"]).post("/memory/long_term", {"content": "Likes tea."}), 201)
    assert written["user_id"] == "ana"
    error(Api(made["key"]).get("/memory/settings", user_id="bob"), 404, "not_found")
    again = answer(admin.get(f"/keys/{made['id']}", user_id="ana"))
    assert "key" not in again and again["last_used_at"] is not None
    assert made["key"] not in str(list(ApiKey.objects.values()))


def test_the_text_of_a_key_is_not_kept_to_be_given_again(admin: Api) -> None:
    once = {"Idempotency-Key": "k-1"}
    made = answer(admin.call("post", "/keys", NEW, headers=once), 201)
    assert made["key"] not in str(list(IdempotencyRecord.objects.values()))


def test_the_products_keys_and_a_persons_are_listed_apart(admin: Api) -> None:
    answer(admin.post("/keys", {**NEW, "user_id": "ana"}), 201)
    assert [one["name"] for one in answer(admin.get("/keys"))["results"]] == ["admin"]
    assert [one["name"] for one in answer(admin.get("/keys", user_id="ana"))["results"]] == [
        "Kitchen"
    ]


def test_a_bound_key_sees_to_its_persons_keys_only(
    alice: User, mallory_key: str, admin: Api
) -> None:
    own = Api(keys.create(name="own", scopes=["admin", "read"], user=alice)[1])
    made = answer(own.post("/keys", {"name": "A", "scopes": ["read"]}), 201)
    assert made["user_id"] == "alice"
    assert len(answer(own.get("/keys"))["results"]) == 2
    others = key_row(mallory_key).public_id
    for method, body in (("get", None), ("patch", {"name": "x"}), ("delete", None)):
        error(own.call(method, f"/keys/{others}", body), 404, "not_found")
    error(own.post("/keys", {**NEW, "user_id": "mallory"}), 404, "not_found")


def test_nobody_gives_more_than_they_may_do(admin: Api) -> None:
    error(admin.post("/keys", {"name": "A", "scopes": ["signin"]}), 403, "not_allowed")
    made = answer(admin.post("/keys", NEW), 201)
    changed = admin.patch(f"/keys/{made['id']}", {"scopes": ["signin"]})
    error(changed, 403, "not_allowed")


def test_a_key_is_renamed_narrowed_and_given_an_end(admin: Api) -> None:
    made = answer(admin.post("/keys", NEW), 201)
    soon = (timezone.now() + timedelta(days=1)).isoformat()
    body = {"name": "Pantry", "scopes": ["read"], "expires_at": soon}
    changed = answer(admin.patch(f"/keys/{made['id']}", body))
    assert (changed["name"], changed["scopes"]) == ("Pantry", ["read"])
    error(Api(made["key"]).post("/memory/long_term", {"user_id": "a", "content": "B"}), 403)
    ApiKey.objects.filter(name="Pantry").update(expires_at=timezone.now())
    error(Api(made["key"]).get("/memory/settings", user_id="ana"), 401, "unauthenticated")


def test_a_revoked_key_opens_nothing_and_stays_revoked(admin: Api) -> None:
    made = answer(admin.post("/keys", NEW), 201)
    path = f"/keys/{made['id']}"
    assert answer(admin.delete(path)) == {"status": "revoked", "id": made["id"]}
    error(Api(made["key"]).get("/memory/settings", user_id="ana"), 401, "unauthenticated")
    assert answer(admin.delete(path))["status"] == "revoked"
    error(admin.patch(path, {"name": "Back"}), 409, "conflict")
    assert answer(admin.get(path))["revoked_at"] is not None
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert {"key.made", "key.revoked"} <= actions


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "n" * 101),
        ("scopes", []),
        ("scopes", ["everything"]),
        ("expires_at", "2020-01-01T00:00:00Z"),
        ("expires_at", "soon"),
    ],
)
def test_a_key_that_is_not_valid_names_the_field(admin: Api, field: str, value: Any) -> None:
    assert refused(admin.post("/keys", {**NEW, field: value}), field)


@pytest.mark.parametrize("key_id", ["key_", "key_x", "key_999999", "7", "key_" + "9" * 40, "key_²"])
def test_an_unknown_key_is_not_found(admin: Api, key_id: str) -> None:
    error(admin.get(f"/keys/{key_id}"), 404, "not_found")


def test_unknown_words_in_a_revocation_are_refused(admin: Api) -> None:
    made = answer(admin.post("/keys", NEW), 201)
    assert refused(admin.delete(f"/keys/{made['id']}", all="true"), "all")


def test_a_key_may_refuse_the_calls_of_mem0_that_name_nobody(admin: Api) -> None:
    made = answer(admin.post("/keys", {**NEW, "requires_user": True}), 201)
    path = f"/keys/{made['id']}"
    assert made["requires_user"] and answer(admin.get(path))["requires_user"]
    assert not answer(admin.patch(path, {"requires_user": False}))["requires_user"]
    assert not answer(admin.post("/keys", NEW), 201)["requires_user"]
    refused(admin.post("/keys", {**NEW, "requires_user": "yes"}), "requires_user")


def test_a_key_that_requires_a_user_makes_none_that_does_not(alice: User) -> None:
    row, text = keys.create(name="strict", scopes=["admin", "read"], requires_user=True)
    api, path = Api(text), f"/keys/{row.public_id}"
    loose = {"name": "A", "scopes": ["read"]}
    error(api.post("/keys", loose), 403, "not_allowed")
    error(api.patch(path, {"requires_user": False}), 403, "not_allowed")
    assert answer(api.post("/keys", {**loose, "requires_user": True}), 201)["requires_user"]
    answer(api.patch(path, {"name": "B"}))
    answer(api.post("/keys", {**loose, "user_id": "alice"}), 201)  # bound: it reaches nobody else


def test_the_command_makes_a_key_that_requires_a_user(
    db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("createapikey", "--requires-user")
    assert key_row(capsys.readouterr().out.strip()).requires_user
    call_command("createapikey")
    assert not key_row(capsys.readouterr().out.strip()).requires_user
