"""Shared admin classes, filters and pagination. The pages are read-only and mask content.

Staff may see the rows of all people, so each page is loaded and rendered inside `as_system`. The
pages show only the length of people's content, until an owner reveals the content. A reveal is
recorded in the audit log, and lasts for a single page view.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, reduce
from operator import or_
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.admin.utils import get_fields_from_path
from django.core.exceptions import ValidationError
from django.core.paginator import Page, Paginator
from django.db.models import Exists, ForeignKey, Model, OuterRef, Q, QuerySet
from django.forms import Media
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext, ngettext_lazy, override
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from ops import audit_log, selectors
from ops.access import as_system
from ops.accounts import users
from ops.models import AuditEvent, Operation, Status, User
from ops.selectors import Trouble

# The admin's theme has no Chinese translations, so its texts are listed here for translation.
_OF_THEME = (
    gettext_noop("Type to search"),
    gettext_noop("Select action"),
    gettext_noop("Select action to run"),
    gettext_noop("Select record"),
    gettext_noop("Select all rows"),
    gettext_noop("Run"),
    gettext_noop("Go back"),
    gettext_noop("No results found"),
    gettext_noop("This page yielded into no results. Create a new item or reset your filters."),
    gettext_noop("Reset filters"),
    gettext_noop("True"),
    gettext_noop("False"),
    gettext_noop("Expand row"),
    gettext_noop("More actions"),
    gettext_noop("Apply Filters"),
    gettext_noop("Select value"),
    gettext_noop("All applications"),
    gettext_noop("Search apps and models..."),
    gettext_noop("Return to site"),
    gettext_noop("Welcome back to"),
    gettext_noop("Toggle password visibility"),
    gettext_noop("You have been successfully logged out from the administration"),
    gettext_noop("Loading more results..."),
    gettext_noop("No recent searches"),
    gettext_noop("Recent searches"),
    gettext_noop("No results matching your query"),
    gettext_noop("Previous"),
    gettext_noop("Next"),
    gettext_noop("No data"),
    gettext_noop("General"),
    ngettext_lazy("%(counter)s result", "%(counter)s results", "counter"),
    ngettext_lazy("entry", "entries", 1),
    ngettext_lazy("Please correct the error below.", "Please correct the errors below.", 1),
)
_COUNTED = 5_000  # rows
Whole = Callable[[list[Any]], "QuerySet[Any]"]
_LOOKED_UP = 100  # related rows of a search
_REVEALED = "admin_revealed"
Renderer = Callable[[Any], str]
_LATEST = 5_000  # rows


class ShortPaginator(Paginator):  # type: ignore[type-arg]
    """A paginator that counts only up to a limit, since counting a large table is slow.

    It selects the keys of a page first, then the rows with their related rows. In a single
    statement the database might join all rows before it selects the page.
    """

    def __init__(self, rows: QuerySet[Any], per_page: int, *, whole: Whole) -> None:
        super().__init__(rows, per_page)
        self._whole = whole

    def page(self, number: int | str) -> Page[Any]:
        chosen = self.validate_number(number)
        keys = cast("QuerySet[Any]", self.object_list).select_related(None).values_list("pk")
        first = (chosen - 1) * self.per_page
        order = [key for (key,) in keys[first : first + self.per_page]]
        found = {row.pk: row for row in self._whole(order)}
        return Page([found[key] for key in order if key in found], chosen, self)

    @cached_property
    def count(self) -> int:
        return int(cast("QuerySet[Model]", self.object_list).order_by()[:_COUNTED].count())


class PagedList(ChangeList):  # type: ignore[misc]
    """A change list that uses the paginator even if all rows fit on one page."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if not self.multi_page:
            self.result_list = self.paginator.page(1).object_list


