from memories.models.arbitration import Arbitration
from memories.models.file import DailyNote, FileVersion, MemoryFile
from memories.models.memory import (
    Change,
    Fragment,
    Kind,
    Memory,
    MemoryStatus,
    MemoryVersion,
    Origin,
    VersionInput,
)
from memories.models.project import Project
from memories.models.relation import Relation, RelationKind
from memories.models.source import Refusal, SecretCategory, Source
from memories.models.tombstone import Tombstone
from memories.models.trace import RecallHit, RecallTrace, TraceKind
from memories.models.vector import (
    EmbeddingSpace,
    LexicalEntry,
    SearchedIn,
    TargetKind,
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
