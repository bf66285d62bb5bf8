"""The personal data in the tables of this app, and the first readable page of an export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from foundation.errors import Invalid
from ops.accounts import users
from ops.forgetting import person_forgets
from ops.models import (
    ApiKey,
    Delivery,
    Export,
    IdempotencyRecord,
    Identity,
    Import,
    Invitation,
    SecondFactor,
    SignIn,
    SignInLink,
    User,
    UserSettings,
    Webhook,
    WeeklyMail,
)
from ops.portable_rows import BAD_VALUE, Loading, RejectedRow, validated_value
from ops.registry import ErasableData, Page, Rows, register, register_readable_pages
from ops.transfer import stored_files
from ops.transfer.stored_files import EXPORTS, IMPORTS

STAYS = gettext_noop("it belongs to the account it was exported from")
DECIDED = gettext_noop("the settings chosen here are kept")
_CHOSEN = (*users.SWITCHES, "language", "timezone", "theme")
INDEX = "index.md"


@dataclass(frozen=True)
class TransferRows(Rows):
    """The rows of exports or imports. The files are erased before the rows that name them."""

    kept_in: str = ""

    def erase(self, user_id: int) -> Mapping[str, int]:
        rows = self.model._base_manager.filter(user_id=user_id).select_for_update()
        names = rows.exclude(path="").values_list("path", flat=True)
        files = stored_files.delete(self.kept_in, names)
        return {**super().erase(user_id), "files:transfer": files}


class WebhookRows(Rows):
    """Webhooks that belong to the person or to their API keys, with their deliveries."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        own = Q(user_id=user_id) | Q(api_key__user_id=user_id)
        sent, _ = Delivery.objects.filter(webhook__in=Webhook.objects.filter(own)).delete()
        gone, _ = Webhook.objects.filter(own).delete()
        return {"ops_webhook": gone, "ops_delivery": sent}


class AnswerRows(Rows):
    """Stored responses to calls that concern the person or were made with their API keys."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        own = Q(user_id=user_id) | Q(api_key__user_id=user_id)
        gone, _ = IdempotencyRecord.objects.filter(own).delete()
        return {"ops_idempotencyrecord": gone}


class SettingsRows(Rows):
    """The person's settings. An import changes them only if all of them have default values."""

    def load(self, loading: Loading, rows: Iterable[Mapping[str, Any]]) -> None:
        row = next(iter(rows), None)
        if row is None:
            return
        loading.advance(1)
        own = users.settings_of(loading.user)
        untouched = UserSettings(user=loading.user, longterm_enabled=settings.LONGTERM_DEFAULT)
        try:
            chosen = {
                column.name: validated_value(column, row)
                for column in UserSettings._meta.concrete_fields
                if column.name in _CHOSEN
            }
            if any(getattr(own, name) != getattr(untouched, name) for name in _CHOSEN):
                if any(getattr(own, name) != value for name, value in chosen.items()):
                    loading.leave_out(self.name, DECIDED)
                return
            users.change_settings(user=loading.user, changes=chosen)
            loading.new[self.name] += 1
        except RejectedRow as unfit:
            loading.leave_out(self.name, unfit.why)
        except Invalid:
            loading.leave_out(self.name, BAD_VALUE)


class Account(ErasableData):
    """The account, its sessions and its entries in the admin's log. It is erased last."""

    name = "account"
    order = 1_000
    models = (User,)

    def export(self, user: User) -> Iterator[Mapping[str, Any]]:
        names = "username", "external_id", "display_name", "created_at", "updated_at"
        yield from User.objects.filter(pk=user.pk, hidden_at__isnull=True).values(*names)

    def load(self, loading: Loading, rows: Iterable[Mapping[str, Any]]) -> None:
        """Import only the display name, and only if the person has none.

        Sign-in is set up separately on each instance.
        """
        name = str((next(iter(rows), None) or {}).get("display_name") or "")[:150]
        if name.isprintable() and not loading.user.display_name:
            User.objects.filter(pk=loading.user.pk).update(display_name=name)

    def erase(self, user_id: int) -> Mapping[str, int]:
        sessions = person_forgets.erase_sessions(user_id)
        about = Q(content_type=ContentType.objects.get_for_model(User), object_id=str(user_id)) | Q(
            user_id=user_id
        )
        entries, _ = LogEntry.objects.filter(about).delete()
        _, erased = User.objects.filter(pk=user_id).delete()
        return {
            "ops_user": erased.get("ops.User", 0),
            "django_session": sessions,
            "django_admin_log": entries,
        }

    def count(self, user: User) -> int:
        return User.objects.filter(pk=user.pk, hidden_at__isnull=True).count()


register(
    TransferRows(Export, order=60, leave_out=("path",), stays=STAYS, kept_in=EXPORTS),
    TransferRows(Import, order=61, leave_out=("path", "position"), stays=STAYS, kept_in=IMPORTS),
    Rows(SignInLink, order=62, leave_out=("digest",), stays=STAYS),
    Rows(SignIn, order=62, leave_out=("session_key",), stays=STAYS),
    Rows(SecondFactor, order=62, leave_out=("secret", "last_step", "recovery"), stays=STAYS),
    Rows(Identity, order=62, stays=STAYS),
    Rows(Invitation, order=62, leave_out=("digest",), stays=STAYS),
    Rows(WeeklyMail, order=62, leave_out=("nonce",), stays=STAYS),
    WebhookRows(Webhook, order=63, leave_out=("secret",), stays=STAYS),
    AnswerRows(IdempotencyRecord, order=64, leave_out=("fingerprint", "body"), stays=STAYS),
    # People who were created with an erased key are kept; the database sets `created_by` to null.
    Rows(ApiKey, order=65, leave_out=("digest",), stays=STAYS),
    SettingsRows(UserSettings, order=66),
    Account(),
)


@register_readable_pages
def first_page(user: User, conversation: int | None) -> Iterator[Page]:
    yield Page(INDEX, _first_page_lines(user, conversation))


def _first_page_lines(user: User, conversation: int | None) -> Iterator[str]:
    own = users.settings_of(user)
    now = timezone.localtime(timezone.now(), ZoneInfo(own.timezone))
    made_at = f"{date_format(now, pgettext('date in full', 'j F Y'))}, {now:%H:%M}"
    title = _("What is remembered about you") if conversation is None else _("One conversation")
    yield f"# {title}"
    yield ""
    yield _("Exported on %(when)s (%(zone)s).") % {"when": made_at, "zone": own.timezone}
    yield ""
    yield _(
        "The pages here are for reading. “memory-center.json” has the same content and more, "
        "and can be imported again without loss."
    )
    yield ""
    yield "## " + _("Switches")
    yield ""
    on, off = _("on"), _("off")
    for name, title in [
        ("longterm_enabled", _("Long-term memory")),
        ("summary_enabled", _("Summaries")),
        ("episodic_enabled", _("Earlier moments")),
        ("confirm_before_remembering", _("Ask before remembering")),
    ]:
        yield _("- %(what)s: %(state)s") % {
            "what": title,
            "state": on if getattr(own, name) else off,
        }