class ReadOnlyAdmin(ModelAdmin):  # type: ignore[misc]
    """An admin class for viewing only. Rows are added, changed and erased by services.

    `masked` lists the columns with people's content, `never` the columns that nobody may see.
    `called` contains the singular and the plural name of the model, as the pages show them.
    """

    called: tuple[Any, Any] | None = None
    masked: Sequence[str] = ()
    never: Sequence[str] = ()
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # facets count the whole table, once for each value
    list_per_page = 50
    ordering = ("-pk",)
    list_max_show_all = 0
    sortable_by: Sequence[str] = ()  # newest first: any other order would sort the whole table
    actions: Sequence[Any] = ()
    change_form_outer_before_template = "ops/includes/admin_reveal.html"

    def __init__(self, model: type[Model], admin_site: admin.AdminSite) -> None:
        super().__init__(model, admin_site)
        if self.called is not None:  # in a model, the names would need a migration
            model._meta.verbose_name, model._meta.verbose_name_plural = self.called
        self.list_select_related = [one.name for one in _foreign_keys(model)]
        for field in model._meta.concrete_fields:
            if isinstance(field.verbose_name, str):
                field.verbose_name = gettext_lazy(field.verbose_name)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return users.may_see_admin(request.user)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return users.may_see_admin(request.user)

    def has_act_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may run actions declared with `permissions=["act"]`."""
        return users.may_act(request.user)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return [self._column(name, self.masked) for name in self.list_display]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        hidden = () if getattr(request, "is_revealed", False) else self.masked
        names = [column.name for column in self.model._meta.concrete_fields]
        return [self._column(name, hidden) for name in names if name not in self.never]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return self.get_fields(request, obj)

    def _column(self, name: Any, hidden: Sequence[str]) -> Any:
        return masked(self.model, name) if name in hidden else name

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return all rows except those that are being forgotten.

        Rows that belong to a row being forgotten are included here; the method `whole` excludes
        them.
        """
        rows = cast("QuerySet[Any]", super().get_queryset(request))
        return rows.filter(hidden_at=None) if _can_hide(self.model) else rows

    def whole(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Load the related rows shown in the list, and exclude rows being forgotten.

        A row is also excluded if a row that it belongs to is being forgotten.
        """
        if _can_hide(self.model):
            rows = rows.filter(hidden_at=None)
        for parent in _foreign_keys(self.model):
            if _can_hide(parent.related_model):
                rows = rows.filter(**{f"{parent.name}__hidden_at": None})
        related = self.list_select_related
        return rows.select_related(*related) if related else rows

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any | None:
        row = super().get_object(request, object_id, from_field)
        if row is None:
            return None
        return self.whole(self.get_queryset(request)).filter(pk=row.pk).first()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PagedList]:
        return PagedList

    def get_paginator(
        self, request: HttpRequest, queryset: QuerySet[Any], per_page: int, *args: Any, **_: Any
    ) -> ShortPaginator:
        def whole(keys: list[Any]) -> QuerySet[Any]:
            return self.whole(self.get_queryset(request).filter(pk__in=keys))

        return ShortPaginator(queryset, per_page, whole=whole)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Return the rows in which at least one search field equals the typed text.

        Django's own search ignores case, and therefore can't use our indexes.
        """
        term = search_term.strip()
        if not (term and self.search_fields):
            return queryset, False
        found = [
            _condition(self.model, item.removeprefix("="), term) for item in self.search_fields
        ]
        wanted = [item for item in found if item is not None]
        return queryset.filter(reduce(or_, wanted)) if wanted else queryset.none(), False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        # The list needs only this script; Django's other scripts are for forms.
        own = {"media": Media(js=["admin/js/actions.js"])} | (extra_context or {})
        with as_system():
            return _rendered(super().changelist_view(request, own))

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        asked = self._mark(object_id or "")
        revealed = request.session.pop(_REVEALED, "") == asked
        request.is_revealed = revealed  # type: ignore[attr-defined]
        context = {
            "masked": bool(self.masked) and users.may_act(request.user),
            "is_revealed": revealed,
            "reveal": reverse(f"admin:{self._route}", args=[object_id]) if object_id else "",
        }
        with as_system():
            return _rendered(
                super().changeform_view(
                    request, object_id, form_url, context | (extra_context or {})
                )
            )

    def get_urls(self) -> list[URLPattern]:
        own = path(
            "<path:object_id>/reveal/",
            self.admin_site.admin_view(self.reveal_view),
            name=self._route,
        )
        return [own, *super().get_urls()]

    @method_decorator(require_POST)
    def reveal_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Redirect to the page of a row, which then shows the content once, without the mask.

        The reveal is recorded in the audit log. Raise `Http404` if the user may not reveal rows.
        """
        if not (self.masked and self.has_view_permission(request) and users.may_act(request.user)):
            raise Http404
        with as_system():
            row = self.get_object(request, object_id)
            if row is None:
                raise Http404
            user = row if isinstance(row, User) else getattr(row, "user", None)
            audit_log.append(
                "admin.reveal",
                actor=f"staff {request.user.pk}",
                surface="admin",
                subject=user.subject if user is not None else None,
                target=f"{self.opts.label_lower} {getattr(row, 'public_id', row.pk)}"[:60],
            )
        request.session[_REVEALED] = self._mark(object_id)
        messages.info(request, _("Shown for this one view; the audit log says so."))
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", object_id)

    @property
    def _route(self) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_reveal"

    def _mark(self, object_id: str) -> str:
        return f"{self.opts.label_lower}:{object_id}"


def _condition(model: type[Model], path: str, typed: str) -> Q | None:
    """Return the condition that a column is equal to the typed value.

    The column may belong to a related row. In that case the related rows are looked up first, since
    no index covers a condition on two tables. Return None if no row can match, for example if the
    column contains ids but the typed value is a name.
    """
    column = get_fields_from_path(model, path)[-1]
    try:
        value = column.to_python(typed)
    except ValidationError:
        return None
    parent, _, name = path.partition("__")
    if not name:
        return Q(**{path: value})
    rows = column.model._base_manager.filter(**{name: value})
    keys = list(rows.values_list("pk", flat=True)[:_LOOKED_UP])
    return Q(**{f"{parent}__in": keys}) if keys else None


def _foreign_keys(model: type[Model]) -> list[ForeignKey[Any, Any]]:
    return [column for column in model._meta.concrete_fields if isinstance(column, ForeignKey)]


def _can_hide(model: Any) -> bool:
    return any(column.name == "hidden_at" for column in model._meta.concrete_fields)


def names_in_admin() -> set[str]:
    """Return the English names of our models and their columns, which need a translation."""
    names: set[object] = set()
    for model, page in admin.site._registry.items():
        if isinstance(page, ReadOnlyAdmin):
            meta = model._meta
            shown = [one for one in meta.concrete_fields if one.name not in page.never]
            names |= {meta.verbose_name, meta.verbose_name_plural}
            names |= {one.verbose_name for one in shown}
    with override("en"):
        return {str(words) for words in names}


def masked(model: type[Model], name: str) -> Renderer:
    """Return an admin column that shows only the length of a value."""

    def show(row: Any) -> str:
        return mask(getattr(row, name))

    show.short_description = model._meta.get_field(name).verbose_name  # type: ignore[attr-defined, union-attr]
    return show


def mask(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "-"
    if isinstance(value, str):
        words = ngettext("••• %(n)d character", "••• %(n)d characters", len(value))
        return words % {"n": len(value)}
    if isinstance(value, list | dict):
        words = ngettext("••• %(n)d entry", "••• %(n)d entries", len(value))
        return words % {"n": len(value)}
    return "•••"


def _rendered(response: HttpResponse) -> HttpResponse:
    """Render the response now, while the transaction is open, since templates load rows too."""
    return response.render() if isinstance(response, TemplateResponse) else response


class LatestValuesFilter(admin.AllValuesFieldListFilter):
    """A filter that offers only values from the newest rows, since reading all rows is slow."""

    def __init__(
        self,
        field: Any,
        request: HttpRequest,
        params: Any,
        model: Any,
        model_admin: Any,
        field_path: str,
    ) -> None:
        super().__init__(field, request, params, model, model_admin, field_path)
        newest = model_admin.get_queryset(request).order_by("-pk")[:_LATEST]
        found = set(newest.values_list(field.name, flat=True))
        self.lookup_choices = sorted(found, key=lambda value: (value is None, value))  # type: ignore[assignment]


class _WordsFilter(admin.SimpleListFilter):
    words: Mapping[str, Any]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(self.words.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = str(self.value())
        return self.chosen(queryset, value) if value in self.words else queryset

    def chosen(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        raise NotImplementedError


class FinishedFilter(_WordsFilter):
    """A filter for events by the state of the background operations that they requested.

    Events that requested no operation match none of the values.
    """

    title = gettext_lazy("finished")
    parameter_name = "finished"
    words = {
        "no": gettext_lazy("not yet"),
        "yes": gettext_lazy("done"),
        "failed": gettext_lazy("failed or cancelled"),
    }
    statuses = {
        "no": (Status.PENDING, Status.RUNNING),
        "yes": (Status.SUCCEEDED,),
        "failed": (Status.FAILED, Status.CANCELLED),
    }

    def chosen(self, rows: QuerySet[AuditEvent], value: str) -> QuerySet[AuditEvent]:
        asked = Operation.objects.filter(status__in=self.statuses[value])
        if value == "no":  # few operations: find them first, then their events
            return rows.filter(target__in=asked.values("public_id"))
        return rows.filter(Exists(asked.filter(public_id=OuterRef("target"))))


class TroubleFilter(_WordsFilter):
    title = gettext_lazy("trouble")
    parameter_name = "trouble"
    words = {
        Trouble.OVERDUE: gettext_lazy("due, but not started"),
        Trouble.STUCK: gettext_lazy("stuck"),
    }

    def chosen(self, rows: QuerySet[Operation], value: str) -> QuerySet[Operation]:
        return rows.filter(selectors.in_trouble(Trouble(value), now=timezone.now()))


class DeedFilter(_WordsFilter):
    """A filter for events by the kind of their action, such as forgetting or signing in."""

    title = gettext_lazy("what was done")
    parameter_name = "deed"
    words = {
        "forgotten": gettext_lazy("deleted or forgotten"),
        "signed-in": gettext_lazy("signed in or tried to"),
        "keys": gettext_lazy("keys and webhooks"),
        "taken-out": gettext_lazy("exported or imported"),
        "staff": gettext_lazy("done by staff"),
    }
    beginnings = {
        "forgotten": ("forget.", "memory.deleted", "memory.bulk", "file.recycled"),
        "signed-in": ("signin", "password.", "second_factor.", "identity."),
        "keys": ("key.", "webhook."),
        "taken-out": ("export", "import"),
        "staff": ("admin.", "user.", "staff.", "operation."),
    }

    def chosen(self, rows: QuerySet[AuditEvent], value: str) -> QuerySet[AuditEvent]:
        return rows.filter(
            reduce(or_, (Q(action__startswith=beginning) for beginning in self.beginnings[value]))
        )


class ActorFilter(_WordsFilter):
    """A filter for events by the kind of actor.

    To find a single API key or staff member, type for example `key 12` in the search field.
    """

    title = gettext_lazy("who did it")
    parameter_name = "through"
    words = {
        "key": gettext_lazy("an API key"),
        "user": gettext_lazy("the person"),
        "staff": gettext_lazy("staff"),
    }

    def chosen(self, rows: QuerySet[AuditEvent], value: str) -> QuerySet[AuditEvent]:
        return rows.filter(actor__startswith=value)
