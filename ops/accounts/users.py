"""Find, create and register people, change their settings, and give them roles.

An owner can do everything. An auditor sees every list in the admin, with people's content masked,
but can't change or reveal anything. A member has no access to the admin. An instance that has an
owner must never be left without one, so `check_not_last_owner` is called whenever somebody is about
to lose that role.
"""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.translation import gettext_noop

from foundation.database import statements
from foundation.database.statements import Batch
from foundation.errors import Conflict, Invalid, NotFound
from ops import audit_log, ledger
from ops.access import lock_person, read_all_rows
from ops.accounts import sign_ins
from ops.models import ApiKey, Identity, Role, SignIn, Theme, User, UserSettings

_TOO_SHORT = gettext_noop("This password is too short. Use at least 8 characters.")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_VISIT = timedelta(minutes=30)  # a longer pause starts a new visit to "About you"
_LOOK = timedelta(minutes=1)  # views within a visit are recorded at most this often
SWITCHES = (
    "summary_enabled",
    "episodic_enabled",
    "longterm_enabled",
    "confirm_before_remembering",
)


def check_external_id(value: object) -> str:
    """Return the id if it has 1-64 characters and no control character, else raise `Invalid`."""
    if not isinstance(value, str) or not 1 <= len(value) <= 64:
        raise Invalid.field("user_id", "Give the user’s id: 1 to 64 characters.")
    if _CONTROL.search(value):
        raise Invalid.field("user_id", "The id must not contain control characters.")
    return value


def find(external_id: str) -> User:
    """Return the active person with this external id, even while they are being forgotten.

    Raise `NotFound` if there is none.
    """
    found = statements.rows(
        f"SELECT {statements.columns(User, 'u')} FROM ops_user u"
        " WHERE u.external_id = %s AND u.is_active",
        [external_id],
    )
    if not found:
        raise NotFound("This user doesn’t exist.")
    return statements.instance(User, found[0])


def find_or_create(external_id: str, *, created_by: ApiKey | None = None) -> User:
    """Return the person with this external id, creating them if necessary.

    Raise `Conflict` (`being_forgotten`) while all data of that person is being erased.
    """
    user = User.objects.filter(external_id=external_id).first()
    if user is None:
        user = _create(external_id, created_by=created_by)
    check_not_being_forgotten(user)
    return user


def check_not_deleted(user: User) -> None:
    """Raise `Conflict` (`being_forgotten`) if the person's row is now hidden or deleted."""
    check_not_being_forgotten(User.objects.filter(pk=user.pk).first())


def check_not_being_forgotten(user: User | None) -> None:
    if user is None or user.hidden_at is not None:
        raise Conflict(
            "Everything about this user is being forgotten. Try again when that is done.",
            code="being_forgotten",
        )


def _create(external_id: str, *, created_by: ApiKey | None) -> User:
    try:
        with transaction.atomic():
            user = User.objects.create_user(external_id=external_id, created_by=created_by)
            UserSettings.objects.create(user=user, longterm_enabled=settings.LONGTERM_DEFAULT)
    except IntegrityError:
        return User.objects.get(external_id=external_id)
    audit_log.record("account.made", subject=user.subject)
    return user


def register(*, username: str, password: str, language: str = "", zone: str = "") -> User:
    """Create a person with a login name and no external id.

    `zone` is the browser's time zone; an unknown zone is replaced with UTC. Raise `Invalid` if the
    name or the password is invalid, or if the name is taken.
    """
    username = _checked_name(username, password)
    try:
        with transaction.atomic():
            user = User.objects.create_user(username, password)
            UserSettings.objects.create(
                user=user,
                longterm_enabled=settings.LONGTERM_DEFAULT,
                language=language,
                timezone="UTC" if _problem_with_setting("timezone", zone) else zone,
            )
    except IntegrityError as error:
        raise Invalid.field("username", "This name is taken.") from error
    audit_log.record("account.made", subject=user.subject)
    return user


