import pytest

from ops.models import User, UserSettings
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db
PATH = "/memory/settings"


def test_all_switches_are_shown(alice: User, alice_key: str) -> None:
    found = answer(Api(alice_key).get(PATH))
    assert found.pop("updated_at")
    assert found == {
        "user_id": "alice",
        "summary_enabled": True,
        "episodic_enabled": True,
        "longterm_enabled": True,
        "confirm_before_remembering": False,
        "language": "",
        "timezone": "UTC",
        "theme": "auto",
    }


@pytest.mark.parametrize("method", ["put", "patch"])
def test_what_is_named_is_changed(method: str, alice: User, alice_key: str) -> None:
    changes = {
        "longterm_enabled": False,
        "language": "zh-hans",
        "timezone": "Asia/Shanghai",
        "theme": "dark",
    }
    found = answer(Api(alice_key).call(method, PATH, changes))
    assert {name: found[name] for name in changes} == changes
    assert found["summary_enabled"] is True
    assert answer(Api(alice_key).get(PATH)) == found


def test_a_product_may_decide_before_the_first_turn(product_key: str) -> None:
    answer(Api(product_key).patch(PATH, {"user_id": "bob", "longterm_enabled": False}))
    assert not UserSettings.objects.get(user__external_id="bob").longterm_enabled


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("summary_enabled", "yes"),
        ("episodic_enabled", 1),
        ("longterm_enabled", None),
        ("confirm_before_remembering", []),
        ("language", "tlh"),
        ("language", 7),
        ("timezone", "Mars/Olympus"),
        ("timezone", ["UTC"]),
        ("timezone", "../../etc/passwd"),
        ("theme", "pink"),
        ("theme", None),
        ("theme", "a\x00b"),
    ],
)
def test_a_bad_setting_is_named_and_nothing_is_changed(
    field: str, value: object, alice: User, alice_key: str
) -> None:
    refused(Api(alice_key).patch(PATH, {"confirm_before_remembering": True, field: value}), field)
    assert not UserSettings.objects.get(user=alice).confirm_before_remembering


def test_a_stranger_reads_and_changes_nothing(alice: User, mallory_key: str) -> None:
    error(Api(mallory_key).get(PATH, user_id="alice"), 404, "not_found")
    body = {"user_id": "alice", "longterm_enabled": False}
    error(Api(mallory_key).patch(PATH, body), 404, "not_found")
    assert UserSettings.objects.get(user=alice).longterm_enabled
