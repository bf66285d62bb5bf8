import io
import json
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from conversations.importing import dialogues
from conversations.importing.dialogues import Loaded, OnProgress
from conversations.importing.formats.values import ImportedPerson
from conversations.management.commands import demo
from conversations.models import Conversation, Message, Turn
from foundation.errors import Invalid, ProviderError
from memories.models import Kind as MemoryKind
from memories.models import Memory, MemoryStatus, Origin
from ops import registry
from ops.accounts import users
from ops.models import Kind, Operation, Status, User
from ops.queue import outbox, worker
from ops.queue.run import Run
from ops.tasks import HEARTBEAT_KEY
from tests.claiming import claim
from tests.factories import make_memory

pytestmark = pytest.mark.django_db

Handle = Callable[[Any], None]


@pytest.fixture(autouse=True)
def _no_worker() -> Iterator[None]:
    cache.delete(HEARTBEAT_KEY)
    yield
    cache.delete(HEARTBEAT_KEY)


@pytest.fixture(autouse=True)
def handle(monkeypatch: pytest.MonkeyPatch) -> Handle:
    """Handlers that do what the test says, in place of those that really learn."""

    def put(handler: Any) -> None:
        kinds = {Kind.EXTRACT_TURN.value: handler, Kind.INDEX_EPISODE.value: lambda run: None}
        monkeypatch.setattr(registry, "_handlers", kinds)

    put(lambda run: None)
    return put


@pytest.fixture(autouse=True)
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How often the command waited, without waiting."""
    taken: list[float] = []

    def nap(seconds: float) -> None:
        taken.append(seconds)
        assert len(taken) < 100, "it waits for something that never comes"

    monkeypatch.setattr(time, "sleep", nap)
    return taken


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A file of two people; the first one's line names nobody."""
    lines: list[dict[str, Any]] = [
        {"conversation": "a", "user_message": "One", "assistant_message": "Yes"},
        {"conversation": "b", "user_message": "Two", "assistant_message": "Yes"},
        {"user": "bo", "user_message": "Three", "assistant_message": "Yes"},
    ]
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def run(*paths: Path, **options: Any) -> str:
    out = io.StringIO()
    call_command("demo", *map(str, paths), stdout=out, **options)
    return out.getvalue()


def printed(label: str, text: str) -> list[str]:
    return [line.split(label)[1].strip() for line in text.splitlines() if label in line]


def test_the_shipped_example_becomes_two_people_of_the_product() -> None:
    run()

    found = {str(one.external_id): one for one in User.objects.all()}
    assert set(found) == {"demo-lin-xiao", "demo-maya"}
    shown = {
        name: (one.display_name, users.settings_of(one).language, users.settings_of(one).timezone)
        for name, one in found.items()
    }
    assert shown == {
        "demo-lin-xiao": ("林晓", "zh-hans", "Asia/Shanghai"),
        "demo-maya": ("Maya", "en", "Europe/London"),
    }
    assert Conversation.objects.count() == 16
    assert Turn.objects.count() * 2 == Message.objects.count() > 150


def test_the_example_people_can_sign_in_with_what_was_printed() -> None:
    shown = run()

    logins, passwords = printed("Login 登录", shown), printed("Password 密码", shown)
    assert logins == ["linxiao", "maya"]
    for login, password in zip(logins, passwords, strict=True):
        found = authenticate(username=login, password=password)
        assert isinstance(found, User)
        assert str(found.external_id).replace("-", "") == f"demo{login}"


def test_the_second_run_changes_nothing_and_no_password() -> None:
    [password, _] = printed("Password 密码", run())
    messages, operations = Message.objects.count(), Operation.objects.count()

    shown = run()

    assert "Maya: nothing new, 84 messages were there" in shown
    assert printed("Login 登录", shown) == ["linxiao", "maya"]
    assert all("given before" in line for line in printed("Password 密码", shown))
    assert authenticate(username="linxiao", password=password) is not None
    assert (Message.objects.count(), Operation.objects.count()) == (messages, operations)


def test_somebody_who_registered_as_maya_stays_who_they_are() -> None:
    other = users.register(username="maya", password="a-long-password-1")

    shown = run(no_wait=True)

    assert printed("Login 登录", shown) == ["linxiao", "maya-2"]
    other.refresh_from_db()
    assert other.external_id is None and other.check_password("a-long-password-1")


