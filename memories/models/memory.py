"""The models of memories, their versions and fragments, and the relations between memories."""

from typing import TYPE_CHECKING, ClassVar, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from conversations.models import Rating
from foundation import ids
from foundation.database.schema import Hideable, PresentManager, Record, VisibleManager, one_of
from memories.models.file import Project

if TYPE_CHECKING:
    from memories.models.source import Source


class Kind(models.TextChoices):
    PREFERENCE = "preference", _("preference")
    FACT = "fact", _("fact")
    CONSTRAINT = "constraint", _("must know")
    TASK = "task", _("task")
    PATTERN = "pattern", _("pattern")
    SKILL = "skill", _("skill")
    EVENT = "event", _("event")
    REQUIREMENT = "requirement", _("requirement")
    PLAN = "plan", _("plan")
    DEVELOPMENT = "development", _("development")
    TESTING = "testing", _("testing")
    INSIGHT = "insight", _("insight")


# The kinds of a project's memories; forms don't offer them for a user's own memories.
OF_PROJECTS = frozenset((Kind.REQUIREMENT, Kind.PLAN, Kind.DEVELOPMENT, Kind.TESTING, Kind.INSIGHT))


class MemoryStatus(models.TextChoices):
    CANDIDATE = "candidate", _("waiting for review")
    ACTIVE = "active", _("active")
    DISABLED = "disabled", _("disabled")
    SUPERSEDED = "superseded", _("outdated")
    ARCHIVED = "archived", _("archived")  # joined with other memories, or unused for a long time


class Origin(models.TextChoices):
    EXTRACTED = "extracted", _("learned from a conversation")
    USER = "user", _("written by you")
    API = "api", _("written through the API")
    AGENT = "agent", _("written by an agent")
    FILE = "file", _("from a memory file")
    IMPORT = "import", _("imported")


