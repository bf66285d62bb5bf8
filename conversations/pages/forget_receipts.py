"""The receipt of a forget, in the chat: steps that tick off, then the receipt itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from memcenter.lib.errors import NotFound
from ops import selectors
from ops.forgetting.erasure import FORGET_KINDS
from ops.models import Operation, Receipt, Status, User
from ops.pages import operation_rows, receipts
from ops.pages.base import is_htmx, own_transaction, person, personal_page
from ops.pages.operation_rows import Happening
from ops.pages.receipts import Shown

_TEMPLATE = "conversations/includes/forget_receipt.html"


@dataclass(frozen=True)
class ForgetLine:
    """One forget. `is_open` tells that a finished receipt is shown, not only named."""

    operation: Operation
    is_open: bool = False

    @property
    def receipt(self) -> Receipt | None:
        return getattr(self.operation, "receipt", None)

    @property
    def happening(self) -> Happening:
        return operation_rows.happening(self.operation)

    @property
    def shown(self) -> Shown | None:
        return receipts.shown(self.receipt) if self.receipt and self.is_open else None

    @property
    def is_moving(self) -> bool:
        return self.operation.status in (Status.PENDING, Status.RUNNING)

    @property
    def url(self) -> str:
        return reverse("forget_receipt", args=[self.operation.public_id])


def open_line(user: User, op_id: str) -> ForgetLine | None:
    """Return this person's forget, unfolded; None if there is no such operation."""
    found = _forgets_of(user, [op_id]).get(op_id) if op_id else None
    return ForgetLine(found, is_open=True) if found is not None else None


def of_turns(user: User, asked: Iterable[Operation]) -> Mapping[int, Sequence[ForgetLine]]:
    """Return what was forgotten on request, by turn id; `asked` hold the requests to forget."""
    wanted = {
        one.payload["turn"]: [
            op_id
            for op_id in (one.forget_outcome.get("op_id"), one.payload.get("answered_by"))
            if op_id
        ]
        for one in asked
    }
    found = _forgets_of(user, [op_id for each in wanted.values() for op_id in each])
    by_turn: dict[int, list[ForgetLine]] = defaultdict(list)
    for turn, op_ids in wanted.items():
        by_turn[turn] += [ForgetLine(found[one]) for one in op_ids if one in found]
    return by_turn


def _forgets_of(user: User, op_ids: Sequence[str]) -> dict[str, Operation]:
    if not op_ids:
        return {}
    found = selectors.operations_of(user).filter(public_id__in=op_ids, kind__in=FORGET_KINDS)
    return {one.public_id: one for one in found}


@require_safe
@personal_page
def forget_receipt(request: HttpRequest, op_id: str) -> HttpResponse:
    """Return the steps or the receipt; without htmx, lead to the receipt's own page."""
    with own_transaction(request):
        found = open_line(person(request), op_id)
        if found is None:
            raise NotFound("There is no such operation.")
        if is_htmx(request):
            return render(request, _TEMPLATE, {"one": found})
        if found.receipt is None:
            return redirect("data_management")
        return redirect("receipt_page", found.receipt.public_id)
