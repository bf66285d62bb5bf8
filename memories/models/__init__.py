"""The models of memories, their sources, files and vectors.

The package may import `conversations.models`.
"""

from memories.models.file import DailyNote, FileVersion, MemoryFile, Project
from memories.models.memory import (
    Change,
    Fragment,
    Kind,
    Memory,
    MemoryStatus,
    MemoryVersion,
    Origin,
    PortraitPhrase,
    Relation,
    RelationKind,
    VersionInput,
)
from memories.models.source import Arbitration, Refusal, SecretCategory, Source, Tombstone
from memories.models.vector import (
    EmbeddingSpace,
    LexicalEntry,
    RecallHit,
    RecallTrace,
    SearchedIn,
    TargetKind,
    TraceKind,
    Vector,
    VectorChange,
)

__all__ = [
    "Arbitration",
    "Change",
    "DailyNote",
    "EmbeddingSpace",
    "FileVersion",
    "Fragment",
    "Kind",
    "LexicalEntry",
    "Memory",
    "MemoryFile",
    "MemoryStatus",
    "MemoryVersion",
    "Origin",
    "PortraitPhrase",
    "Project",
    "RecallHit",
    "RecallTrace",
    "Refusal",
    "Relation",
    "RelationKind",
    "SearchedIn",
    "SecretCategory",
    "Source",
    "TargetKind",
    "Tombstone",
    "TraceKind",
    "Vector",
    "VectorChange",
    "VersionInput",
]
