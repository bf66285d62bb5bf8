"""Pages that delete all data of a person, show the progress, and show receipts.

To delete all data, the person must type a phrase, and enter the password or, without a password,
have signed in recently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib import auth
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, npgettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from foundation.errors import Conflict, NotFound
from ops import registry, selectors
from ops.access import as_system
from ops.accounts import keys, users
from ops.api import serializers
from ops.disk import disk_erasure
from ops.disk.disk_erasure import DiskResult
from ops.forgetting import person_forgets
from ops.forgetting.forget_steps import STILL_SAYING
from ops.models import ApiKey, AuditEvent, Operation, Receipt, User
from ops.pages import operation_rows, stored_amounts
from ops.pages.base import own_transaction, person, personal_page, target
from ops.pages.forms import ForgetEverythingForm

_SCOPES = {
    "memory": gettext_lazy("A memory was forgotten"),
    "message": gettext_lazy("An exchange was forgotten"),
    "messages": gettext_lazy("A part of a conversation was forgotten"),
    "choice": gettext_lazy("What you chose was forgotten"),
    "conversation": gettext_lazy("A conversation was forgotten"),
    "clear": gettext_lazy("A conversation was cleared"),
    "project": gettext_lazy("A project was forgotten"),
    "summary_layer": gettext_lazy("All summaries were deleted"),
    "episode_layer": gettext_lazy("All earlier moments were deleted"),
    "user": gettext_lazy("Everything was forgotten"),
}
# Kinds of data that people know by name. A receipt shows the other kinds only in its details.
_PLAIN = (
    *("message", "conversation", "temporary_conversation", "summary", "episode", "memory"),
    *("project", "memoryfile", "dailynote", "feedback", "export", "import", "account"),
)
# Descriptions of the kinds of kept data.
_KEPT = {
    "messages": gettext_lazy("the messages it came from, and answers that repeat it"),
    "memories": gettext_lazy("what was learned from it"),
}
# Who decided to keep the memories.
_KEPT_BY = {
    "person": gettext_lazy("Kept, as you chose"),
    "program": gettext_lazy("Kept, as the program asked"),
    "": gettext_lazy("Kept, as the request said"),
}

# Who requested a forget operation, by the kind of actor in the audit log.
_ASKED_BY = {
    "user": gettext_lazy("requested by you"),
    "key": gettext_lazy("requested by a program"),
    "staff": gettext_lazy("requested by an administrator"),
    "operator": gettext_lazy("requested by an administrator"),
}
_SHORT_NUMBER = 4  # characters

Line = tuple[str, int]  # a label and a count
# Who chose what to forget.
_CHOSEN = {
    "person": gettext_lazy("you, from a list"),
    "program": gettext_lazy("the program that asked"),
    "only_match": gettext_lazy("Automatic: the only match"),
}


@dataclass(frozen=True)
class ShownReceipt:
    """A receipt as the page shows it. `residue` and `places` are None if nothing was scanned.

    `kept` contains, for each kind of data that was kept, a label ("Kept, as you chose") and a
    description of the data. `still` counts the rows that still repeat the forgotten content ("1
    message, 1 earlier moment"), and is "" once they are gone.

    `plain_lines` are the counts of erased rows for the kinds of data that people know by name, such
    as messages. `other_lines` are the counts for all other kinds. `wal_until` and `backups_until`
    say until when PostgreSQL's log and the backups may contain the erased data.
    """

    receipt: Receipt
    title: str
    plain_lines: list[Line]
    other_lines: list[Line]
    kept: list[tuple[str, str]]
    still: str
    chosen: str
    residue: int | None
    places: int | None
    wal_until: datetime | None
    backups_until: datetime | None
    on_disk: DiskResult

    @property
    def lines(self) -> list[Line]:
        return [*self.plain_lines, *self.other_lines]

    @property
    def total(self) -> int:
        return sum(count for _label, count in self.lines)


def receipt_in_words(receipt: Receipt) -> ShownReceipt:
    scan, lines = receipt.scan or {}, _receipt_lines(receipt)
    plain = {_label_in_receipt(str(stored_amounts.LABELS[name])) for name in _PLAIN}
    payload = receipt.operation.payload
    still = operation_rows.in_words(registry.kept_rows(receipt.operation))
    is_counted = not still and STILL_SAYING in payload
    return ShownReceipt(
        receipt=receipt,
        title=receipt_title(receipt),
        plain_lines=[line for line in lines if line[0] in plain],
        other_lines=[line for line in lines if line[0] not in plain],
        kept=[
            _kept_in_words(word, receipt.chosen)
            for word in receipt.kept
            if not (word == "messages" and is_counted)
        ],
        still=still,
        # If a conversation's memories are kept, `chosen` says who decided that; nobody used a list.
        chosen=""
        if "memories" in receipt.kept and receipt.scope != "choice"
        else str(_CHOSEN.get(receipt.chosen, "")),
        residue=scan.get("residue"),
        places=scan.get("places"),
        wal_until=_moment_of(receipt.disk.get("wal_until")),
        backups_until=_moment_of(receipt.disk.get("backups_until")),
        on_disk=disk_erasure.result_of(receipt),
    )


def _kept_in_words(kept: str, chosen: str) -> tuple[str, str]:
    """Return a label that says why this data was kept, and a description of the data."""
    label = _("Kept")
    if kept == "messages":
        label = _("Kept, as it wasn’t part of the request")
        if chosen == "person":
            label = _("Kept, as you didn’t choose it")
    elif kept == "memories":
        label = str(_KEPT_BY.get(chosen, label))
    return label, str(_KEPT.get(kept, kept))


@dataclass(frozen=True)
class ReceiptRow:
    """A receipt in a list, with counts of the erased rows. `asked_by` is "" if it is unknown."""

    receipt: Receipt
    title: str
    counts: str
    asked_by: str

    @property
    def number(self) -> str:
        """Return the end of the receipt's id, which distinguishes similar receipts."""
        return self.receipt.public_id[-_SHORT_NUMBER:]


def receipt_rows(receipts: Sequence[Receipt]) -> list[ReceiptRow]:
    requesters = _requesters(receipts)
    return [
        ReceiptRow(one, receipt_title(one), _counts_of(one), requesters.get(one.operation_id, ""))
        for one in receipts
    ]


def _counts_of(receipt: Receipt) -> str:
    """Return how many items of the kinds in `_PLAIN` were erased: "3 memories, 1 memory file"."""
    counts: Counter[str] = Counter()
    for places in receipt.erased.values():
        for table, count in places.items():
            bare = table.rpartition(":")[2]
            names = (bare, bare.rpartition("_")[2])
            counts[next((one for one in names if one in stored_amounts.WORDS), "")] += count
    in_words = stored_amounts.WORDS | {
        "message": lambda n: npgettext("receipt", "%(n)s message", "%(n)s messages and replies", n)
    }
    named = [name for name in _PLAIN if name in in_words and counts[name]]
    words = (in_words[one](counts[one]) % stored_amounts.formatted(counts[one]) for one in named)
    return _(", ").join(words) or _("There was nothing to erase.")


def _requesters(receipts: Sequence[Receipt]) -> dict[int, str]:
    """Return who requested each operation, in words, from the audit log."""
    operations = {one.operation.public_id: one.operation_id for one in receipts}
    asked = AuditEvent.objects.filter(action="forget.requested", target__in=list(operations))
    actors = {operations[one.target]: one.actor.partition(" ") for one in asked}
    numbers = [int(number) for kind, _space, number in actors.values() if kind == "key"]
    programs = dict(ApiKey.objects.filter(pk__in=numbers).values_list("pk", "name"))
    requesters = {}
    for operation, (kind, _space, number) in actors.items():
        requesters[operation] = str(_ASKED_BY.get(kind, ""))
        if kind == "key" and (program := programs.get(int(number))):
            requesters[operation] = _("requested by the program “%(name)s”") % {"name": program}
    return requesters


def _moment_of(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def receipt_title(receipt: Receipt) -> str:
    return str(_SCOPES.get(receipt.scope, _("Something was forgotten")))


def _receipt_lines(receipt: Receipt) -> list[Line]:
    counts: Counter[str] = Counter()
    for places in receipt.erased.values():
        for table, count in places.items():
            counts[stored_amounts.label_of(table)] += count
    known = [str(label) for label in stored_amounts.LABELS.values()]
    order = {label: number for number, label in reversed(list(enumerate(known)))}
    ranked = sorted(counts, key=lambda label: (order.get(label, len(known)), label))
    return [(_label_in_receipt(label), counts[label]) for label in ranked]


def _label_in_receipt(label: str) -> str:
    """Return the label for a receipt: "Messages and replies" for messages, else `label` itself."""
    return _("Messages and replies") if label == str(stored_amounts.LABELS["message"]) else label


@require_safe
@personal_page
def receipt_page(request: HttpRequest, receipt_id: str) -> HttpResponse:
    with own_transaction(request):
        receipt = _own_receipt(person(request), receipt_id)
        context = {"shown": receipt_in_words(receipt), "section": "memory"}
        return render(request, "ops/receipt_detail.html", context)


@require_safe
@personal_page
def receipt_download(request: HttpRequest, receipt_id: str) -> HttpResponse:
    with own_transaction(request):
        return receipt_file(_own_receipt(person(request), receipt_id))


def receipt_file(receipt: Receipt) -> HttpResponse:
    values = serializers.Receipt.of(receipt)
    response = JsonResponse(values, json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="{receipt.public_id}.json"'
    return response


def _own_receipt(user: User, receipt_id: str) -> Receipt:
    rows = Receipt.objects.filter(subject=user.subject).select_related("operation")
    found = rows.filter(public_id=receipt_id).first()
    if found is None:
        raise NotFound("This receipt doesn’t exist.")
    return found


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def forget_everything(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _ask_everything(request)
    form = ForgetEverythingForm(request.POST, request=request)
    if not form.is_valid():
        return _ask_everything(request, str(next(iter(form.errors.values()))[0]))
    try:
        with own_transaction(request):
            operation, token = person_forgets.forget_user(user=person(request))
    except Conflict as error:
        return _ask_everything(request, _(error.message))
    auth.logout(request)
    query = urlencode({"token": token})
    return redirect(f"{reverse('forgotten', args=[operation.public_id])}?{query}")


def _ask_everything(request: HttpRequest, problem: str = "") -> HttpResponse:
    user = person(request)
    with own_transaction(request):
        context = {
            "section": "memory",
            "action": reverse("forget_everything"),
            "is_last_owner": users.is_last_owner(user),
            "goes": stored_amounts.sentences_of(stored_amounts.counts_of(user)),
            "stays": [_("a receipt with counts and dates that says nothing about you")],
            "phrase": _("delete everything"),
            "ask_password": user.has_usable_password(),
            "cancel_href": reverse("data_management"),
            "errors": [problem] if problem else [],
        }
        status = 422 if problem else 200
        return render(request, "ops/forget_everything.html", context, status=status)


@require_safe
def forgotten(request: HttpRequest, op_id: str) -> HttpResponse:
    """Show the progress of deleting all data of a person, without sign-in.

    The account may already be gone, so a token in the link proves the right to see this page.
    """
    operation, receipt = _opened(request, op_id)
    line = operation_rows.line_of(operation)
    context = {
        "one": line,
        "is_moving": operation_rows.is_moving([line]),
        "shown": receipt_in_words(receipt) if receipt else None,
        "here": request.get_full_path(),
        "download": f"{reverse('forgotten_receipt', args=[op_id])}?{request.GET.urlencode()}",
        "title": _("Everything is forgotten") if receipt else _("Everything is being forgotten"),
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
    return receipt_file(receipt)


def _opened(request: HttpRequest, op_id: str) -> tuple[Operation, Receipt | None]:
    token = request.GET.get("token", "")
    with as_system():
        try:
            operation = selectors.operation_by(op_id)
        except NotFound as error:
            raise Http404(error.message) from error
        if not keys.is_valid_receipt_token(operation, token=token):
            raise Http404("This operation doesn’t exist.")
        receipt = Receipt.objects.filter(operation=operation).select_related("operation").first()
    return operation, receipt
