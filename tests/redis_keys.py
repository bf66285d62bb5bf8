"""Every key that is written to Redis begins as the scan was told: looked at in every test.

Else it is an `AssertionError`, on the spot. Tests may plant keys of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from redis.connection import AbstractConnection

from ops.residue import stores

BROKER = ("celery", "unacked", "_kombu", "reply.celery")
_PLANTED = ("planted",)
_WRITING = {
    *("SET", "SETEX", "SETNX", "PSETEX", "GETSET", "APPEND", "INCR", "INCRBY", "DECR", "DECRBY"),
    *("LPUSH", "RPUSH", "SADD", "HSET", "HMSET", "HINCRBY", "ZADD", "XADD", "PFADD", "SETRANGE"),
}
_DJANGOS = "mc:1:"


def check(command: tuple[Any, ...]) -> None:
    for key in _written(command):
        name = key.removeprefix(_DJANGOS)
        known = tuple(one.prefix for one in stores._cached)
        assert name.startswith((*known, *BROKER, *_PLANTED)), f"nobody knows of the key {key!r}"


def _written(command: tuple[Any, ...]) -> list[str]:
    name = _text(command[0]).upper() if command else ""
    if name in ("EVAL", "EVALSHA"):
        return [_text(one) for one in command[3 : 3 + int(command[2])]]
    if name == "MSET":
        return [_text(one) for one in command[1::2]]
    return [_text(one) for one in command[1:2]] if name in _WRITING else []


def _text(word: Any) -> str:
    return word.decode(errors="replace") if isinstance(word, bytes) else str(word)


@contextmanager
def looked_at() -> Iterator[None]:
    connection: Any = AbstractConnection
    one, many = connection.send_command, connection.pack_commands

    def send(self: Any, *args: Any, **options: Any) -> Any:
        check(args)
        return one(self, *args, **options)

    def pack(self: Any, commands: Any) -> Any:
        commands = list(commands)
        for command in commands:
            check(tuple(command))
        return many(self, commands)

    with (
        mock.patch.object(AbstractConnection, "send_command", send),
        mock.patch.object(AbstractConnection, "pack_commands", pack),
    ):
        yield
