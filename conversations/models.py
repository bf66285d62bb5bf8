"""The models of conversations, messages, turns, summaries, episodes and feedback."""

from datetime import datetime

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from foundation import ids
from foundation.database.schema import Hideable, Record, one_of


class ConversationKind(models.TextChoices):
    MAIN = "main", _("private")
    GROUP = "group", _("group")


class Conversation(Hideable):
    """A conversation of one person. `external_id` is the id that the chat product uses for it.

    `last_number` is the number of the newest message. It is incremented under the row lock, so
    numbers are assigned in order and without gaps. `speakers` holds the names of the people who
    speak in the messages; a search gives these names more weight. Turns up to the message number
    `examined_through` were examined together, to find facts that only several turns reveal.
    Messages up to the number `flushed_through` were sent by a client before it dropped them from
    its own context. `hidden_at` is set while the conversation is being forgotten.
    """

    personal_data = True
    words = ("title", "speakers")
    codes = ("public_id", "external_id", "kind")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    public_id = models.CharField(max_length=40, unique=True, default=ids.conversation_id)
    external_id = models.CharField(max_length=200, null=True, blank=True, db_collation="C")
    title = models.CharField(max_length=200, blank=True)
    kind = models.CharField(max_length=8, choices=ConversationKind, default=ConversationKind.MAIN)
    speakers = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    last_number = models.PositiveIntegerField(default=0)
    message_count = models.PositiveIntegerField(default=0)
    last_message_at = models.DateTimeField(null=True, blank=True)
    examined_through = models.PositiveIntegerField(default=0)
    flushed_through = models.PositiveIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(auto_now=True)
    hidden_at = models.DateTimeField(null=True, blank=True)

    class Meta(Hideable.Meta):
        constraints = [
            one_of("kind", ConversationKind, name="conversation_kind_known"),
            models.UniqueConstraint(
                fields=["user", "external_id"],
                condition=Q(hidden_at__isnull=True),
                name="conversation_external_id",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-last_message_at", "-id"], name="conversation_recent"),
            models.Index(
                fields=["last_message_at"],
                condition=Q(examined_through__lt=F("last_number")),
                name="conversation_unexamined",
            ),
        ]

    @property
    def shown_title(self) -> str:
        """Return the title, or the day and time at which an untitled conversation began."""
        return self.title or name_by_time(self.created_at)


def name_by_time(begun_at: datetime) -> str:
    """Return the name of an untitled conversation that began at this time.

    The day and time are in the current time zone.
    """
    at = timezone.localtime(begun_at)
    is_this_year = at.year == timezone.localtime().year
    near, far = pgettext("date without year", "j M"), pgettext("date with year", "j M Y")
    values = {"day": date_format(at, near if is_this_year else far), "time": f"{at:%H:%M}"}
    return gettext("Conversation of %(day)s, %(time)s") % values


class Role(models.TextChoices):
    USER = "user", _("user")
    ASSISTANT = "assistant", _("assistant")
    SYSTEM = "system", _("system")
    TOOL = "tool", _("tool")


class Learning(models.TextChoices):
    """Whether memories are learned from a user message before it has a reply.

    WITH_TURN: the message is processed only together with its reply. WAITS: it is processed alone
    if no reply comes before it leaves the window or the conversation becomes inactive. DONE: it was
    processed alone and is skipped when its turn is processed.
    """

    WITH_TURN = ""
    WAITS = "waits"
    DONE = "done"


class Withheld(models.TextChoices):
    """The reason why nothing may be learned from a message.

    It is set when the message is recorded or its turn is forgotten. MEMORY_OFF: long-term memory
    was off. ASKED: the person asked for the message not to be kept. FORGOTTEN: the other message of
    its turn was forgotten. MANY_PEOPLE: it was imported from a file about several people, so it is
    unknown whom its statements are about.
    """

    NO = ""
    MEMORY_OFF = "off"
    ASKED = "asked"
    FORGOTTEN = "forgotten"
    MANY_PEOPLE = "people"


class MessageTime(models.TextChoices):
    """Which time of a message is compared with the time of a request to forget.

    Something that was forgotten may be learned again only from a message that is newer than the
    request. RECEIVED: the message was received in a turn or the chat; its time is `recorded_at`.
    DATED: it was imported or flushed; its time is `created_at`. UNDATED: it was imported or flushed
    without a time; it counts as older than any request.
    """

    RECEIVED = ""
    DATED = "dated"
    UNDATED = "undated"


class RolePlay(models.TextChoices):
    """Whether a role play begins or ends with this user message.

    Until the role play ends, each message is read together with the message that began the play, so
    that nothing is learned from what the person says in character.
    """

    GOES_ON = ""  # neither begins nor ends
    BEGINS = "begins"
    ENDS = "ends"


class Message(Hideable):
    """One message, which was said at `created_at` and recorded at `recorded_at`.

    An answer that the person stopped (`stopped`) counts as complete; `completed` is False for an
    answer that broke off. `learning` applies to a user message without a reply. `withheld` and
    `told` decide whether memories may be learned from the message
    (`memories.learning.learnability`).
    """

    personal_data = True
    words = ("content", "speaker")
    codes = ("public_id", "external_id", "role", "learning", "withheld", "told", "role_play")
    vouches = ("content",)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    public_id = models.CharField(max_length=40, unique=True, default=ids.message_id)
    external_id = models.CharField(max_length=200, null=True, blank=True, db_collation="C")
    number = models.PositiveIntegerField()
    role = models.CharField(max_length=12, choices=Role)
    speaker = models.CharField(max_length=100, blank=True)
    content = models.TextField(blank=True)
    completed = models.BooleanField(default=True)
    stopped = models.BooleanField(default=False, db_default=False)
    learning = models.CharField(
        max_length=5, choices=Learning, blank=True, default=Learning.WITH_TURN, db_default=""
    )
    withheld = models.CharField(
        max_length=9, choices=Withheld, blank=True, default=Withheld.NO, db_default=""
    )
    told = models.CharField(
        max_length=7, choices=MessageTime, blank=True, default=MessageTime.RECEIVED, db_default=""
    )
    role_play = models.CharField(
        max_length=6, choices=RolePlay, blank=True, default=RolePlay.GOES_ON, db_default=""
    )
    # Positions of secrets that the reader model found: start, end, start, end …
    secrets = ArrayField(models.PositiveIntegerField(), default=list, db_default=[], blank=True)
    token_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    recorded_at = models.DateTimeField(auto_now_add=True)
    hidden_at = models.DateTimeField(null=True, blank=True)

    class Meta(Hideable.Meta):
        constraints = [
            one_of("role", Role, name="message_role_known"),
            one_of("learning", Learning, name="message_learning_known"),
            one_of("withheld", Withheld, name="message_withheld_known"),
            one_of("told", MessageTime, name="message_told_known"),
            one_of("role_play", RolePlay, name="message_role_play_known"),
            models.UniqueConstraint(fields=["conversation", "number"], name="message_number"),
            models.UniqueConstraint(
                fields=["conversation", "external_id"],
                condition=Q(hidden_at__isnull=True),
                name="message_external_id",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-created_at", "-id"], name="message_user"),
            models.Index(
                fields=["conversation", "number"],
                condition=Q(learning="waits"),
                name="message_waits_to_be_learned",
            ),
        ]


class Turn(Hideable):
    """A user message with its completed reply. Memories and episodes are made from turns.

    `labels` are copied to the memories learned from the turn: agent_id, app_id, run_id, metadata,
    valid_until, occurred_at. The label `call` is the same for all turns that were sent in one
    request.
    """

    personal_data = True
    words = ("tools", "labels")
    codes = ("public_id", "project_key")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="turns")
    public_id = models.CharField(max_length=40, unique=True, default=ids.turn_id)
    user_message = models.OneToOneField(
        Message, on_delete=models.CASCADE, related_name="turn_as_question"
    )
    assistant_message = models.OneToOneField(
        Message, on_delete=models.CASCADE, related_name="turn_as_reply"
    )
    project_key = models.CharField(max_length=100, blank=True)
    tools = models.JSONField(default=list, blank=True)
    labels = models.JSONField(default=dict, blank=True)
    extracted_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    hidden_at = models.DateTimeField(null=True, blank=True)

    class Meta(Hideable.Meta):
        constraints = [
            models.CheckConstraint(
                condition=~Q(user_message=F("assistant_message")), name="turn_two_messages"
            )
        ]
        indexes = [models.Index(fields=["user", "conversation", "-id"], name="turn_user")]


class Summary(Hideable):
    """One version of the rolling summary of a conversation.

    It covers the messages from `from_number` to `through_number`. The newest visible version is the
    current one; older versions are kept.
    """

    personal_data = True
    words = ("text",)
    codes = ("public_id",)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="summaries"
    )
    public_id = models.CharField(max_length=40, unique=True, default=ids.summary_id)
    version = models.PositiveIntegerField()
    text = models.TextField()
    token_count = models.PositiveIntegerField(default=0)
    covered_message_count = models.PositiveIntegerField()
    from_number = models.PositiveIntegerField()
    through_number = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    hidden_at = models.DateTimeField(null=True, blank=True)

    class Meta(Hideable.Meta):
        verbose_name_plural = "summaries"
        constraints = [
            models.UniqueConstraint(fields=["conversation", "version"], name="summary_version"),
            models.CheckConstraint(
                condition=Q(from_number__lte=F("through_number")), name="summary_range"
            ),
        ]
        indexes = [models.Index(fields=["user", "conversation", "-version"], name="summary_user")]


class Episode(Hideable):
    """A turn whose text is indexed as a vector, so that a search can find it by meaning."""

    personal_data = True
    words = ()
    codes = ("public_id",)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="episodes"
    )
    turn = models.OneToOneField(Turn, on_delete=models.CASCADE, related_name="episode")
    public_id = models.CharField(max_length=40, unique=True, default=ids.episode_id)
    created_at = models.DateTimeField()
    hidden_at = models.DateTimeField(null=True, blank=True)

    class Meta(Hideable.Meta):
        indexes = [models.Index(fields=["user", "conversation", "-id"], name="episode_user")]


class Rating(models.TextChoices):
    POSITIVE = "positive", _("good")
    NEGATIVE = "negative", _("bad")
    VERY_NEGATIVE = "very_negative", _("very bad")


class Feedback(Record):
    """A person's rating of one message. A new rating replaces the previous one in the same row."""

    personal_data = True
    words = ("comment",)
    codes = ("rating",)
    vouches = ("comment",)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="feedback")
    rating = models.CharField(max_length=16, choices=Rating)
    comment = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "feedback"
        constraints = [one_of("rating", Rating, name="feedback_rating_known")]
        indexes = [models.Index(fields=["user"], name="feedback_user")]