def test_each_person_of_a_file_becomes_a_user_and_who_has_no_name_takes_the_files(
    talk: Path,
) -> None:
    shown = run(talk)

    found = Conversation.objects.values_list("user__external_id", "external_id").order_by("pk")
    assert list(found) == [("talk", "a"), ("talk", "b"), ("bo", "imported")]
    assert "Login" not in shown
    assert not User.objects.filter(username__isnull=False).exists()


def test_several_files_are_loaded_in_one_run(talk: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.jsonl"
    second.write_text(json.dumps({"role": "user", "content": "Hi"}), encoding="utf-8")

    run(talk, second)

    assert {one.external_id for one in User.objects.all()} == {"talk", "bo", "second"}


def test_without_a_worker_the_command_learns_itself(talk: Path, naps: list[float]) -> None:
    shown = run(talk)

    assert set(Operation.objects.values_list("status", flat=True)) == {Status.SUCCEEDED}
    assert "Learning 学习  0 of 6" in shown
    assert "Learning 学习  6 of 6" in shown
    assert naps == []


def test_where_a_worker_runs_the_command_only_watches(
    talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.set(HEARTBEAT_KEY, timezone.now().isoformat())
    started: list[int] = []
    monkeypatch.setattr(time, "sleep", lambda seconds: started.append(worker.drain(limit=2)))
    real = worker.drain
    monkeypatch.setattr(worker, "drain", lambda **how: real(limit=how["limit"]))

    shown = run(talk)

    assert started == [2, 2, 2]
    assert "Learning 学习  4 of 6" in shown


def test_it_takes_over_when_the_worker_is_gone(talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.set(HEARTBEAT_KEY, timezone.now().isoformat())
    monkeypatch.setattr(time, "sleep", lambda seconds: cache.delete(HEARTBEAT_KEY))

    run(talk)

    assert set(Operation.objects.values_list("status", flat=True)) == {Status.SUCCEEDED}


def test_it_takes_back_what_a_killed_worker_held(talk: Path) -> None:
    run(talk, no_wait=True)
    held = claim([Kind.EXTRACT_TURN], now=timezone.now())
    assert held is not None
    Operation.objects.filter(pk=held.pk).update(lease_until=timezone.now())

    run(talk)

    assert set(Operation.objects.values_list("status", flat=True)) == {Status.SUCCEEDED}


def test_no_wait_leaves_the_learning_to_a_worker(talk: Path) -> None:
    shown = run(talk, no_wait=True)

    assert set(Operation.objects.values_list("status", flat=True)) == {Status.PENDING}
    assert "Learning" not in shown
    assert printed("Still to do 待处理", shown) == ["6"]


def test_what_is_planned_for_later_or_has_no_handler_is_not_waited_for(
    talk: Path, naps: list[float]
) -> None:
    bo = users.find_or_create("bo")
    later = timezone.now() + timedelta(minutes=30)
    outbox.enqueue(Kind.EXTRACT_TURN, subject=bo.subject, payload={}, run_after=later)
    outbox.enqueue(Kind.REINDEX, subject=bo.subject, payload={})

    shown = run(talk)

    assert printed("Still to do 待处理", shown) == ["2"]
    assert naps == []


def test_what_will_be_tried_again_is_waited_for(
    talk: Path, handle: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def busy_at_first(run: Run) -> None:
        calls.append(run.operation.pk)
        if len(calls) == 1:
            raise ProviderError("The model is busy.", retryable=True)

    handle(busy_at_first)
    due_now = {"run_after": timezone.now()}
    monkeypatch.setattr(time, "sleep", lambda seconds: Operation.objects.update(**due_now))

    run(talk)

    assert len(calls) == 4
    assert set(Operation.objects.values_list("status", flat=True)) == {Status.SUCCEEDED}


def test_failed_operations_are_named_and_end_it_with_an_error(talk: Path, handle: Handle) -> None:
    def broken(run: Run) -> None:
        raise Invalid("The model answers nonsense.")

    handle(broken)
    out = io.StringIO()

    with pytest.raises(CommandError) as caught:
        call_command("demo", str(talk), stdout=out)

    assert caught.value.returncode == 1
    assert printed("Failed 失败", out.getvalue()) == ["3"]
    assert "3 x extract_turn: The model answers nonsense." in out.getvalue()


def test_failed_operations_are_tried_again_when_asked(
    talk: Path, handle: Handle, alice: User
) -> None:
    def broken(run: Run) -> None:
        raise Invalid("The model answers nonsense.")

    handle(broken)
    other = outbox.enqueue(Kind.EXTRACT_TURN, subject=alice.subject, payload={})
    with pytest.raises(CommandError):
        run(talk)
    handle(lambda run: None)
    with pytest.raises(CommandError, match="--retry"):
        run(talk)

    assert printed("Failed 失败", run(talk, retry=True)) == ["0"]
    other.refresh_from_db()
    assert other.status == Status.FAILED


def test_other_peoples_failures_are_not_this_files(talk: Path, alice: User) -> None:
    failed = outbox.enqueue(Kind.EXTRACT_TURN, subject=alice.subject, payload={})
    Operation.objects.filter(pk=failed.pk).update(status=Status.FAILED)

    assert printed("Failed 失败", run(talk)) == ["0"]


def test_the_summary_counts_the_memories_of_these_people(talk: Path, handle: Handle) -> None:
    make_memory(users.find_or_create("alice"), "Something")

    def learn(run: Run) -> None:
        user = run.user()
        assert user is not None
        status = MemoryStatus.CANDIDATE if user.external_id == "bo" else MemoryStatus.ACTIVE
        with run.applying(user):
            Memory.objects.create(
                user=user,
                kind=MemoryKind.FACT,
                content="Something",
                status=status,
                origin=Origin.EXTRACTED,
                created_at=timezone.now(),
            )

    handle(learn)

    shown = run(talk)

    assert printed("Memories 记忆", shown) == ["2"]
    assert printed("To review 待确认", shown) == ["1"]


def test_what_could_not_be_read_or_recorded_is_listed(talk: Path, settings: Settings) -> None:
    settings.MAX_MESSAGE_CHARS = 100
    long = json.dumps({"user_message": "x" * 101, "assistant_message": "Yes"})
    talk.write_text(f"{talk.read_text()}\n[]\n{long}", encoding="utf-8")

    shown = run(talk)

    assert "line 4: not a JSON object" in shown
    assert "imported 1: A message has at most 100 characters." in shown
    assert "xxx" not in shown


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "No such file"), ("neither", "none of the formats")],
)
def test_a_file_that_can_not_be_read_stops_it_before_anything_is_written(
    talk: Path, tmp_path: Path, content: str | None, problem: str
) -> None:
    path = tmp_path / "wrong.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")

    with pytest.raises(CommandError, match=problem):
        run(talk, path)

    assert not User.objects.exists()


