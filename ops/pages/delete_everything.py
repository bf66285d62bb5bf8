"""Delete everything: confirmation, proof of identity and progress."""

from __future__ import annotations

from django.contrib import auth
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from memcenter.lib.errors import Conflict, NotFound
from ops import selectors
from ops.access import as_system
from ops.accounts import keys
from ops.forgetting import person_forgets
from ops.models import Operation, Receipt
from ops.pages import operation_rows, receipts, stored_amounts
from ops.pages.account import proof
from ops.pages.base import own_transaction, person, personal_page, target
from ops.pages.forms import ForgetEverythingForm


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def forget_everything(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _ask(request)
    form = ForgetEverythingForm(request.POST)
    problem = _problem(request, form)
    if problem:
        return _ask(request, problem)
    try:
        with own_transaction(request):
            operation, token = person_forgets.forget_user(user=person(request))
    except Conflict as error:
        return _ask(request, _(error.message))
    auth.logout(request)
    query = urlencode({"token": token})
    return redirect(f"{reverse('forgotten', args=[operation.public_id])}?{query}")


def _ask(request: HttpRequest, problem: str = "") -> HttpResponse:
    user = person(request)
    with own_transaction(request):
        context = {
            "section": "memory",
            "action": reverse("forget_everything"),
            "goes": stored_amounts.sentences_of(stored_amounts.counts_of(user)),
            "stays": [_("a receipt with counts and dates that says nothing about you")],
            "phrase": _("delete everything"),
            "ask_password": user.has_usable_password(),
            "cancel_href": reverse("data_management"),
            "errors": [problem] if problem else [],
        }
        status = 422 if problem else 200
        return render(request, "ops/forget_everything.html", context, status=status)


def _problem(request: HttpRequest, form: ForgetEverythingForm) -> str:
    """Return the first reason against it, checked in this order before anything is done."""
    if not form.is_valid():
        return str(next(iter(form.errors.values()))[0])
    problem = proof.problem(request, password=form.cleaned_data["password"], purpose="forget")
    return _("%(problem)s Nothing was deleted.") % {"problem": problem} if problem else ""


@require_safe
def forgotten(request: HttpRequest, op_id: str) -> HttpResponse:
    """Show the progress to the holder of the token, since the account may be deleted already."""
    operation, receipt = _opened(request, op_id)
    one = operation_rows.happening(operation)
    context = {
        "one": one,
        "is_moving": operation_rows.is_moving([one]),
        "shown": receipts.shown(receipt) if receipt else None,
        "here": request.get_full_path(),
        "download": f"{reverse('forgotten_receipt', args=[op_id])}?{request.GET.urlencode()}",
        "title": _forgotten_title(operation, receipt),
    }
    part = "#progress" if target(request) == "progress" else ""
    response = render(request, f"ops/forgotten.html{part}", context)
    patch_cache_control(response, private=True, no_store=True)
    return response


@require_safe
def forgotten_receipt(request: HttpRequest, op_id: str) -> HttpResponse:
    _operation, receipt = _opened(request, op_id)
    if receipt is None:
        raise Http404("There is no receipt yet.")
    return receipts.as_file(receipt)


def _forgotten_title(operation: Operation, receipt: Receipt | None) -> str:
    if receipt is not None:
        return _("Everything is forgotten")
    return _("Everything is being forgotten")


def _opened(request: HttpRequest, op_id: str) -> tuple[Operation, Receipt | None]:
    token = request.GET.get("token", "")
    with as_system():
        try:
            operation = selectors.operation_by(op_id)
        except NotFound as error:
            raise Http404(error.message) from error
        if not keys.opens_receipt(operation, token=token):
            raise Http404("There is no such operation.")
        receipt = Receipt.objects.filter(operation=operation).select_related("operation").first()
    return operation, receipt
