"""The weekly email: who gets it and when, confirming the address, unsubscribing, and sending.

A sent email can't be erased. The weekly email therefore contains only counts and links: no memory,
no topic and no name. The counts come from `memories.weekly_changes`. Each link contains the nonce
of the `WeeklyMail` row, with a signature that is valid for one purpose (`Link`) only. Links work
without signing in, since only people who can read the mailbox have them. After a restore, emails
are held back, as webhook deliveries are.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from email.utils import make_msgid
from enum import StrEnum
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPServerDisconnected
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from foundation.errors import Conflict, Invalid, NotFound, ProviderError
from ops import audit_log, ledger
from ops.access import as_user, lock_person
from ops.accounts import users
from ops.models import Kind, Operation, Priority, User, UserSettings, WeeklyMail
from ops.queue import outbox
from ops.queue.run import Run
from ops.registry import handles

CONFIRM_DAYS = 7
_HOUR = 8
_QUESTIONS_A_DAY = 5  # protects strangers whose address was entered by somebody else
_LANE = "mail"  # emails are sent one at a time, so that a slow server occupies one worker
_UNREACHABLE = gettext_noop("The email server can’t be reached.")
_REFUSED = gettext_noop("The email server didn’t accept the email.")
logger = logging.getLogger(__name__)


class Link(StrEnum):
    """The purposes of links in emails. The values are the names of URL patterns."""

    CONFIRM = "weekly_mail_confirm"
    STOP = "weekly_mail_stop"


def is_offered() -> bool:
    return bool(settings.EMAIL_HOST)


def mail_of(user: User) -> WeeklyMail | None:
    return WeeklyMail.objects.select_related("user__settings").filter(user=user).first()


def switch_on(*, user: User, address: str, language: str) -> None:
    """Store the address, and enqueue an email to it that asks to confirm the weekly email.

    Nothing is sent if the address is already confirmed. Raise `Invalid` if the address is
    malformed. Raise `Conflict` if no mail server is configured, after too many requests in a day,
    or while the person is being forgotten.
    """
    users.check_not_being_forgotten(user)
    if not is_offered():
        raise Conflict("No email server is set up.")
    try:
        WeeklyMail._meta.get_field("address").clean(address, None)
    except ValidationError as error:
        raise Invalid.field("address", "Enter a valid email address.") from error
    now = timezone.now()
    requests = Operation.objects.filter(subject=user.subject, kind=Kind.CONFIRM_MAIL)
    if requests.filter(created_at__gt=now - timedelta(days=1)).count() >= _QUESTIONS_A_DAY:
        raise Conflict("Several emails were sent today. Please try again tomorrow.")
    own = WeeklyMail.objects.filter(user=user)
    own.exclude(address=address).delete()
    values = {"language": language, "asked_at": now}
    if not own.filter(confirmed_at=None).update(**values):
        if own.exists():
            return
        WeeklyMail.objects.create(user=user, address=address, **values)
    ledger.record_decision("weekly mail", user.subject, nonce=str(own.get().nonce))
    audit_log.record("weekly_mail.asked", subject=user.subject)
    _enqueue(Kind.CONFIRM_MAIL, user, {})


def switch_off(user: User) -> None:
    """Delete the person's address, so that no weekly email is sent. Safe to repeat."""
    if WeeklyMail.objects.filter(user=user).delete()[0]:
        ledger.record_decision("weekly mail", user.subject, nonce=None)
        audit_log.record("weekly_mail.stopped", subject=user.subject)


def confirm(token: str) -> None:
    """Confirm the address to which this link was sent. Call it inside `as_system`.

    Raise `NotFound` if the link is invalid or too old, or the address was replaced or removed.
    """
    row = find(Link.CONFIRM, token)
    if row is None:
        raise NotFound("This link no longer works.")
    lock_person(row.user)
    if WeeklyMail.objects.filter(pk=row.pk, confirmed_at=None).update(confirmed_at=timezone.now()):
        audit_log.record("weekly_mail.confirmed", subject=row.user.subject)


def stop(token: str) -> None:
    """Unsubscribe the address to which this link was sent. Call it inside `as_system`.

    Safe to repeat. Raise `NotFound` if the link is invalid.
    """
    row = find(Link.STOP, token)
    if row is not None:
        lock_person(row.user)
        switch_off(row.user)


def find(link: Link, token: str) -> WeeklyMail | None:
    """Return the row for a link, or None if the address has since been replaced or removed.

    Raise `NotFound` if the signature is invalid, or the link is too old to confirm an address.
    """
    longest = timedelta(days=CONFIRM_DAYS) if link is Link.CONFIRM else None
    try:
        nonce = _signer(link).unsign(token, max_age=longest)
    except signing.BadSignature as error:
        raise NotFound("This link no longer works.") from error
    rows = WeeklyMail.objects.select_related("user").filter(user__hidden_at=None)
    return rows.filter(nonce=nonce).first()


def url_of(link: Link, row: WeeklyMail) -> str:
    return absolute_url(reverse(link, args=[_signer(link).sign(str(row.nonce))]))


def absolute_url(path: str) -> str:
    return f"{settings.PUBLIC_URL.rstrip('/')}{path}"


def _signer(link: Link) -> signing.TimestampSigner:
    return signing.TimestampSigner(salt=f"ops.{link}", sep=".")


def unconfirmed_addresses() -> QuerySet[WeeklyMail]:
    """Return the addresses that weren't confirmed before their link expired."""
    too_old = timezone.now() - timedelta(days=CONFIRM_DAYS)
    return WeeklyMail.objects.filter(confirmed_at=None, asked_at__lt=too_old)


