"""After a backup is restored, apply the decisions about access that were made since the backup.

The decisions are read from the ledger (`ops.ledger`). They concern keys, accounts, roles, sessions,
invitations, memory settings, webhooks and email addresses. Each handler returns whether it changed
anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.sessions.models import Session
from django.db.models import QuerySet

from ops import ledger
from ops.accounts import registration, sign_ins, users
from ops.ledger import Decision, decision_handler
from ops.models import (
    ApiKey,
    Identity,
    Instance,
    Invitation,
    Role,
    SecondFactor,
    SignIn,
    User,
    UserSettings,
    Webhook,
    WeeklyMail,
)


@decision_handler("key")
def _key(decision: Decision) -> bool:
    """Apply a change or a revocation of an API key.

    The decision names the key by its digest, since ids are reused after a restore. Lines of the
    ledger written before 2026-11-24 don't have `requires_user`.
    """
    state = dict(decision.state)
    known = ApiKey.objects.filter(digest=decision.target)
    if state.pop("revoked"):
        return bool(known.filter(revoked_at__isnull=True).update(revoked_at=decision.at))
    if state["expires_at"]:
        state["expires_at"] = datetime.fromisoformat(state["expires_at"])
    return _update_if_different(known, state)


@decision_handler("active")
def _active(decision: Decision) -> bool:
    """Deactivate or reactivate the person.

    The last owner stays active, since the backup may lack the account of a later owner.
    """
    rows = User.objects.filter(subject=decision.subject)
    user = rows.first()
    if user is not None and not decision.state["is_active"] and users.is_last_owner(user):
        ledger.record_decision("active", user.subject, is_active=True)
        return False
    return _update_if_different(rows, decision.state)


def _update_if_different(rows: QuerySet[Any], state: Mapping[str, Any]) -> bool:
    row = rows.first()
    if row is None or all(getattr(row, name) == value for name, value in state.items()):
        return False
    return bool(rows.update(**state))


@decision_handler("password")
def _password(decision: Decision) -> bool:
    """Make the restored password unusable if it was changed after the backup.

    The newer password can't be restored, since the ledger contains no passwords.
    """
    version = decision.state["version"]
    user = User.objects.filter(subject=decision.subject, password_version__lt=version).first()
    return user is not None and _make_password_unusable(user, version=version)


def _make_password_unusable(user: User, *, version: int | None = None) -> bool:
    user.set_unusable_password()
    user.password_version = user.password_version if version is None else version
    user.save(update_fields=["password", "password_version", "updated_at"])
    return True


@decision_handler("sessions")
def _sessions(decision: Decision) -> bool:
    rows = User.objects.filter(subject=decision.subject)
    user = rows.exclude(session_epoch=decision.state["epoch"]).first()
    if user is None:
        return False
    User.objects.filter(pk=user.pk).update(session_epoch=decision.state["epoch"])
    began = SignIn.objects.filter(user=user, began_at__lte=decision.at)
    sign_ins.end_sessions(list(began.values_list("session_key", flat=True)))
    return True


@decision_handler("session")
def _session(decision: Decision) -> bool:
    keys = Session.objects.values_list("session_key", flat=True).iterator()
    ended = [key for key in keys if sign_ins.session_digest(key) == decision.target]
    sign_ins.end_sessions(ended)
    return bool(ended)


@decision_handler("second factor")
def _second_factor(decision: Decision) -> bool:
    """Remove a second factor that was turned off or replaced after the backup.

    If the second factor is still the recorded one, only its recovery codes are updated. If the
    ledger records another second factor, which can't be restored, the password becomes unusable,
    since it alone must not be enough to sign in.
    """
    user = User.objects.filter(subject=decision.subject).first()
    if user is None:
        return False
    own = SecondFactor.objects.filter(user=user).first()
    made_at, recovery = decision.state["made_at"], decision.state["recovery"]
    if own is not None and own.created_at.isoformat() == made_at:
        renewed = SecondFactor.objects.filter(pk=own.pk).exclude(recovery=recovery)
        return bool(renewed.update(recovery=recovery))
    gone, _ = SecondFactor.objects.filter(user=user).delete()
    if made_at is None or not user.has_usable_password():
        return bool(gone)
    return _make_password_unusable(user)


@decision_handler("identity")
def _identity(decision: Decision) -> bool:
    rows = Identity.objects.filter(user__subject=decision.subject, created_at__lte=decision.at)
    known = decision.state["connected"]
    gone = [row.pk for row in rows if sign_ins.identity_digest(row) != known]
    return bool(Identity.objects.filter(pk__in=gone).delete()[0])


@decision_handler("role")
def _role(decision: Decision) -> bool:
    user = User.objects.filter(subject=decision.subject).first()
    if user is None:
        return False
    # Lines written before 2026-11-24 contain "" for a member and "operator" for an auditor.
    recorded = decision.state["role"] or Role.MEMBER
    role = Role.AUDITOR if recorded == "operator" else Role(recorded)
    if users.held_role(user) is role:
        return False
    if role is not Role.OWNER and users.is_last_owner(user):
        # The backup lacks the account of the later owner. Record the role that applies now;
        # otherwise a later start would apply the outdated line.
        ledger.record_decision("role", user.subject, role=Role.OWNER.value)
        return False
    users.assign_role(user, role)
    return True


@decision_handler("invitation")
def _invitation(decision: Decision) -> bool:
    return bool(Invitation.objects.filter(digest=decision.target).delete()[0])


@decision_handler("registration")
def _registration(decision: Decision) -> bool:
    is_open = decision.state["is_open"]
    if registration.is_registration_open() == is_open:
        return False
    Instance.objects.update_or_create(pk=1, defaults={"registration_open": is_open})
    return True


@decision_handler("switches")
def _switches(decision: Decision) -> bool:
    rows = UserSettings.objects.filter(user__subject=decision.subject)
    return _update_if_different(rows, decision.state)


@decision_handler("webhook")
def _webhook(decision: Decision) -> bool:
    """Delete a webhook that was removed, or switch off one that was changed.

    The ledger doesn't contain the new address of a changed webhook.
    """
    known = Webhook.objects.filter(public_id=decision.target)
    if decision.state["removed"]:
        row = known.first()
        if row is None:
            return False
        row.deliveries.all().delete()
        row.delete()
        return True
    version = decision.state["version"]
    return bool(known.filter(version__lt=version).update(version=version, is_active=False))


@decision_handler("weekly mail")
def _weekly_mail(decision: Decision) -> bool:
    """Delete an email address that was replaced or removed after the backup.

    The ledger doesn't contain the new address, so the person has none after a restore.
    """
    mails = WeeklyMail.objects.filter(user__subject=decision.subject)
    gone = [mail.pk for mail in mails if str(mail.nonce) != decision.state["nonce"]]
    return bool(WeeklyMail.objects.filter(pk__in=gone).delete()[0])
