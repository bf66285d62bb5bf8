"""The fixed cast: Alice owns, Mallory must not."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, connections
from django.utils import translation
from pytest_django import DjangoDbBlocker

from foundation import deferred_writes
from foundation.database import statements
from memories import language_steps
from ops import access, audit_log
from ops.access import as_system
from ops.accounts import keys, users
from ops.models import ApiKey, User
from tests import databases, redis_keys
from tests.leftovers import remove_files_and_keys
from tests.live import product as product
from tests.pair_reader import FakePairs

# A slow hash guards real passwords; here it would take more time than all the rest.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Django's outbox for tests takes the place of a mail server.
settings.EMAIL_HOST, settings.DEFAULT_FROM_EMAIL = "smtp.example.org", "memory@example.org"
# Nothing is collected for the tests, so there are no hashed names of static files.
_STATIC = "django.contrib.staticfiles.storage.StaticFilesStorage"
settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": _STATIC}}

LEARNED_PAIRS = language_steps.pair_reader
ALL_SCOPES = ["read", "write", "forget", "export", "signin"]

# The files that take longest, a minute to six each, longest first: begun last, one of them would
# keep its worker busy after the others are done.
LONGEST = (
    "bench/test_reader_floors.py",
    "browser/test_admin.py",
    "browser/test_every_page.py",
    "scenarios/test_killing.py",
    "scenarios/test_restoring.py",
    "memcenter/test_wheel.py",
    "scenarios/test_milvus.py",
    "memcenter/test_stuck_web.py",
    "browser/test_chat_answers.py",
    "ops/test_hidden_at_once.py",
    "foundation/embedded/test_earlier_version.py",
    "ops/test_processor_time.py",
    "deploy/test_image.py",
    "browser/test_forget_card.py",
    "scenarios/test_a_day.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first; the others stay in their random order."""
    tests = Path(__file__).parent
    places = {tests / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        databases.start()
    yield
    with django_db_blocker.unblock():
        connections.close_all()


@pytest.fixture(scope="session", autouse=True)
def no_block_outlives_itself() -> Iterator[None]:
    """Leave the person and the role of a block where its transaction is a part of the test's.

    They are local to the transaction, and that of the test goes on.
    """
    within_the_block = access._ending

    @contextmanager
    def ending() -> Iterator[None]:
        with within_the_block():
            yield
        if connection.savepoint_ids:
            left = "SELECT set_config('memcenter.user', '', true), set_config('role', 'none', true)"
            statements.rows(left)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "_ending", ending)
        yield


@pytest.fixture
def one_connection(db: None) -> Iterator[None]:
    """A handler of requests would end each by closing what a test's transaction lives in."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture(scope="session", autouse=True)
def redis_keys_are_looked_at() -> Iterator[None]:
    with redis_keys.looked_at():
        yield


@pytest.fixture
def alice(db: None) -> User:
    return users.find_or_create("alice")


@pytest.fixture
def mallory(db: None) -> User:
    return users.find_or_create("mallory")


@pytest.fixture
def product_key(db: None) -> str:
    """An unbound backend key."""
    with as_system():
        return keys.create(name="backend", scopes=ALL_SCOPES)[1]


@pytest.fixture
def alice_key(alice: User) -> str:
    return keys.create(name="alice's", scopes=ALL_SCOPES, user=alice)[1]


@pytest.fixture
def mallory_key(mallory: User) -> str:
    return keys.create(name="mallory's", scopes=ALL_SCOPES, user=mallory)[1]


@pytest.fixture(autouse=True)
def nothing_of_other_tests() -> Iterator[None]:
    """A test's rows are rolled back, its files and keys are not: the next one would meet them."""
    yield
    remove_files_and_keys()


@pytest.fixture(autouse=True)
def pairs(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakePairs]:
    """How two texts stand to each other, as a test tells it."""
    fake = FakePairs()
    monkeypatch.setattr(language_steps, "pair_reader", lambda: fake)
    language_steps.bundled_arbiter.cache_clear()
    yield fake
    language_steps.bundled_arbiter.cache_clear()


@pytest.fixture
def learned_pairs(pairs: FakePairs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundled reader of pairs instead of the one of the tests."""
    monkeypatch.setattr(language_steps, "pair_reader", LEARNED_PAIRS)
    language_steps.bundled_arbiter.cache_clear()


@pytest.fixture(autouse=True)
def nobody_acts_yet() -> None:
    """A request leaves its thread with who acted and with a language, until the next one comes."""
    audit_log.set_actor("operator", "command")
    translation.deactivate()


@pytest.fixture(autouse=True)
def no_write_is_deferred() -> Iterator[None]:
    """What an answer leaves to be written is written; a stop of the product would wait for it."""
    yield
    assert deferred_writes.wait_until_done(within=60)


def key_row(text: str) -> ApiKey:
    return ApiKey.objects.get(digest=keys.digest(text))