def change_password(*, user: User, password: str) -> None:
    """Change the password, which ends all sessions that began with the old one.

    Raise `Invalid` if the new password is too weak.
    """
    _check_password(password, user)
    _set_password(user, password)
    user.save(update_fields=["password", "password_version", "updated_at"])
    _record_password_version(user)
    audit_log.record("password.changed", subject=user.subject)


def choose_login(*, user: User, username: str, password: str) -> User:
    """Set login name and password for a person who has only signed in with links so far.

    Raise `Invalid` if they already have a password, or if the name or the password is invalid.
    """
    if user.has_usable_password():
        raise Invalid("You already have a password.")
    username = _checked_name(username, password)
    user.username = username
    _set_password(user, password)
    try:
        with transaction.atomic():
            user.save(update_fields=["username", "password", "password_version", "updated_at"])
    except IntegrityError as error:
        user.username = None
        raise Invalid.field("username", "This name is taken.") from error
    _record_password_version(user)
    audit_log.record("password.chosen", subject=user.subject)
    return user


def change_name(*, user: User, name: str) -> None:
    """Change the display name. If the display name is empty, pages show the login name.

    Raise `Invalid` if the name is too long or contains control characters.
    """
    name = " ".join(name.split())
    if len(name) > 150 or _CONTROL.search(name):
        raise Invalid.field("display_name", "Choose a name of at most 150 characters.")
    user.display_name = name
    user.save(update_fields=["display_name", "updated_at"])
    names = ["display_name"]
    audit_log.record("settings.changed", subject=user.subject, details={"names": names})


def logins() -> QuerySet[User]:
    """Return all people with a login name or an identity at a provider, staff first.

    `last_seen` is the time at which they last signed in or used a session.
    """
    newest_use = (
        SignIn.objects.filter(user=OuterRef("pk")).order_by("-seen_at").values("seen_at")[:1]
    )
    has_identity = Exists(Identity.objects.filter(user=OuterRef("pk")))
    return (
        User.objects.filter(Q(username__isnull=False) | has_identity, hidden_at=None)
        .annotate(last_seen=Greatest("last_login", Subquery(newest_use)))
        .order_by("-is_superuser", "-is_staff", "username", "pk")
        .prefetch_related("groups")
    )


def set_active(*, user: User, is_active: bool) -> None:
    """Deactivate or reactivate a person. While deactivated, they can't sign in or use keys.

    Deactivating ends their sessions. Raise `Conflict` if the person is the last active owner.
    """
    if user.is_active == is_active:
        return
    if not is_active:
        check_not_last_owner(user)
        sign_ins.end_all_sessions(user)
    user.is_active = is_active
    user.save(update_fields=["is_active", "updated_at"])
    ledger.record_decision("active", user.subject, is_active=is_active)
    action = "user.unlock" if is_active else "user.lock"
    audit_log.record(action, subject=user.subject, target=f"user {user.pk}")


def spelled_name(typed: str) -> str:
    """Return the stored login name that matches the typed name, ignoring case.

    Return the typed name if no stored name matches it, or if several do.
    """
    found = User.objects.filter(username__iexact=typed).values_list("username", flat=True)[:2]
    names = [name for name in found if name]
    return names[0] if len(names) == 1 else typed


def _checked_name(username: str, password: str) -> str:
    """Return the login name without surrounding whitespace.

    Raise `Invalid` if the name or the password is invalid, or if the name is taken. Names that
    differ only in case count as equal.
    """
    username = username.strip()
    if not 1 <= len(username) <= 150 or _CONTROL.search(username):
        raise Invalid.field("username", "Choose a name of 1 to 150 characters.")
    if User.objects.filter(username__iexact=username).exists():
        raise Invalid.field("username", "This name is taken.")
    _check_password(password, User(username=username))
    return username


def _set_password(user: User, password: str) -> None:
    user.set_password(password)
    user.password_version += 1


def _record_password_version(user: User) -> None:
    ledger.record_decision("password", user.subject, version=user.password_version)


