"""Examples for every schema of the OpenAPI description, chosen by field name.

All examples are about Ana, who is allergic to peanuts. An example of a request body contains an
optional field only if `SHOWN` lists it; an example of a response contains every field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NODE = dict[str, Any]
_REQUEST = "Request"
_TAIL = "0k3f9z2m7q4x8v1c5n6b0w3r8t"
CONVERSATION, MESSAGE, ANSWER = f"conv_{_TAIL}", f"msg_{_TAIL}", f"msg_1{_TAIL[1:]}"
MEMORY, OPERATION, RECEIPT = f"mem_{_TAIL}", f"op_{_TAIL}", f"rcpt_{_TAIL}"
_HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_COMPONENTS = {"relevance": 0.83, "recency": 0.97, "importance": 0.9}
_FILE = f"# Memory\n\n## constraint\n\n- Ana is allergic to peanuts. <!-- {MEMORY} -->\n"
_ADDRESS = "https://memory.example/api/v1/conversations?cursor=W2ZhbHNlXQ"

# Optional fields shown in examples of request bodies.
SHOWN: Mapping[str, tuple[str, ...]] = {
    "TurnInputRequest": ("user_message_id", "assistant_message_id"),
    "ContextInputRequest": ("conversation_id", "token_budget"),
    "ConversationInputRequest": ("conversation_id", "title"),
    "PatchedConversationChangeRequest": ("title",),
    "ForgetInputRequest": ("memory_id",),
    "FeedbackInputRequest": ("memory_id", "comment"),
    "MemoryInputShapeRequest": ("kind", "tags", "importance"),
    "PatchedMemoryChangeRequest": ("content", "pinned"),
    "RestoreInputRequest": ("version",),
    "IngestedTextRequest": ("project_name", "machine_name", "ts"),
    "ExportInputRequest": ("conversation_id",),
    "SettingsInputRequest": ("longterm_enabled", "timezone"),
    "PatchedSettingsInputRequest": ("confirm_before_remembering", "language"),
    "SignInLinkInputRequest": ("next", "language"),
    "WebhookInputRequest": ("secret",),
    "PatchedWebhookChangeRequest": ("is_active",),
    "KeyInputRequest": ("expires_at",),
    "PatchedKeyChangeRequest": ("name",),
    "NoteLineRequest": ("source",),
    "ToolCommandRequest": ("path", "file_text"),
}

# Fields left out of response examples, since only other calls of the same shape have them.
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "Memory": ("removal_asked_at",),
    "Operation": ("report", "forget"),
    "BulkResults": ("op_id",),
    "Accepted": ("receipt_token",),
    "ForgetAnswer": ("receipt_token",),
}

# By field name, or by component and field name where the meaning differs.
VALUES: Mapping[str, Any] = {
    "access_count": 4,
    "action": "pin",
    "actor": "extracted",
    "already_there": 0,
    "assistant_message": "Noted, no peanuts.",
    "assistant_message_id": ANSWER,
    "attempts": 1,
    "average_importance": 0.62,
    "block": "## What is known about the person\n- Ana is allergic to peanuts.",
    "by_kind": {"constraint": 1, "preference": 2},
    "by_status": {"active": 3},
    "cache_hit_rate": 0.91,
    "candidate_text": "Ana is allergic to peanuts.",
    "FileVersion.actor": "api",
    "bytes": 86,
    "cascade": True,
    "change": "created",
    "chosen": "person",
    "comment": "Still true.",
    "components": _COMPONENTS,
    "confidence": 0.9,
    "conflicts_with": [],
    "content": "Ana is allergic to peanuts.",
    "MessageInputShapeRequest.content": "I am allergic to peanuts.",
    "Message.content": "I am allergic to peanuts.",
    "WindowMessage.content": "I am allergic to peanuts.",
    "content_type": "plan",
    "conversation_id": CONVERSATION,
    "FileTextRequest.content": _FILE,
    "ToolAnswer.content": "File created successfully at: /memories/plan.md",
    "FlushInputRequest.conversation_id": CONVERSATION,
    "FlushCandidate.id": "cand_eyJ1c2VyIjoi",
    "FlushWritten.result": "created",
    "Flushed.note": "",
    "note_line": "- 14:03 [flush] Ana is allergic to peanuts.",
    "note_id": f"note_{_TAIL}",
    "index": None,
    "Flushed.tokens": 5_120,
    "ToolCommandRequest.command": "create",
    "ToolCommandRequest.path": "/memories/plan.md",
    "ToolCommandRequest.file_text": "Ship in May.",
    "File.content": _FILE,
    "FileVersion.content": _FILE,
    "covered_from_message_id": MESSAGE,
    "covered_through_message_id": ANSWER,
    "created": [MEMORY],
    "updated": [],
    "recycled": [],
    "to_review": [],
    "data": {"allergen": "peanuts"},
    "decision": "accept",
    "deleted_at": None,
    "direction": "to",
    "disk": {"vacuumed": ["memories_memory"], "gone_from_log_by": "2026-05-01T10:00:00Z"},
    "Delivery.error": "",
    "erased": {"postgres": {"memories_memory": 1, "memories_version": 2}},
    "erased_at": None,
    "event": "memory.created",
    "events": ["memory.created", "memory.deleted"],
    "expires_at": "2036-05-01T10:00:00Z",
    "external_id": "c-1",
    "Message.external_id": "m-1",
    "feedback": None,
    "fields": {},
    "format": "json",
    "ImportReport.format": "memory_center",
    "hash": _HASH,
    "event_hash": _HASH,
    "id": MEMORY,
    "Conversation.id": CONVERSATION,
    "Message.id": MESSAGE,
    "Episode.id": f"epi_{_TAIL}",
    "AppendedLine.id": f"note_{_TAIL}",
    "Webhook.id": f"hook_{_TAIL}",
    "NewWebhook.id": f"hook_{_TAIL}",
    "RemovedWebhook.id": f"hook_{_TAIL}",
    "Delivery.id": f"dlv_{_TAIL}",
    "ids": [MEMORY],
    "importance": 0.9,
    "key_id": "key_7",
    "Key.id": "key_7",
    "NewKey.id": "key_7",
    "RevokedKey.id": "key_7",
    "key": "mc_shown-once-and-never-again-0123456789abcdefg",
    "kept": [],
    "kind": "constraint",
    "Conversation.kind": "main",
    "ConversationInputRequest.kind": "main",
    "Operation.kind": "forget_memory",
    "MemoryRelation.kind": "supports",
    "kinds": ["constraint"],
    "language": "en",
    "last_error": "",
    "line": 3,
    "machine_name": "desk",
    "machines": ["desk"],
    "memory_id": MEMORY,
    "memory_ids": [MEMORY],
    "memory_status": "active",
    "message": "What could I cook tonight?",
    "message_id": MESSAGE,
    "message_ids": [MESSAGE],
    "metadata": {},
    "missing": [],
    "name": "Backend",
    "ListedProject.name": "Dinner club",
    "Section.name": "constraints",
    "Stage.name": "dense",
    "ToolInputRequest.name": "calendar",
    "next": _ADDRESS,
    "SignInLinkInputRequest.next": "/memory/",
    "next_action": "use_ids_to_call_mem_get",
    "op_id": OPERATION,
    "op_ids": [OPERATION],
    "origin": "extracted",
    "owner_id": "ana",
    "path": "memory/2026-05-01.md",
    "file_path": "MEMORY.md",
    "FileEntry.path": "MEMORY.md",
    "File.path": "MEMORY.md",
    "EditedFile.path": "MEMORY.md",
    "ListedProject.path": "/home/ana/dinner-club",
    "pinned": True,
    "standing": False,
    "prefix": "mc_shown-o",
    "previous": None,
    "previous_hash": _HASH[::-1],
    "project_key": "dinner-club",
    "project_name": "Dinner club",
    "purge_at": None,
    "query": "What can't she eat?",
    "quote": "I am allergic to peanuts.",
    "rating": "positive",
    "reason": "",
    "receipt_id": RECEIPT,
    "receipt_token": "w3Jm0Xq5uTz8",
    "redacted": False,
    "reference": "",
    "request_id": f"req_{_TAIL}",
    "result": "created",
    "Decision.result": "accepted",
    "BulkResult.result": "done",
    "revoked_at": None,
    "role": "user",
    "scan": {"places": 214, "residue": 0},
    "scope": "memory",
    "scopes": ["read", "write"],
    "score": 0.83,
    "secret": "choose-a-long-one",
    "snippet": "Ana is allergic to peanuts.",
    "source": "kitchen",
    "speaker": "",
    "status": "active",
    "Operation.status": "succeeded",
    "ForgetQuestion.status": "needs_choice",
    "status_code": 204,
    "step": "scan",
    "subject": "5f0c7c9e-7a55-4f0e-9d0a-0c8f4f1d2a6b",
    "summary": "",
    "superseded": [],
    "tag": "food",
    "tags": ["food"],
    "temporary": False,
    "text": "Ana is allergic to peanuts.",
    "Summary.text": "Ana plans dinner and named her allergy.",
    "NoteLineRequest.text": "Called the dentist.",
    "AppendedLine.text": "10:00 Called the dentist. (kitchen)",
    "theme": "auto",
    "timezone": "Europe/Berlin",
    "title": "Dinner",
    "token_budget": 1500,
    "took_ms": 12.5,
    "type": "memory",
    "url": "https://example.com/told",
    "SignInLink.url": "https://memory.example/sign-in/w3Jm0Xq5uTz8/",
    "user_id": "ana",
    "user_message": "I am allergic to peanuts.",
    "user_message_id": MESSAGE,
    "TurnInputRequest.conversation_id": "c-1",
    "TurnInputRequest.user_message_id": "m-1",
    "TurnInputRequest.assistant_message_id": "m-2",
    "ContextInputRequest.conversation_id": "c-1",
    "ConversationInputRequest.conversation_id": "c-2",
    "valid_from": None,
    "valid_until": None,
    "verdict": "ADD",
    "version": 1,
    "webhook_id": f"hook_{_TAIL}",
    "where": "line 12",
    "why": "It is empty.",
}
_BY_FORMAT = {"date-time": "2026-05-01T10:00:00Z", "uri": _ADDRESS, "binary": "(a file)"}
_BY_TYPE = {"integer": 2, "number": 0.5, "boolean": True, "object": {}}


class NoExample(LookupError):
    """A field without an example value; add one to `VALUES`."""


def example_of(node: NODE, schemas: Mapping[str, NODE], *, name: str = "", inside: str = "") -> Any:
    """Return an example of a schema. Raises `NoExample`."""
    if "$ref" in node:
        component = node["$ref"].rsplit("/", 1)[-1]
        return example_of(schemas[component], schemas, name=name, inside=component)
    for known in (f"{inside}.{name}", name):
        if name and known in VALUES and _fits(VALUES[known], node):
            return VALUES[known]
    if "properties" in node:
        return _object(node, schemas, inside)
    choices: list[NODE] = node.get("allOf") or node.get("oneOf") or []
    for choice in choices[:1]:
        return example_of(choice, schemas, name=name, inside=inside)
    if node.get("type") == "array":
        return [example_of(node["items"], schemas, inside=inside)]
    if "enum" in node:
        return node["enum"][0]
    return _plain(node, f"{inside}.{name}")


def _object(node: NODE, schemas: Mapping[str, NODE], component: str) -> NODE:
    must = node.get("required", ())
    shown = (*must, "user_id", *SHOWN.get(component, ()))
    return {
        name: example_of(inner, schemas, name=name, inside=component)
        for name, inner in node["properties"].items()
        if (name in shown or not component.endswith(_REQUEST))
        and name not in LEFT_OUT.get(component, ())
    }


def _fits(value: Any, node: NODE) -> bool:
    """Tell whether the value chosen by name has the right type."""
    if "$ref" in node or "allOf" in node or "properties" in node:
        return False
    if value is None:
        return node.get("nullable") is True
    if "enum" in node:
        return value in node["enum"]
    kinds = {"string": str, "array": list, "object": dict, "boolean": bool}
    return isinstance(value, kinds.get(node.get("type", ""), object))


def _plain(node: NODE, where: str) -> Any:
    kind, form = node.get("type", ""), node.get("format", "")
    if form in _BY_FORMAT:
        return _BY_FORMAT[form]
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    raise NoExample(where)