class Memory(Hideable):
    """A durable statement about a user or about one of the user's projects.

    `status` states whether the memory is in use. `deleted_at` and `purge_at` are set while the
    memory is in the recycle bin, `hidden_at` while the memory is being forgotten or derived again
    from other sources. `current_version` is the number of the version that has the same text.
    `content_hash` identifies equal texts. `removal_asked_at` is set while the memory awaits the
    user's review because its line was removed from a memory file, or because it may have ended
    together with the memory `conflicts_with`. `archived_at` is set if the memory was archived
    because it was unused; then it can be restored. `confidence` includes the user's rating;
    `confidence_unrated` is its value without the rating.
    """

    personal_data = True
    words = ("content", "summary", "data", "tags", "feedback_reason", "metadata")
    codes = (
        "public_id",
        "kind",
        "status",
        "origin",
        "content_hash",
        "feedback",
        "agent_id",
        "app_id",
        "run_id",
    )

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.CASCADE, related_name="memories"
    )
    shown_sources: "list[Source]"  # prefetched by `selectors.memory_of`
    text_before = ""  # the text before a turn changed it, set by `turn_memories`
    public_id = models.CharField(max_length=40, unique=True, default=ids.memory_id)
    kind = models.CharField(max_length=16, choices=Kind)
    content = models.TextField()
    summary = models.TextField(blank=True)
    data = models.JSONField(default=dict, blank=True)
    tags = ArrayField(models.CharField(max_length=50), default=list, blank=True)
    importance = models.FloatField(default=0.5)
    confidence = models.FloatField(default=0.8)
    status = models.CharField(max_length=12, choices=MemoryStatus, default=MemoryStatus.ACTIVE)
    pinned = models.BooleanField(default=False)
    # True for a user's wish about the style of answers; such a memory is part of every prompt.
    standing = models.BooleanField(default=False, db_default=False)
    origin = models.CharField(max_length=12, choices=Origin)
    content_hash = models.CharField(max_length=64, blank=True)
    occurred_at = models.DateTimeField(null=True, blank=True)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)
    access_count = models.PositiveIntegerField(default=0)
    last_accessed_at = models.DateTimeField(null=True, blank=True)
    feedback = models.CharField(max_length=16, choices=Rating, blank=True)
    feedback_reason = models.TextField(blank=True)
    confidence_unrated = models.FloatField(null=True, blank=True)
    agent_id = models.CharField(max_length=200, blank=True)
    app_id = models.CharField(max_length=200, blank=True)
    run_id = models.CharField(max_length=200, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    current_version = models.PositiveIntegerField(default=1)
    chunk_count = models.PositiveIntegerField(default=0)
    indexed_at = models.DateTimeField(null=True, blank=True)
    superseded_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="supersedes"
    )
    conflicts_with = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="contested_by"
    )
    deleted_at = models.DateTimeField(null=True, blank=True)
    purge_at = models.DateTimeField(null=True, blank=True)
    hidden_at = models.DateTimeField(null=True, blank=True)
    removal_asked_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(auto_now=True)

    objects: ClassVar[PresentManager[Self]] = PresentManager()
    visible = VisibleManager["Memory"]()

    class Meta(Hideable.Meta):
        verbose_name_plural = "memories"
        constraints = [
            one_of("kind", Kind, name="memory_kind_known"),
            one_of("status", MemoryStatus, name="memory_status_known"),
            one_of("origin", Origin, name="memory_origin_known"),
            models.CheckConstraint(
                condition=Q(importance__range=(0, 1)), name="memory_importance_0_1"
            ),
            models.CheckConstraint(
                condition=Q(confidence__range=(0, 1)), name="memory_confidence_0_1"
            ),
            models.CheckConstraint(
                condition=Q(deleted_at__isnull=True, purge_at__isnull=True)
                | Q(deleted_at__isnull=False, purge_at__isnull=False),
                name="memory_bin_has_date",
            ),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True)
                | Q(valid_until__isnull=True)
                | Q(valid_from__lte=F("valid_until")),
                name="memory_validity_order",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "status", "-updated_at", "-id"], name="memory_list"),
            models.Index(fields=["user", "project"], name="memory_project"),
            models.Index(fields=["user", "-access_count"], name="memory_hot"),
            models.Index(
                fields=["user"],
                condition=Q(kind="constraint") | Q(pinned=True) | Q(standing=True),
                name="memory_always",
            ),
            models.Index(
                fields=["purge_at"], condition=Q(purge_at__isnull=False), name="memory_purge"
            ),
        ]

    @property
    def is_in_use(self) -> bool:
        """Return True if answers may use the memory now: active, present and not expired."""
        holds = self.valid_until is None or self.valid_until > timezone.now()
        return holds and self.status == MemoryStatus.ACTIVE and self.deleted_at is None

    @property
    def is_always_included(self) -> bool:
        """Return True if the memory is part of every prompt, even where it is irrelevant.

        A memory that the user has rated as very wrong is only included where it is relevant.
        """
        is_always = self.kind == Kind.CONSTRAINT or self.pinned or self.standing
        return is_always and self.feedback != Rating.VERY_NEGATIVE

    @property
    def contested(self) -> "Memory | None":
        """Return the memory in `conflicts_with`, unless it is deleted or being forgotten."""
        known = self.conflicts_with
        return known if known and not (known.hidden_at or known.deleted_at) else None


class Change(models.TextChoices):
    CREATED = "created", _("learned")
    EDITED = "edited", _("edited")
    REPLACED = "replaced", _("replaced by something newer")
    MERGED = "merged", _("merged")
    RESTORED = "restored", _("restored")
    CONSOLIDATED = "consolidated", _("consolidated")
    DERIVED = "derived", _("derived again after forgetting")


