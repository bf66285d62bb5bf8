"""Proof of identity before a critical action: the password or a recent sign-in."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext as _

from ops.accounts import failed_sign_ins
from ops.pages.account import sign_in
from ops.pages.base import person


def problem(request: HttpRequest, *, password: str, purpose: str) -> str:
    """Return why the proof fails, in words, or an empty string.

    Failures count by `purpose`, so that one form does not lock another.
    """
    user = person(request)
    if not user.has_usable_password():
        if sign_in.is_fresh(request):
            return ""
        return _("Please sign in again, then come back within ten minutes.")
    name, address = f"{purpose}:{user.pk}", request.META.get("REMOTE_ADDR", "")
    if failed_sign_ins.are_used_up(name, address=address):
        return _("Too many wrong passwords. Please wait 15 minutes.")
    if user.check_password(password):
        return ""
    failed_sign_ins.note_failure(name, address=address)
    return _("The password is wrong.")
