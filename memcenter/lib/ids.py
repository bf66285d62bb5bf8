"""Public ids: a prefix for the type and 128 random bits in lower-case base 32."""

import re
import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
PREFIXES = ("conv_", "msg_", "turn_", "sum_", "epi_", "mem_", "op_", "rcpt_", "req_", "note_")


def make(prefix: str) -> str:
    number = secrets.randbits(130)
    return prefix + "".join(ALPHABET[(number >> shift) & 31] for shift in range(0, 130, 5))


def is_ours(text: str) -> bool:
    """Tell whether a client's own id could be mistaken for one of ours."""
    return text.startswith(PREFIXES)


_ONE = re.compile(f"[a-z]{{2,5}}_[{ALPHABET}]{{26}}")


def is_one(text: str) -> bool:
    """Tell whether the whole text is an id as `make` returns it."""
    return _ONE.fullmatch(text) is not None


def conversation_id() -> str:
    return make("conv_")


def message_id() -> str:
    return make("msg_")


def turn_id() -> str:
    return make("turn_")


def summary_id() -> str:
    return make("sum_")


def episode_id() -> str:
    return make("epi_")


def memory_id() -> str:
    return make("mem_")


def operation_id() -> str:
    return make("op_")


def receipt_id() -> str:
    return make("rcpt_")


def request_id() -> str:
    return make("req_")


def note_id() -> str:
    return make("note_")


def webhook_id() -> str:
    return make("hook_")


def delivery_id() -> str:
    return make("dlv_")
