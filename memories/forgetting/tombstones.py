"""Tombstones prevent a forgotten statement from being learned again from older messages.

Texts are normalised as for the residue scan, and stored as keyed hashes only: of the whole text, of
its content words, and of overlapping pieces, so that a slightly different excerpt of the same words
is still recognized. Statements made after the request to forget aren't blocked, unless they come
from the same messages as the forgotten text or from a message that only asks a question: asking
about a forgotten matter doesn't state it again.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from conversations.models import Message
from foundation.database import statements
from foundation.text import segment, shingles
from memories.extraction.message_reading.statement_checks import is_only_question
from memories.models import MemoryVersion, Source, Tombstone
from ops.models import User

_SALT = "memories.tombstone"
_MOST_PIECES = 64  # per text; the pieces with the lowest hashes are an unbiased sample
_CONTEXT = 200  # characters before and after a quotation that are compared too
_NEGATED = re.compile(r"n['’]?t\b|\b(?:not?|never|without)\b|[不没沒别別未无無]", re.IGNORECASE)
_BEFORE = "user_id = %s AND (message_ids && %s::varchar[] OR %s OR forgotten_at > %s)"


@dataclass(frozen=True)
class Provenance:
    """Where and when a statement was made.

    `said` is the keyed hash of the whole message, and `text` is the part of its text that is
    available. `message_ids` holds the public ids of the messages of its turn. If `at` is None, the
    time is unknown, and the statement counts as older than any request to forget.
    """

    text: str
    said: str
    message_ids: tuple[str, ...] = ()
    at: datetime | None = None


@dataclass(frozen=True)
class _Words:
    """The normalised words of a quotation (from `start` to `end`) and of the text around it."""

    text: str
    start: int
    end: int

    def pieces(self, key: bytes, size: int) -> dict[str, list[int]]:
        """Return the positions at which each piece of the text occurs, by the piece's hash."""
        found: dict[str, list[int]] = defaultdict(list)
        for at in range(len(self.text) - size + 1):
            found[_piece_hash(key, self.text[at : at + size])].append(at)
        return found


def tombstone_key(text: str) -> str:
    """Return a keyed hash that identifies a text without revealing it.

    The key is derived from the instance's secret.
    """
    return _keyed(shingles.normalise(text))


def about_key(text: str) -> str:
    """Return a keyed hash of the text's content words and of whether the text is negated.

    The order of the words doesn't matter. Return "" if the text has no content words.
    """
    words = sorted(set(segment.terms(text)))
    return _keyed(" ".join([*words, "-" * bool(_NEGATED.search(text))])) if words else ""


def is_forgotten(*, user: User, text: str, quote: str, provenance: Provenance) -> bool:
    """Return True if the statement was forgotten after it was said.

    The statement or its quotation must match a forgotten text, or the whole message must match a
    forgotten message. The time doesn't matter if the forgotten text comes from the same messages,
    or if the message is only a question and one forgotten text contains all significant words of
    the statement.
    """
    if is_only_question(provenance.text) and _has_only_forgotten_words(user, quote or text):
        return True
    keys = [tombstone_key(one) for one in (text, quote) if one]
    abouts = [key for one in (text, quote) if (key := about_key(one))]
    before = [user.pk, list(provenance.message_ids), provenance.at is None, provenance.at]
    [(known, sizes)] = statements.rows(
        "SELECT coalesce(bool_or(text_hash = ANY(%s) OR about_hash = ANY(%s)"
        "   OR (text_hash = %s AND memory_public_id = '')), false),"
        " array_agg(DISTINCT piece_size) FILTER (WHERE piece_size > 0)"
        f" FROM memories_tombstone WHERE {_BEFORE}",
        [keys, abouts, provenance.said, *before],
    )
    return bool(known) or bool(
        sizes and quote and _matches_pieces(user, quote, provenance, sizes, before)
    )


def _has_only_forgotten_words(user: User, text: str) -> bool:
    words = _word_hashes(user, text)
    found = words and statements.rows(
        "SELECT 1 FROM memories_tombstone"
        " WHERE user_id = %s AND word_hashes @> %s::varchar[] LIMIT 1",
        [user.pk, words],
    )
    return bool(found)


def _word_hashes(user: User, text: str) -> list[str]:
    """Return the hashes of a text's significant words.

    A Chinese word is significant only if it has at least two characters.
    """
    plain = segment.normalise(text)
    words = {word for word in segment.words(plain) if shingles.has_han(word) and len(word) > 1}
    words |= {term for term in segment.terms(plain) if not shingles.has_han(term)}
    words -= segment.CHINESE_STOP_WORDS | segment.ENGLISH_STOP_WORDS
    key = _key_of(user)
    return sorted(_piece_hash(key, word) for word in words)


