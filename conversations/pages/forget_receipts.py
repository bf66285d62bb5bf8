"""Receipts in the chat: the progress of a forget operation, and its receipt once it is finished."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, Q, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from conversations.models import Conversation
from foundation.errors import NotFound
from memories.forgetting import memory_forgets
from memories.models import Kind as MemoryKind
from memories.templatetags.memory_center import day_and_time
from ops import selectors
from ops.forgetting.forget_steps import FORGET_KINDS
from ops.models import Operation, Receipt, Status, User
from ops.pages import forgetting, operation_rows
from ops.pages.base import is_htmx, own_transaction, person, personal_page
from ops.pages.forgetting import ShownReceipt
from ops.pages.operation_rows import OperationLine


@dataclass(frozen=True)
class ForgetLine:
    """An operation that forgets something, as shown in the chat.

    If `is_open` is True, the finished receipt is shown in full instead of as a link.
    """

    operation: Operation
    is_open: bool = False

    @property
    def receipt(self) -> Receipt | None:
        return getattr(self.operation, "receipt", None)

    @property
    def was(self) -> str:
        """Return the kinds and dates of the memories that were forgotten without asking, or ""."""
        return _(", ").join(
            _("%(kind)s, from %(moment)s")
            % {"kind": MemoryKind(kind).label, "moment": day_and_time(datetime.fromisoformat(at))}
            for kind, at in self.operation.payload.get(memory_forgets.WAS, ())
        )

    @property
    def happening(self) -> OperationLine:
        return operation_rows.line_of(self.operation)

    @property
    def words(self) -> str:
        return operation_rows.forgotten_and_kept(self.operation)

    @property
    def shown(self) -> ShownReceipt | None:
        return forgetting.receipt_in_words(self.receipt) if self.receipt and self.is_open else None

    @property
    def is_moving(self) -> bool:
        return self.operation.status in (Status.PENDING, Status.RUNNING)

    @property
    def url(self) -> str:
        return reverse("forget_receipt", args=[self.operation.public_id])


def open_receipt(user: User, op_id: str) -> ForgetLine | None:
    """Return the operation with its receipt open; None if the person has no such operation."""
    found = _forgets_of(user, [op_id]).get(op_id) if op_id else None
    return ForgetLine(found, is_open=True) if found is not None else None


def forget_below_messages(
    user: User, conversation: Conversation, *, without: Collection[str]
) -> ForgetLine | None:
    """Return the forget operation that the chat shows below its messages, or None.

    Normally the message that requested an operation shows it. But that message may have been
    forgotten too; for such an operation this function is needed. Return the newest operation
    whose last attempt failed, if any. Otherwise return the newest operation that is in progress or
    has a receipt, and was requested after the conversation's newest message. `without` holds the
    ids of the operations that messages already show.
    """
    pk, since = conversation.pk, conversation.last_message_at
    about = Q(payload__conversation=pk) | Q(payload__conversations__contains=pk)
    failed = ~Q(last_error="") & ~Q(status=Status.SUCCEEDED)
    is_new = Q(created_at__gt=since) if since else Q()
    is_shown = Q(status__in=(Status.PENDING, Status.RUNNING)) | Q(receipt__isnull=False)
    found = (
        selectors.operations_of(user)
        .filter(about, failed | (is_shown & is_new), kind__in=FORGET_KINDS)
        .exclude(Q(status=Status.CANCELLED) | Q(public_id__in=without))
        .order_by(Case(When(failed, then=0), default=1), "-pk")
    )
    return ForgetLine(newest) if (newest := found.first()) is not None else None


def receipts_of(user: User, asked: Iterable[Operation]) -> Mapping[int, Sequence[ForgetLine]]:
    """Return the operations that carried out requests to forget, by turn key.

    `asked` holds the operations that contain the requests.
    """
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
    """Return the progress of a forget operation, or its receipt once it is finished.

    Without htmx, redirect to the receipt's own page, or to the data page if there is no receipt.
    """
    with own_transaction(request):
        found = open_receipt(person(request), op_id)
        if found is None:
            raise NotFound("This operation doesn’t exist.")
        if is_htmx(request):
            template = "conversations/includes/forget_receipt.html"
            return render(request, template, {"one": found})
        if found.receipt is None:
            return redirect("data_management")
        return redirect("receipt_page", found.receipt.public_id)
