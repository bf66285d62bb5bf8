"""What people do so that an operation of a certain kind comes up, for processes to die in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bench.chaotic import Person


def last_act(kind: str) -> Callable[[Person], object] | None:
    """None where operations of that kind come from elsewhere (`work` of `bench/dying.py`)."""
    return _ACTS.get(kind)


def kinds() -> set[str]:
    return set(_ACTS)


def _clear(one: Person) -> None:
    one.clear(one.turn())


def _forget_conversation(one: Person) -> None:
    one.forget_conversation(one.turn())


def _forget_message(one: Person) -> None:
    one.turn()
    one.forget_message()


def _forget_memory(one: Person) -> None:
    one.memory()
    one.forget_memory()


def _forget_project(one: Person) -> None:
    one.project_memory()
    one.forget_project()


def _forget_user(one: Person) -> None:
    one.forget_user()


def _talk(one: Person) -> None:
    """More than fits into the window."""
    for _ in range(4):
        one.turn("talk-0")


def _tell_alike(one: Person) -> None:
    for _ in range(4):
        one.memory("Drinks {0} every morning")


def _bin(one: Person) -> None:
    one.memory()
    one.bin()


def _write(one: Person) -> None:
    one.note()
    one.memory()
    one.edit()


_ACTS: Mapping[str, Callable[[Person], object]] = {
    "build_index": _tell_alike,
    "cleanup": _bin,
    "clear_conversation": _clear,
    "consolidate": _tell_alike,
    "deliver_webhook": _forget_memory,
    "export_conversation": lambda one: one.export(one.turn()),
    "export_user": lambda one: one.export(),
    "extract_conversation": _talk,
    "extract_turn": lambda one: one.turn(),
    "forget_conversation": _forget_conversation,
    "forget_layer": _talk,
    "forget_memory": _forget_memory,
    "forget_message": _forget_message,
    "forget_project": _forget_project,
    "forget_user": _forget_user,
    "import": lambda one: one.bring_in(),
    "index_episode": lambda one: one.turn(),
    "index_memory": _write,
    "reindex": _tell_alike,
    "summarize": _talk,
}
