"""What `memcenter doctor` says, and what it tells people to do."""

from __future__ import annotations

import errno
import io
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from django.conf import LazySettings
from django.core.management import call_command

from foundation.embedded import postgres
from foundation.embedded.folder import DataFolder
from foundation.embedded.supervisor import Address
from memcenter.management.commands import doctor
from tests.chat_server import Answer, ChatServer, refused, said, serving


@pytest.fixture
def place() -> Iterator[Path]:
    """Short and open to all, unlike pytest's own: sockets fit and other users may pass."""
    path = Path(tempfile.mkdtemp(prefix="mc-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


class Port(NamedTuple):
    address: Address
    holder: socket.socket


@pytest.fixture
def taken() -> Iterator[Port]:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        yield Port(Address("127.0.0.1", holder.getsockname()[1]), holder)


_NOBODY = 65_534


def test_a_folder_that_may_be_written_to_is_well(place: Path) -> None:
    folder, found = doctor.examine_folder(place / "data")
    assert folder and folder.path == place / "data"
    assert found.state == "ok"


def test_a_file_in_the_way_of_the_folder_is_told_with_two_ways_out(place: Path) -> None:
    (place / "file").touch()
    folder, found = doctor.examine_folder(place / "file" / "data")
    assert folder is None and found.state == "wrong"
    assert f"{place}/file/data can't be used (Not a directory)" in found.text
    assert found.advice.startswith("Move the file away") and "MEMCENTER_DATA_DIR" in found.advice


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (errno.EACCES, "Make it (sudo install -d -o $USER {path}), or set MEMCENTER_DATA_DIR"),
        (errno.EROFS, "Mount the disk that holds it for writing, or set MEMCENTER_DATA_DIR"),
        (errno.ENOSPC, "Free space on the disk that holds it."),
    ],
)
def test_a_folder_that_cant_be_made_is_told_with_what_helps(
    place: Path, monkeypatch: pytest.MonkeyPatch, code: int, advice: str
) -> None:
    def refuse(path: Path, **options: object) -> None:
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    found = doctor.examine_folder(place / "data")[1]
    assert found.text == f"The data folder {place}/data can't be used ({os.strerror(code)})."
    assert found.advice.startswith(advice.format(path=place / "data"))


def test_a_damaged_file_of_secrets_is_to_be_put_back(place: Path) -> None:
    (place / "secrets.json").write_text("{}")
    found = doctor.examine_folder(place)[1]
    assert found.text == f"The file {place}/secrets.json is damaged."
    assert found.advice.startswith("Put that file back from a copy")


