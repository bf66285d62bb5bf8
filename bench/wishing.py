"""Acts of people that trigger operations of a given kind, for killing processes in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bench.chaotic import Person


def last_act(kind: str) -> Callable[[Person], object] | None:
    """Return an act that triggers operations of a kind, or None if only `bench/work.py` does."""
    return _ACTS.get(kind)


def kinds() -> set[str]:
    return set(_ACTS)


def _clear(person: Person) -> None:
    person.clear(person.turn())


def _forget_conversation(person: Person) -> None:
    person.forget_conversation(person.turn())


def _forget_message(person: Person) -> None:
    person.turn()
    person.forget_message()


def _forget_memory(person: Person) -> None:
    person.memory()
    person.forget_memory()


def _forget_project(person: Person) -> None:
    person.project_memory()
    person.forget_project()


def _forget_user(person: Person) -> None:
    person.forget_user()


def _talk(person: Person) -> None:
    """Record more turns than fit into the window."""
    for _ in range(4):
        person.turn("talk-0")


def _tell_alike(person: Person) -> None:
    for _ in range(4):
        person.memory("Drinks {0} every morning")


def _bin(person: Person) -> None:
    person.memory()
    person.bin()


def _write(person: Person) -> None:
    person.note()
    person.memory()
    person.edit()


_ACTS: Mapping[str, Callable[[Person], object]] = {
    "build_index": _tell_alike,
    "cleanup": _bin,
    "clear_conversation": _clear,
    "consolidate": _tell_alike,
    "deliver_webhook": _forget_memory,
    "export_conversation": lambda person: person.export(person.turn()),
    "export_user": lambda person: person.export(),
    "extract_conversation": _talk,
    "extract_turn": lambda person: person.turn(),
    "forget_conversation": _forget_conversation,
    "forget_layer": _talk,
    "forget_memory": _forget_memory,
    "forget_message": _forget_message,
    "forget_project": _forget_project,
    "forget_user": _forget_user,
    "import": lambda person: person.bring_in(),
    "index_episode": lambda person: person.turn(),
    "index_memory": _write,
    "reindex": _tell_alike,
    "summarize": _talk,
}
