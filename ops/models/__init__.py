from ops.models.audit import AuditEvent, AuditHead, AuditSeal, UnsealedEvent
from ops.models.instance import Instance
from ops.models.model_call import ModelCall
from ops.models.operation import (
    Attempt,
    IdempotencyRecord,
    Kind,
    Operation,
    Outcome,
    Priority,
    Status,
)
from ops.models.receipt import Receipt
from ops.models.residue import DiskKey, DiskTrace, ErasedRows, ErasedText, ErasureKey
from ops.models.sign_in import Identity, Invitation, SecondFactor, SignIn
from ops.models.transfer import Export, Import
from ops.models.user import ApiKey, Role, Scope, SignInLink, Theme, User, UserSettings
from ops.models.webhook import Delivery, Webhook

__all__ = [
    "ApiKey",
    "Attempt",
    "AuditEvent",
    "AuditHead",
    "AuditSeal",
    "Delivery",
    "DiskKey",
    "DiskTrace",
    "ErasedRows",
    "ErasedText",
    "ErasureKey",
    "Export",
    "IdempotencyRecord",
    "Identity",
    "Import",
    "Instance",
    "Invitation",
    "Kind",
    "ModelCall",
    "Operation",
    "Outcome",
    "Priority",
    "Receipt",
    "Role",
    "Scope",
    "SecondFactor",
    "SignIn",
    "SignInLink",
    "Status",
    "Theme",
    "UnsealedEvent",
    "User",
    "UserSettings",
    "Webhook",
]