def test_a_person_being_forgotten_is_not_loaded(talk: Path) -> None:
    users.find_or_create("bo")
    User.objects.filter(external_id="bo").update(hidden_at=timezone.now())

    with pytest.raises(CommandError, match="being forgotten"):
        run(talk)

    assert not Message.objects.filter(user__external_id="bo").exists()


def test_ctrl_c_says_what_there_is_and_that_it_can_be_completed(
    talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = dialogues.load_person

    def interrupted(person: ImportedPerson, *, user: User, on_progress: OnProgress) -> Loaded:
        if user.external_id == "bo":
            raise KeyboardInterrupt
        return load(person, user=user, on_progress=on_progress)

    monkeypatch.setattr(dialogues, "load_person", interrupted)
    out = io.StringIO()

    with pytest.raises(CommandError) as caught:
        call_command("demo", str(talk), stdout=out)

    assert caught.value.returncode == 130
    assert printed("Still to do 待处理", out.getvalue()) == ["4"]
    monkeypatch.setattr(dialogues, "load_person", load)
    run(talk)
    assert Message.objects.count() == 6


def test_in_a_log_each_conversation_has_its_line_and_titles_stay_out(talk: Path) -> None:
    shown = run(talk)

    lines = [line.split("  ", 1)[1] for line in shown.splitlines() if line.startswith("Recording")]
    assert lines == ["talk 1/2  2 of 4", "talk 2/2  4 of 4", "bo 1/1  2 of 2"]


def test_a_terminal_sees_one_line_that_moves(talk: Path) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()

    call_command("demo", str(talk), stdout=screen)

    bars = [line for line in screen.getvalue().split("\r") if line.startswith("\x1b[K[")]
    assert bars[0].startswith("\x1b[K[##########          ] Recording 写入  talk 1/2  2 of 4")
    assert any("[####################] Learning 学习  6 of 6" in bar for bar in bars)


def test_an_id_taken_from_a_file_is_one_that_a_user_may_have() -> None:
    assert demo._id_from(Path("/x/Über us.json")) == "Über us"
    assert demo._id_from(Path("/x/a\nb.json")) == "ab"
    assert demo._id_from(Path("/x/\x01")) == "imported"
    assert len(demo._id_from(Path("/x/" + "n" * 90))) == 64