def request_due(*, now: datetime) -> int:
    """Enqueue the weekly email for everybody for whom it is due; return their number.

    Call it inside `as_system`. Each Monday's email is requested only once, even if the operation
    fails.
    """
    if not is_offered():
        return 0
    # In some time zones Monday begins on UTC's Sunday.
    is_long_ago = Q(sent_on=None) | Q(sent_on__lte=now.date() - timedelta(days=6))
    rows = WeeklyMail.objects.filter(is_long_ago, confirmed_at__isnull=False)
    count = 0
    for row in rows.select_related("user__settings").order_by("pk"):
        monday = due_monday(row, now=now)
        payload = {"monday": f"{monday}"}
        requests = Operation.objects.filter(subject=row.user.subject, kind=Kind.WEEKLY_MAIL)
        if monday is not None and not requests.filter(payload=payload).exists():
            _enqueue(Kind.WEEKLY_MAIL, row.user, payload)
            count += 1
    return count


def due_monday(row: WeeklyMail, *, now: datetime) -> date | None:
    """Return this week's Monday if its email is due and hasn't been sent, else None.

    Weeks and times are in the person's time zone. The email is due from Monday, 8:00. People who
    confirm their address later in the week get the next email.
    """
    zone = ZoneInfo(_settings_of(row).timezone)
    today = now.astimezone(zone).date()
    monday = today - timedelta(days=today.weekday())
    begins = datetime.combine(monday, time(_HOUR), zone)
    is_on = row.confirmed_at is not None and row.confirmed_at <= begins <= now
    is_sent = row.sent_on is not None and row.sent_on >= monday
    is_here = row.user.is_active and row.user.hidden_at is None
    return monday if is_on and is_here and not is_sent else None


def claim(user: User, *, monday: date) -> WeeklyMail | None:
    """Record the email of `monday` as sent, before it is sent; return the person's row.

    Return None if the email is no longer due. Call this in the person's transaction, with the
    person's lock.
    """
    row = mail_of(user)
    if row is None or due_monday(row, now=timezone.now()) != monday:
        return None
    row.sent_on = monday
    row.save(update_fields=["sent_on"])
    return row


def unclaim(row: WeeklyMail) -> None:
    """Record that the email wasn't sent after all, so that it is due again."""
    before = row.sent_on and row.sent_on - timedelta(days=7)
    WeeklyMail.objects.filter(pk=row.pk, sent_on=row.sent_on).update(sent_on=before)


def language_of(row: WeeklyMail) -> str:
    return _settings_of(row).language or row.language or settings.LANGUAGE_CODE


def _settings_of(row: WeeklyMail) -> UserSettings:
    return getattr(row.user, "settings", None) or UserSettings()


def _enqueue(kind: Kind, user: User, payload: Mapping[str, str]) -> None:
    outbox.enqueue(
        kind,
        subject=user.subject,
        payload=payload,
        priority=Priority.BULK,
        dedupe_key=f"{kind}:{user.subject}",
        serial_key=_LANE,
    )


@handles(Kind.CONFIRM_MAIL)
def ask_to_confirm(run: Run) -> None:
    """Send the email that asks to confirm the address.

    Running the operation twice may send the email twice.
    """
    user = run.user()
    if user is None:
        return
    with as_user(user):
        row = mail_of(user)
    if row is None or row.confirmed_at is not None or row.user.hidden_at is not None:
        return
    with translation.override(language_of(row)):
        letter = Letter(
            subject=_("Confirm your address for the weekly email"),
            lines=(
                _("Someone with an account here asked for a weekly email to this address."),
                _("If it wasn’t you, do nothing: nothing is sent without your confirmation."),
            ),
            action=_("Confirm the address"),
            url=url_of(Link.CONFIRM, row),
        )
        send(letter, row)


@dataclass(frozen=True)
class Letter:
    """An email: a few lines of text and a link.

    The lines contain no remembered content. `stop_url`, if set, is the link to unsubscribe.
    """

    subject: str
    lines: Sequence[str]
    action: str
    url: str
    stop_url: str = ""


class NotSent(ProviderError):
    """The email was certainly not sent."""


def send(letter: Letter, row: WeeklyMail) -> None:
    """Send an email in the active language.

    If the connection breaks while the server is accepting the email, the email counts as sent:
    getting no email is better than getting it twice. Raise `NotSent` if the mail server can't be
    reached or refuses the email.
    """
    host = urlsplit(settings.PUBLIC_URL).hostname or "localhost"
    headers = {"Auto-Submitted": "auto-generated", "Message-ID": make_msgid(domain=host)}
    if letter.stop_url:
        headers["List-Unsubscribe"] = f"<{letter.stop_url}>"
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    lines = [*letter.lines, f"{letter.action}:\n{letter.url}"]
    if letter.stop_url:
        lines.append(_("Stop this email:") + f"\n{letter.stop_url}")
    message = EmailMultiAlternatives(
        letter.subject, "\n\n".join(lines), to=[row.address], headers=headers
    )
    html = render_to_string("ops/mail.html", {"letter": letter})
    message.attach_alternative(html, "text/html")
    connection = get_connection()
    try:
        _open(connection)
        connection.send_messages([message])
    except SMTPServerDisconnected:
        logger.warning("the mail server broke off; the mail counts as sent")
    except SMTPException as error:
        raise NotSent(_REFUSED, retryable=not _is_final(error)) from error
    finally:
        with suppress(OSError):
            connection.close()


def _open(connection: BaseEmailBackend) -> None:
    try:
        connection.open()
    except OSError as error:  # including SMTPException
        raise NotSent(_UNREACHABLE, retryable=True) from error


def _is_final(error: SMTPException) -> bool:
    if not isinstance(error, SMTPRecipientsRefused):
        return False
    return all(code >= 500 for code, _words in error.recipients.values())
