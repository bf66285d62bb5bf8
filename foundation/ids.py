"""Public ids: a prefix for the type of the object, and 130 random bits in lower-case base 32."""

import re
import secrets
from functools import partial

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
PREFIXES = ("conv_", "msg_", "turn_", "sum_", "epi_", "mem_", "op_", "rcpt_", "req_", "note_")


def make(prefix: str) -> str:
    return write(prefix, secrets.randbits(130))


def write(prefix: str, number: int) -> str:
    return prefix + "".join(ALPHABET[(number >> shift) & 31] for shift in range(0, 130, 5))


def resembles_public_id(text: str) -> bool:
    """Return whether an id chosen by a client could be mistaken for one of our public ids."""
    return text.startswith(PREFIXES)


_ONE = re.compile(f"[a-z]{{2,5}}_[{ALPHABET}]{{26}}")


def is_public_id(text: str) -> bool:
    """Return whether the whole text is a public id as returned by `make`."""
    return _ONE.fullmatch(text) is not None


conversation_id = partial(make, "conv_")
message_id = partial(make, "msg_")
turn_id = partial(make, "turn_")
summary_id = partial(make, "sum_")
episode_id = partial(make, "epi_")
memory_id = partial(make, "mem_")
operation_id = partial(make, "op_")
receipt_id = partial(make, "rcpt_")
request_id = partial(make, "req_")
note_id = partial(make, "note_")
webhook_id = partial(make, "hook_")
delivery_id = partial(make, "dlv_")