class MemoryVersion(Hideable):
    """A version of a memory's text. An existing version changes only if a source is forgotten.

    A version keeps the statement that caused it (`candidate_text`) and its own sources. `inputs`
    are other versions that this version was made from, for example by merging or consolidation. If
    all sources of a version were forgotten, its text is emptied (`erased_at`), and the version
    can't be restored.
    """

    personal_data = True
    words = ("content", "summary", "candidate_text", "reason")
    codes = ("kind", "change", "actor")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=16, choices=Kind)
    content = models.TextField(blank=True)
    summary = models.TextField(blank=True)
    candidate_text = models.TextField(blank=True)
    change = models.CharField(max_length=16, choices=Change)
    actor = models.CharField(max_length=12, choices=Origin)
    reason = models.CharField(max_length=300, blank=True)
    inputs: "models.ManyToManyField[MemoryVersion, VersionInput]" = models.ManyToManyField(
        "self", symmetrical=False, through="VersionInput", related_name="outputs"
    )
    created_at = models.DateTimeField()
    erased_at = models.DateTimeField(null=True, blank=True)
    hidden_at = models.DateTimeField(null=True, blank=True)

    class Meta(Hideable.Meta):
        constraints = [
            one_of("change", Change, name="version_change_known"),
            models.UniqueConstraint(fields=["memory", "number"], name="version_number"),
            models.CheckConstraint(
                condition=Q(erased_at__isnull=True) | Q(content="", summary="", candidate_text=""),
                name="version_erased_is_empty",
            ),
        ]
        indexes = [models.Index(fields=["user", "memory"], name="version_user")]

    def __str__(self) -> str:
        return f"version {self.number} of memory {self.memory_id}"


class PortraitPhrase(Record):
    """A short phrase for the "About you" page that a chat model wrote for a version of a memory.

    The phrase is shown while that version is the memory's current version and the memory is in use;
    otherwise the user's own words are shown. If `text` is empty, the user's own words are always
    shown.
    """

    personal_data = True
    words = ("text",)
    codes = ()

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    version = models.OneToOneField(MemoryVersion, on_delete=models.CASCADE, related_name="phrase")
    text = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)


class VersionInput(Record):
    """A link from a version (`output`) to another version that it was made from (`input`)."""

    personal_data = True
    words = ()
    codes = ()

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    output = models.ForeignKey(MemoryVersion, on_delete=models.CASCADE, related_name="input_links")
    input = models.ForeignKey(MemoryVersion, on_delete=models.CASCADE, related_name="output_links")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["output", "input"], name="version_input_once")
        ]
        indexes = [models.Index(fields=["user"], name="version_input_user")]


class Fragment(Record):
    """An additional text with its own vector, so that search also finds the memory by this text.

    A fragment is usually a piece of a long memory: 500 tokens, with an overlap of 50. If `version`
    is set, the fragment is the text of that version, which belongs to this memory or to a related
    memory (see `indexing.earlier_texts`); the fragment is erased when the version is forgotten.
    """

    personal_data = True
    words = ("text",)
    codes = ()

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="fragments")
    version = models.ForeignKey(
        MemoryVersion, null=True, blank=True, on_delete=models.CASCADE, db_index=False
    )
    number = models.PositiveIntegerField()
    text = models.TextField()
    token_count = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["memory", "number"], name="fragment_number")]
        indexes = [
            models.Index(fields=["user", "memory"], name="fragment_user"),
            models.Index(
                fields=["version"],
                condition=Q(version__isnull=False),
                name="fragment_of_version",
            ),
        ]


class RelationKind(models.TextChoices):
    SUPPORTS = "supports", _("supports")
    CONTRADICTS = "contradicts", _("contradicts")
    REFINES = "refines", _("refines")


class Relation(Record):
    """A relation between two memories, with a strength from 0 to 1."""

    personal_data = True
    words = ()
    codes = ("kind",)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="relations")
    other = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="related_by")
    kind = models.CharField(max_length=12, choices=RelationKind)
    strength = models.FloatField(default=0.5)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            one_of("kind", RelationKind, name="relation_kind_known"),
            models.UniqueConstraint(fields=["memory", "other", "kind"], name="relation_once"),
            models.CheckConstraint(condition=~Q(memory=F("other")), name="relation_two_memories"),
            models.CheckConstraint(
                condition=Q(strength__range=(0, 1)), name="relation_strength_0_1"
            ),
        ]
        indexes = [models.Index(fields=["user"], name="relation_user")]
