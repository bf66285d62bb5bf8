"""The prompts for the chat model, in the user's language; each prompt has a version.

The texts are in `data/prompts`. User text is inserted as a single JSON value, so that it can't
break out of its quotation. Increase a prompt's version whenever its text changes: the version is
stored with each call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from foundation.providers.base import ChatMessage

KINDS = (
    "preference", "fact", "constraint", "task", "pattern", "skill",
    "event", "requirement", "plan", "development", "testing", "insight",
)  # fmt: skip
VERDICTS = ("ADD", "REPLACE", "MERGE", "KEEP_BOTH", "SKIP", "REVIEW")
MOST_CANDIDATES = 20
LONGEST_CONTENT = 500
LONGEST_PHRASE = 120
LONGEST_TAG = 50
MOST_TAGS = 8
_TEXTS = Path(__file__).parent.parent / "data" / "prompts"
_VERSIONS = {
    "extract": 3, "arbitrate": 2, "summarize": 1, "consolidate": 1, "joint": 1, "phrase": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Prompt:
    """The input of one model call; `step` and `version` are recorded with the cost of the call."""

    step: str
    version: str
    messages: Sequence[ChatMessage]
    schema: Mapping[str, Any]
    max_tokens: int


def extraction(material: Mapping[str, Any], *, language: str) -> Prompt:
    return _prompt("extract", language, material, schema=_EXTRACTION_SCHEMA, most=1500)


def arbitration(material: Mapping[str, Any], *, ids: Sequence[str], language: str) -> Prompt:
    schema = _object(
        {
            "verdict": {"type": "string", "enum": list(VERDICTS)},
            "id": {"type": ["string", "null"], "enum": [*ids, None]},
            "content": {"type": ["string", "null"], "maxLength": LONGEST_CONTENT},
        }
    )
    return _prompt("arbitrate", language, material, schema=schema, most=500)


def summary(material: Mapping[str, Any], *, language: str, max_tokens: int) -> Prompt:
    return _prompt("summarize", language, material, schema=_SUMMARY_SCHEMA, tokens=max_tokens)


def consolidation(material: Mapping[str, Any], *, ids: Sequence[str], language: str) -> Prompt:
    name = {"type": "string", "enum": list(ids)}
    inputs = {"type": "array", "minItems": 2, "maxItems": len(ids), "items": name}
    schema = _list("joined", _object({"content": _CONTENT, "from": inputs}), most=3)
    return _prompt("consolidate", language, material, schema=schema, most=1200)


def joint_reading(material: Mapping[str, Any], *, language: str) -> Prompt:
    return _prompt("joint", language, material, schema=_JOINT_SCHEMA, most=1500)


def phrasing(material: Mapping[str, Any], *, ids: Sequence[str], language: str) -> Prompt:
    phrase = {"type": "string", "maxLength": LONGEST_PHRASE}
    name = {"type": "string", "enum": list(ids)}
    schema = _list("phrases", _object({"id": name, "phrase": phrase}), most=len(ids))
    return _prompt("phrase", language, material, schema=schema, most=1500)


def _prompt(
    step: str,
    language: str,
    material: Mapping[str, Any],
    *,
    schema: Mapping[str, Any],
    most: int = 0,
    tokens: int = 0,
) -> Prompt:
    """Build the prompt for one step.

    `most` limits the tokens of the answer; if it is 0, the limit is derived from `tokens`, the
    length that the prompt asks for.
    """
    instructions = _text(step, language).replace("{tokens}", str(tokens))
    shown = json.dumps(material, ensure_ascii=False)
    messages = ChatMessage("system", instructions), ChatMessage("user", shown)
    # The limit leaves room, because models count tokens differently, especially in Chinese.
    return Prompt(step, f"{step}-{_VERSIONS[step]}", messages, schema, most or 2 * tokens + 100)


@cache
def _text(step: str, language: str) -> str:
    return (_TEXTS / f"{step}.{language}.txt").read_text("utf-8").removesuffix("\n")


# The limits in these schemas prevent endless lists on servers that enforce schemas. No code relies
# on the limits.
def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(name: str, item: Mapping[str, Any], *, most: int) -> dict[str, Any]:
    """Return the schema of an object whose only field is `name`, a list of items like `item`."""
    return _object({name: {"type": "array", "maxItems": most, "items": item}})


_CONTENT = {"type": "string", "maxLength": LONGEST_CONTENT}
_JUDGED = {
    "kind": {"type": "string", "enum": list(KINDS)},
    "importance": {"type": "number", "minimum": 0, "maximum": 1},
    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
}
_TAG = {"type": "string", "maxLength": LONGEST_TAG}
_MEMORY = {
    "quote": {"type": "string", "maxLength": 400},
    "content": _CONTENT,
    **_JUDGED,
    "tags": {"type": "array", "maxItems": MOST_TAGS, "items": _TAG},
    "date": {"type": ["string", "null"], "maxLength": 10},
    "corrects": {"type": "boolean"},
}
_TURN = {"type": "integer", "minimum": 1}
_TURNS = {"type": "array", "minItems": 2, "maxItems": 12, "items": _TURN}
_EXTRACTION_SCHEMA = _list("memories", _object(_MEMORY), most=MOST_CANDIDATES)
_JOINT_SCHEMA = _list(
    "over_turns", _object({"turns": _TURNS, "content": _CONTENT, **_JUDGED}), most=MOST_CANDIDATES
)
_SUMMARY_SCHEMA = _object({"summary": {"type": "string", "maxLength": 6000}})