def _check_password(password: str, user: User) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        # Django's Chinese catalog doesn't have this message.
        words = [
            _TOO_SHORT if problem.code == "password_too_short" else str(problem.messages[0])
            for problem in error.error_list
        ]
        raise Invalid("The password is too weak.", fields={"password": words}) from error


def settings_of(user: User, *, locking: str = "") -> UserSettings:
    """Return the person's settings, or unsaved default settings.

    `locking` is an SQL locking clause, such as " FOR SHARE".
    """
    found = statements.rows(
        f"SELECT {statements.columns(UserSettings, 's')} FROM ops_usersettings s"
        f" WHERE s.user_id = %s{locking}",
        [user.pk],
    )
    if not found:
        return UserSettings(user=user, longterm_enabled=settings.LONGTERM_DEFAULT)
    return _settings_from_row(user, found[0])


def settings_held(user: User) -> UserSettings:
    """Return the person's settings, locked against changes until the transaction ends.

    Without the lock, memories could be written after the person has switched them off.
    """
    return settings_of(user, locking=" FOR SHARE")


def hold_settings(user: User, batch: Batch) -> Callable[[], UserSettings]:
    """Add a statement to the batch that locks the person's settings.

    Return a function that returns the settings once the batch has run. That function raises
    `Conflict` (`being_forgotten`) in the same cases as `check_not_deleted`.
    """
    found = batch.add(
        f"SELECT u.hidden_at, {statements.columns(UserSettings, 's')} FROM ops_usersettings s"
        " JOIN ops_user u ON u.id = s.user_id WHERE s.user_id = %s FOR SHARE OF s",
        [user.pk],
    )

    def read() -> UserSettings:
        for hidden_at, *columns in found.rows():
            check_not_being_forgotten(User(hidden_at=hidden_at))
            return _settings_from_row(user, columns)
        check_not_deleted(user)
        return UserSettings(user=user, longterm_enabled=settings.LONGTERM_DEFAULT)

    return read


def _settings_from_row(user: User, columns: Sequence[object]) -> UserSettings:
    own = statements.instance(UserSettings, columns)
    own.user = user
    return own


def change_settings(*, user: User, changes: dict[str, Any]) -> UserSettings:
    """Change the given settings, and return all settings of the person.

    If any value is invalid, change nothing and raise `Invalid`, which lists all invalid settings.
    """
    problems = {
        name: [problem]
        for name, value in changes.items()
        if (problem := _problem_with_setting(name, value))
    }
    if problems:
        raise Invalid("Some settings are not valid.", fields=problems)
    row = _settings_row(user)
    for name, value in changes.items():
        setattr(row, name, value)
    row.save(update_fields=[*changes, "updated_at"])
    switched = {name: changes[name] for name in SWITCHES if name in changes}
    if switched:
        ledger.record_decision("switches", user.subject, **{n: getattr(row, n) for n in SWITCHES})
    audit_log.record(
        "settings.changed",
        subject=user.subject,
        details={"names": sorted(changes), **switched},
    )
    return row


def visit_portrait(user: User) -> datetime | None:
    """Record that the person opened the "About you" page.

    Return the end of their previous visit, or None.
    """
    row = _settings_row(user)
    now, last_view = timezone.now(), row.portrait_seen_at
    if last_view is None or now - last_view > _LOOK:
        if last_view is not None and now - last_view > _VISIT:
            row.portrait_visited_at = last_view
        row.portrait_seen_at = now
        row.save(update_fields=["portrait_seen_at", "portrait_visited_at"])
    return row.portrait_visited_at


def _settings_row(user: User) -> UserSettings:
    defaults = {"longterm_enabled": settings.LONGTERM_DEFAULT}
    return UserSettings.objects.get_or_create(user=user, defaults=defaults)[0]


