"""Find, create and rename conversations, by our id or the client's own id."""

from django.db import IntegrityError, transaction
from django.utils import timezone

from conversations.models import Conversation, ConversationKind
from conversations.recording.conversation_titles import title_of
from foundation import ids
from foundation.database import statements
from foundation.errors import Conflict, Invalid, NotFound
from memories.extraction import masking
from ops import audit_log
from ops.models import User

MAX_EXTERNAL_ID = 200


def check_external_id(value: str, *, field: str) -> str:
    """Return the client's id unchanged.

    Raise `Invalid` if the id is invalid; `field` is the name of the field in the error.
    """
    if not 1 <= len(value) <= MAX_EXTERNAL_ID:
        raise Invalid.field(field, f"An id has 1 to {MAX_EXTERNAL_ID} characters.")
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise Invalid.field(field, "The id must not contain control characters.")
    if ids.resembles_public_id(value):
        raise Invalid.field(field, "Ids with this prefix are reserved.")
    return value


def resolve(*, user: User, reference: str) -> Conversation:
    """Return the person's conversation that has this id, which may be our id or the client's id.

    Raise `NotFound` if there is no such conversation.
    """
    column = "public_id" if reference.startswith("conv_") else "external_id"
    found = statements.rows(
        f"SELECT {statements.columns(Conversation, 'c')} FROM conversations_conversation c"
        f" WHERE c.user_id = %s AND c.{column} = %s AND c.hidden_at IS NULL",
        [user.pk, reference],
    )
    if not found:
        raise NotFound("This conversation doesn’t exist.")
    return statements.instance(Conversation, found[0])


def find_or_create(
    *, user: User, reference: str | None, kind: str | None = None, title: str = ""
) -> Conversation:
    """Return the conversation with this id; create one if the id is None or an unknown client id.

    Raise `NotFound` if `reference` begins with `conv_` but the person has no such conversation,
    `Invalid` if the id is invalid, and `Conflict` if the conversation exists with another kind.
    """
    if reference is None:
        return create(user=user, external_id=None, title=title, kind=kind)
    if reference.startswith("conv_"):
        found = resolve(user=user, reference=reference)
    else:
        check_external_id(reference, field="conversation_id")
        found = Conversation.objects.filter(user=user, external_id=reference).first() or create(
            user=user, external_id=reference, title=title, kind=kind
        )
    if kind is not None and found.kind != kind:
        raise Conflict(
            "The conversation is of another kind.", fields={"conversation_kind": [found.kind]}
        )
    return found


def create(
    *, user: User, external_id: str | None, title: str = "", kind: str | None = None
) -> Conversation:
    """Create a conversation, or return the existing one with this external id.

    Raise `Invalid` if the kind, the external id or the title is invalid.
    """
    kind = kind or ConversationKind.MAIN
    if kind not in ConversationKind.values:
        raise Invalid.field("kind", "Must be main or group.")
    if external_id is not None:
        check_external_id(external_id, field="conversation_id")
    try:
        with transaction.atomic():
            made = Conversation.objects.create(
                user=user,
                external_id=external_id,
                title=_checked_title(title),
                kind=kind,
                created_at=timezone.now(),
            )
    except IntegrityError:
        return Conversation.objects.get(user=user, external_id=external_id)
    audit_log.record_together("conversation.made", subject=user.subject, target=made.public_id)
    return made


def rename(*, user: User, conversation: Conversation, title: str) -> Conversation:
    """Change the conversation's title. Raise `Invalid` if the title is too long."""
    conversation.title = _checked_title(title)
    conversation.save(update_fields=["title", "updated_at"])
    audit_log.record("conversation.renamed", subject=user.subject, target=conversation.public_id)
    return conversation


def give_title(conversation: Conversation, text: str) -> None:
    """Derive the title from a message's text, unless the conversation already has a title."""
    if not conversation.title and (title := title_of(text)):
        conversation.title = title
        conversation.save(update_fields=["title", "updated_at"])


def _checked_title(title: str) -> str:
    if len(title) > 200:
        raise Invalid.field("title", "A title has at most 200 characters.")
    return masking.masked(title.strip())[:200]
