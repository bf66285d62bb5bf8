"""Proof of who asks, before something grave: the password, or a moment-old sign-in."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext as _

from ops.pages import person
from ops.services import attempts
from ops.views import signing


def problem(request: HttpRequest, *, password: str, purpose: str) -> str:
    """What keeps it from being done, in words; empty when the proof holds.

    `purpose` keeps wrong passwords of one form from locking another.
    """
    user = person(request)
    if not user.has_usable_password():
        if signing.is_fresh(request):
            return ""
        return _("Please sign in anew, then come back within ten minutes.")
    name, address = f"{purpose}:{user.pk}", request.META.get("REMOTE_ADDR", "")
    if attempts.are_used_up(name, address=address):
        return _("The password was wrong too often. Please wait a quarter of an hour.")
    if user.check_password(password):
        return ""
    attempts.note_failure(name, address=address)
    return _("The password is not right.")
