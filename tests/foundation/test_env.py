"""Settings are read from the environment; a bad one stops the start with one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foundation import env

NAME = "MEMCENTER_TESTED"


def integer() -> int:
    return env.integer(NAME, 7, least=2)


def number() -> float:
    return env.number(NAME, 0.5)


def flag() -> bool:
    return env.flag(NAME, True)


def choice() -> str:
    return env.choice(NAME, "keep", among=("keep", "mask"))


def options() -> dict[str, Any]:
    return env.options(NAME, {"a": 1})


@pytest.mark.parametrize(
    ("read", "given", "value"),
    [
        (integer, "2", 2),
        (integer, " 40 ", 40),
        (number, "0", 0.0),
        (number, "1.0", 1.0),
        (flag, "FALSE", False),
        (flag, "off", False),
        (flag, "yes", True),
        (choice, "mask", "mask"),
        (options, '{"b": [2]}', {"b": [2]}),
    ],
)
def test_a_setting_has_the_value_of_its_variable_or_file(
    read: Callable[[], object],
    given: str,
    value: object,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv(NAME, given)
    assert read() == value
    monkeypatch.delenv(NAME)
    (tmp_path / "setting").write_text(f"{given}\n", encoding="utf-8")
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "setting"))
    assert read() == value


@pytest.mark.parametrize(
    ("read", "default"),
    [(integer, 7), (number, 0.5), (flag, True), (choice, "keep"), (options, {"a": 1})],
)
def test_an_empty_setting_counts_as_unset(
    read: Callable[[], object], default: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(NAME, raising=False)
    assert read() == default
    monkeypatch.setenv(NAME, "")
    assert read() == default


@pytest.mark.parametrize(
    ("read", "given", "problem"),
    [
        (integer, "1", "must be at least 2, not 1"),
        (integer, "many", "must be a whole number, not 'many'"),
        (integer, "2.5", "must be a whole number, not '2.5'"),
        (number, "1.5", "must lie between 0.0 and 1.0, not 1.5"),
        (number, "half", "must be a number, not 'half'"),
        (number, "nan", "must be a number"),
        (number, "inf", "must be a number"),
        (flag, "perhaps", "must be true or false, not 'perhaps'"),
        (flag, "{input}", "must be true or false, not '{input}'"),
        (choice, "drop", "must be one of keep, mask, not 'drop'"),
        (options, "[1]", "must be a JSON object"),
        (options, "{", "must be a JSON object"),
    ],
)
def test_a_bad_setting_stops_the_start_with_one_sentence_that_names_it(
    read: Callable[[], object], given: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NAME, given)
    with pytest.raises(env.BadSetting) as raised:
        read()
    assert raised.value.code == f"The setting {NAME} {problem}."


def test_a_file_that_cannot_be_read_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "binary"):
        monkeypatch.setenv(f"{NAME}_FILE", str(path))
        with pytest.raises(env.BadSetting) as raised:
            env.text(NAME)
        problem = "must name a text file that can be read"
        assert raised.value.code == f"The setting {NAME}_FILE {problem}."


def test_the_value_of_a_secret_is_never_in_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "mysql://app:hush@db/memcenter")
    with pytest.raises(env.BadSetting) as raised:
        env.database(NAME)
    monkeypatch.setenv(NAME, "Authorization hush")
    with pytest.raises(env.BadSetting) as also:
        env.pairs(NAME)
    assert "hush" not in f"{raised.value}{also.value}"