def test_a_disk_without_room_for_a_file_is_told(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    found = doctor.examine_folder(place / "data")[1]
    assert found.state == "wrong" and "No space left on device" in found.text
    assert found.advice == "Free space on the disk that holds it."


def test_the_ledgers_folder_must_be_possible_and_is_not_made(place: Path) -> None:
    assert doctor.examine_ledger(place / "data-ledger").state == "ok"
    assert not (place / "data-ledger").exists()
    (place / "file").touch()
    assert doctor.examine_ledger(place / "file" / "data-ledger").state == "wrong"


def test_a_nearly_full_disk_is_told_before_postgres_stops(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(place)
    assert doctor.examine_disk(place / "not" / "yet").text.endswith("GB free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=400_000_000))
    found = doctor.examine_disk(place)
    assert found.state == "wrong"
    assert "nearly full: 0.4 GB free" in found.text and "Free at least 1.0 GB" in found.advice


def test_a_taken_port_comes_with_a_free_one(taken: Port, place: Path) -> None:
    found = doctor.examine_port(taken.address, DataFolder(place / "data"))
    assert found.text == f"Another program listens on 127.0.0.1:{taken.address.port}."
    port = int(found.advice.partition("PORT=")[2].split()[0])
    with socket.create_server(("127.0.0.1", port)):
        assert port != taken.address.port


def test_a_port_of_ones_own_instance_that_hangs_is_told(taken: Port, place: Path) -> None:
    folder = DataFolder(place / "data")
    taken.holder.close()
    with folder.lock("serve"):
        assert doctor.examine_port(taken.address, folder).state == "ok"
        with socket.create_server(("127.0.0.1", taken.address.port)):
            found = doctor.examine_port(taken.address, folder)
    assert found.state == "wrong" and "doesn't answer" in found.text


def test_an_address_of_another_machine_is_told(place: Path) -> None:
    found = doctor.examine_port(Address("192.0.2.1", 8000), None)
    assert found.state == "wrong" and "MEMCENTER_HOST" in found.advice


@pytest.mark.parametrize("port", [99_999, 70_000])
def test_a_number_that_no_port_has_is_told(port: int) -> None:
    found = doctor.examine_port(Address("127.0.0.1", port), None)
    assert found.state == "wrong" and "no port has this number" in found.text
    assert found.advice.startswith("Take another port: PORT=80")


def as_nobody(look: Callable[[], bool]) -> bool:
    """Root may do everything, so another user looks, in a process of its own."""
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    child = os.fork()
    if not child:
        is_so = False
        try:
            os.setuid(_NOBODY)
            is_so = look()
        finally:
            os._exit(0 if is_so else 1)
    return os.waitpid(child, 0)[1] == 0


def test_what_this_user_may_not_see_is_wrong_and_not_an_error(place: Path) -> None:
    (place / "closed").mkdir(mode=0o700)
    data, ledger = place / "closed" / "sub" / "data", place / "closed" / "sub" / "ledger"
    assert as_nobody(
        lambda: (
            doctor.examine_folder(data)[1].state == "wrong"
            and doctor.examine_ledger(ledger).state == "wrong"
            and doctor.examine_disk(data).state == "ok"
        )
    )


@pytest.mark.parametrize(
    "name", ["secrets.json", "secrets.lock", "serve.lock", "log", "log/redis.log"]
)
def test_somebody_elses_file_in_ones_own_folder_is_told(place: Path, name: str) -> None:
    """As `sudo memcenter up` leaves it."""
    folder = DataFolder(place / "data")
    folder.log_file("redis").touch()
    with folder.lock("serve"):
        pass
    for path in (folder.path, *folder.path.rglob("*")):
        os.chown(path, _NOBODY, -1)
    os.chown(folder.path / name, 0, -1)
    (folder.path / name).chmod(0)

    def look() -> bool:
        usable, found = doctor.examine_folder(folder.path)
        return (
            usable is None
            and f"(Permission denied: {folder.path}/{name})" in found.text
            and found.advice.startswith(f"Make it yours (sudo chown -R $USER {folder.path})")
        )

    assert as_nobody(look)


def test_databases_that_start_are_stopped_again(place: Path) -> None:
    folder = DataFolder(place / "data")
    assert doctor.examine_embedded_databases(folder).state == "ok"
    assert not folder.pid_file("postgres").exists()
    folder.remove()


def test_a_cluster_of_another_version_is_told_in_plain_words(place: Path) -> None:
    folder = DataFolder(place / "data")
    assert doctor.examine_embedded_databases(folder).state == "ok"
    (folder.postgres / "PG_VERSION").write_text("12\n", encoding="utf-8")
    found = doctor.examine_embedded_databases(folder)
    assert found.state == "wrong" and "PostgreSQL did not start" in found.text
    assert "another version of PostgreSQL" in found.advice
    folder.remove()


def test_databases_whose_files_are_somebody_elses_are_told(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "the/file")

    monkeypatch.setattr(postgres, "spawn", refuse)
    folder = DataFolder(place / "data")
    found = doctor.examine_embedded_databases(folder)
    assert found.text == "PostgreSQL can't be started (Permission denied: the/file)."
    assert found.advice.endswith(f"sudo chown -R $USER {folder.path}")


@pytest.fixture
def model(settings: LazySettings) -> Iterator[ChatServer]:
    with serving() as server:
        settings.MODEL_BASE_URL = server.url
        settings.MODEL_NAME = "m"
        yield server


def test_a_chat_model_that_answers_is_well(model: ChatServer) -> None:
    model.answers = [said({"ready": True})]
    assert doctor.examine_chat_model().state == "ok"


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (refused(401), "MEMCENTER_MODEL_API_KEY"),
        (refused(404), "MEMCENTER_MODEL_NAME"),
        (refused(500), "Look at the log of the server"),
    ],
)
def test_a_chat_model_that_refuses_is_told_with_the_setting_to_correct(
    model: ChatServer, answer: Answer, advice: str
) -> None:
    model.answers = [answer]
    found = doctor.examine_chat_model()
    assert found.state == "wrong" and advice in found.advice
    assert len(model.asked) == 1


def test_a_chat_model_that_isnt_there_is_told(settings: LazySettings, taken: Port) -> None:
    taken.holder.close()
    settings.MODEL_BASE_URL = f"http://127.0.0.1:{taken.address.port}/v1"
    found = doctor.examine_chat_model()
    assert found.state == "wrong" and found.text == "The model’s server can’t be reached."
    assert found.advice.startswith(f"Start the server at {settings.MODEL_BASE_URL}")


def test_without_a_chat_model_nothing_is_wrong(settings: LazySettings) -> None:
    settings.MODEL_BASE_URL = ""
    assert doctor.examine_chat_model().state == "ok"


def test_an_embedder_that_isnt_there_is_told(settings: LazySettings, taken: Port) -> None:
    taken.holder.close()
    settings.EMBEDDER = "openai_compatible"
    settings.EMBEDDING_BASE_URL = f"http://127.0.0.1:{taken.address.port}/v1"
    settings.EMBEDDING_MODEL, settings.MODEL_RETRIES = "e", 0
    found = doctor.examine_embedder()
    assert found.state == "wrong" and "MEMCENTER_EMBEDDING_BASE_URL" in found.advice


def test_what_is_wrong_is_printed_with_what_to_do_and_the_exit_code_is_1(
    settings: LazySettings, place: Path, taken: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "file").touch()
    settings.DATA_DIR = place / "file" / "data"
    settings.LEDGER_DIR = place / "data-ledger"
    monkeypatch.setenv("PORT", str(taken.address.port))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    printed = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", stdout=printed)
    assert ended.value.code == 1
    lines = printed.getvalue().splitlines()
    assert [line.split()[0] for line in lines if line[:1] not in {"", " "}][:7] == [
        *("wrong", "ok", "ok", "wrong", "-", "ok", "ok")
    ]
    assert lines[-1] == "2 things are wrong."
    assert sum("What to do: " in line for line in lines) == 2