def _problem_with_setting(name: str, value: object) -> str:
    if name in SWITCHES:
        return "" if isinstance(value, bool) else "Must be true or false."
    if name == "language":
        known = {"", *(code for code, _ in settings.LANGUAGES)}
        return "" if value in known else "Must be one of: en, zh-hans."
    if name == "timezone":
        known = zoneinfo.available_timezones()
        return "" if value in known else gettext_noop("Must be a time zone such as Asia/Shanghai.")
    if name == "theme":
        return "" if value in Theme.values else gettext_noop("Must be auto, light or dark.")
    return "This setting doesn’t exist."


def role_of(user: Any) -> Role:
    """Return the role that the person may use now: for a deactivated person, always member."""
    return held_role(user) if isinstance(user, User) and user.is_active else Role.MEMBER


def held_role(user: User) -> Role:
    """Return the role assigned to the person, even if they are deactivated."""
    if not user.is_staff:
        return Role.MEMBER
    if user.is_superuser:
        return Role.OWNER
    if "_role" not in vars(user):  # cached, since every model on an admin page needs it
        is_auditor = any(group.name == Role.AUDITOR for group in user.groups.all())
        vars(user)["_role"] = Role.AUDITOR if is_auditor else Role.MEMBER
    role: Role = vars(user)["_role"]
    return role


def may_see_admin(user: Any) -> bool:
    return role_of(user) is not Role.MEMBER


def may_act(user: Any) -> bool:
    return role_of(user) is Role.OWNER


def check_not_last_owner(user: User) -> None:
    """Raise `Conflict` if this person is the only active owner.

    Call it before the person is forgotten, demoted or deactivated, in the same transaction.
    """
    lock_person(user)
    _refuse_last_owner(user)


def is_last_owner(user: User) -> bool:
    """Take the person's lock, and return whether they are the only active owner."""
    lock_person(user)
    return _is_last_owner(user)


def _refuse_last_owner(user: User) -> None:
    if _is_last_owner(user):
        raise Conflict("This is the last owner. Make someone else an owner first.")


def _is_last_owner(user: User) -> bool:
    """Return whether this person is the only active owner. Requires the person's lock.

    The rows of all owners are locked, so that the last two owners can't lose the role at the same
    time.
    """
    if not User.objects.filter(pk=user.pk, is_superuser=True).exists():
        return False
    with read_all_rows():
        owners = User.objects.filter(is_superuser=True, is_active=True, hidden_at=None)
        return list(owners.order_by("pk").select_for_update(no_key=True)) == [user]


def give_role(user: User, role: Role) -> None:
    """Give the person this role.

    Raise `Invalid` if a person with an external id would become staff, since every unbound key can
    access such a person. Raise `Conflict` if no other owner would be left.
    """
    lock_person(user)
    _change_role(user, role)


def _change_role(user: User, role: Role) -> None:
    if role is not Role.OWNER:
        _refuse_last_owner(user)
    if user.external_id is not None and role is not Role.MEMBER:
        raise Invalid("A user with an external id can’t be staff. Register a separate login.")
    assign_role(user, role)
    ledger.record_decision("role", user.subject, role=role.value)
    audit_log.record("staff.role", subject=user.subject, details={"role": role.value})


def hand_over_ownership(*, user: User, to: User) -> None:
    """Make `to` an owner and `user` a member. Raise the same errors as `give_role`."""
    for person in sorted((user, to), key=lambda person: person.pk):
        lock_person(person)
    _change_role(to, Role.OWNER)
    _change_role(user, Role.MEMBER)


def assign_role(user: User, role: Role) -> None:
    """Store the role in the person's columns and groups, without checks, ledger or audit log."""
    user.is_staff = role is not Role.MEMBER
    user.is_superuser = role is Role.OWNER
    user.save(update_fields=["is_staff", "is_superuser", "updated_at"])
    group, _ = Group.objects.get_or_create(name=Role.AUDITOR.value)
    if role is Role.AUDITOR:
        user.groups.add(group)
    else:
        user.groups.remove(group)
    vars(user).pop("_role", None)