def create_tombstones(*, user: User, version_ids: Sequence[int]) -> None:
    """Create a tombstone for each text of these versions and for each quotation in their sources.

    A version is hidden at the time of the request to forget; its tombstones store that time.
    Existing tombstones are kept.
    """
    versions = MemoryVersion.everything.filter(user=user, pk__in=version_ids)
    messages: dict[int, set[str]] = {pk: set() for pk in version_ids}
    quotes: dict[int, set[str]] = {pk: set() for pk in version_ids}
    sources = Source.everything.filter(user=user, version__in=version_ids).values_list(
        "version",
        "quote",
        "message__public_id",
        "turn__user_message__public_id",
        "turn__assistant_message__public_id",
        "reference",
    )
    for version, quote, *ids in sources:
        # The `reference` of a source may be a note's id or something else.
        messages[version].update(one for one in ids if one and one.startswith(("msg_", "note_")))
        quotes[version].add(quote)
    fields = "pk", "memory__public_id", "hidden_at", "content", "candidate_text"
    found: dict[tuple[str, str], Tombstone] = {}
    for pk, memory, hidden_at, *texts in versions.values_list(*fields):
        for text in filter(None, (*texts, *quotes[pk])):
            key = tombstone_key(text)
            size, pieces = _pieces_of(user, text)
            found[memory, key] = Tombstone(
                user=user,
                memory_public_id=memory,
                text_hash=key,
                about_hash=about_key(text),
                word_hashes=_word_hashes(user, text),
                pieces=pieces,
                piece_size=size,
                message_ids=sorted(messages[pk]),
                forgotten_at=hidden_at or timezone.now(),
            )
    there = Tombstone.objects.filter(user=user, memory_public_id__in={one for one, _ in found})
    left = set(there.values_list("memory_public_id", "text_hash")) if found else set()
    Tombstone.objects.bulk_create([one for key, one in found.items() if key not in left])


def create_message_tombstones(*, user: User, messages: QuerySet[Message], at: datetime) -> None:
    """Create a tombstone for each message, so that nothing is learned from an older copy of it.

    `at` is the time of the request to forget.
    """
    Tombstone.objects.bulk_create(
        [
            Tombstone(
                user=user,
                text_hash=tombstone_key(content),
                message_ids=[public_id],
                forgotten_at=at,
            )
            for public_id, content in messages.values_list("public_id", "content")
        ],
        batch_size=1_000,
    )


def _pieces_of(user: User, text: str) -> tuple[int, list[str]]:
    """Return the size of a text's pieces, and their hashes (at most `_MOST_PIECES`).

    A short text is a single piece. A very short text has no pieces, since other texts may contain
    it by chance.
    """
    plain = shingles.normalise(text)
    full = shingles.size_for(plain)
    if len(plain) * 2 <= full:
        return 0, []
    size = min(full, len(plain))
    key = _key_of(user)
    found = {_piece_hash(key, one) for one in shingles.shingles(plain, size=size)}
    return size, sorted(found)[:_MOST_PIECES]


def _matches_pieces(
    user: User,
    quote: str,
    provenance: Provenance,
    sizes: Sequence[int],
    before: Sequence[object],
) -> bool:
    words = _words_of(quote, provenance.text)
    key = _key_of(user)
    places = {size: words.pieces(key, size) for size in sizes}
    wanted = sorted({one for found in places.values() for one in found})
    rows = statements.rows(
        "SELECT pieces, piece_size FROM memories_tombstone"
        f" WHERE pieces && %s::varchar[] AND {_BEFORE}",
        [wanted, *before],
    )
    return any(_are_mostly_the_same(words, pieces, places[size], size) for pieces, size in rows)


def _words_of(quote: str, text: str) -> _Words:
    at = text.find(quote)
    start, end = (at, at + len(quote)) if at >= 0 else (0, 0)
    before, after = text[max(0, start - _CONTEXT) : start], text[end : end + _CONTEXT]
    before, within, after = (shingles.normalise(one) for one in (before, quote, after))
    if at < 0:
        before = after = ""
    return _Words(before + within + after, len(before), len(before) + len(within))


def _are_mostly_the_same(
    words: _Words, pieces: Collection[str], places: dict[str, list[int]], size: int
) -> bool:
    """Return True if the quotation is mostly the same as the forgotten text.

    At least half of the forgotten pieces must occur in the quotation or the text around it. In
    addition, their overlap with the quotation must cover at least half of the quotation or of the
    matched text.
    """
    found = [key for key in pieces if key in places]
    if len(found) * 2 < len(pieces):
        return False
    covered = {at + n for key in found for at in places[key] for n in range(size)}
    inside = sum(words.start <= at < words.end for at in covered)
    return inside * 2 >= min(len(covered), words.end - words.start)


def _piece_hash(key: bytes, piece: str) -> str:
    return hashlib.blake2b(piece.encode(), key=key, digest_size=8).hexdigest()


def _key_of(user: User) -> bytes:
    """Return the user's own key for hashing pieces.

    Pieces are short, so their hashes must not be comparable across users.
    """
    return salted_hmac(f"{_SALT}.pieces", str(user.pk), algorithm="sha256").digest()


def _keyed(text: str) -> str:
    return salted_hmac(_SALT, text, algorithm="sha256").hexdigest()
