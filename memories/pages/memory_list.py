"""The list of long-term memories with search and filters, the recycle bin, and refused secrets.

The counts of the page (status line, filter options) are computed from a single query of at most a
thousand rows. If a user has more memories, the counts are computed in SQL and cached for two
minutes, so that the page stays fast.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.core.cache import cache
from django.db.models import Count, F, Func, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import floatformat
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from django.views.decorators.http import require_safe

from memories.extraction.wording.languages import twin_of, without_twins
from memories.models import Kind, Memory, MemoryStatus, Origin, Source
from memories.pages import memory_rows, reason_words
from memories.pages.memory_form import DAYS, SORT_WORDS, STATUS_WORDS, FilterForm
from memories.pages.memory_rows import SIZE, Page, page_by, rows_by_keys, rows_of, shown_tag
from memories.recall import candidate_pool
from memories.recall.candidate_pool import MemoryRow, PreparedQuery
from memories.recall.search import prepare_query, rank
from memories.recall.searchable_texts import scope_of
from memories.retrieval.query import only_names_a_concept
from memories.retrieval.ranking_types import Ranked
from memories.selectors import (
    ANY,
    BIN,
    LISTED,
    MemoryFilter,
    Totals,
    memories_of,
    projects_of,
    refusals_of,
    totals_of,
)
from memories.writing import memory_writes
from ops.models import User
from ops.pages.base import (
    current_address,
    is_htmx,
    number_of,
    own_settings,
    own_transaction,
    person,
    personal_page,
    target,
)

_FILTERS = ("kind", "project", "tag", "status", "origin", "days", "pinned")


@dataclass(frozen=True)
class ListQuery:
    """The parameters in the URL of the list: search, filters, sort order and page."""

    values: dict[str, Any]
    after: str

    @property
    def query(self) -> str:
        return str(self.values["q"]).strip()

    @property
    def filters(self) -> MemoryFilter:
        days = self.values["days"]
        return MemoryFilter(
            query=self.query,
            kinds=[self.values["kind"]] if self.values["kind"] else (),
            tag=self.values["tag"],
            other_tags=list(filter(None, [twin_of(self.values["tag"])])),
            status=self.values["status"],
            project_key=self.values["project"],
            origin=self.values["origin"],
            pinned=True if self.values["pinned"] else None,
            since=timezone.now() - timedelta(days=int(days)) if days else None,
            archived=bool(self.query),
        )

    @property
    def is_narrowed(self) -> bool:
        return bool(self.query) or bool(self.chosen)

    @property
    def searches_usual(self) -> bool:
        """Return whether this is a search without filters.

        Such a search leaves out superseded memories.
        """
        return bool(self.query) and not self.chosen

    @property
    def everywhere(self) -> str:
        return self.address(status=ANY)

    @property
    def chosen(self) -> int:
        """Return the number of filters that are set."""
        return sum(bool(self.values[name]) for name in _FILTERS)

    def address(self, **changes: str) -> str:
        values = {name: str(value) for name, value in self.values.items()} | changes
        usual = ("", memory_rows.DEFAULT_SORT)
        kept = urlencode({name: value for name, value in values.items() if value not in usual})
        return reverse("memory_list") + (f"?{kept}" if kept else "")


@require_safe
@personal_page
def memory_list(request: HttpRequest) -> HttpResponse:
    params = ListQuery(FilterForm(request.GET).values(), request.GET.get("after", ""))
    prepared = prepare_query(params.query) if params.query else None
    with own_transaction(request):
        page, count = _page(request, params, prepared)
        # Render only the results while the user types, and only the next rows while they scroll.
        part = "#found" if target(request) == "found" else _rows_part(request)
        back = current_address(request) if params.after else params.address()
        context = {
            "asked": params,
            "rows": rows_of(page.rows, back=back),
            "next_url": params.address(after=page.cursor) if page.cursor else "",
            "in_place": part == "#found",
        }
        if part != "#rows":
            context |= _page_context(request, params, count)
        response = render(request, f"memories/memory_list.html{part}", context)
    if part == "#found":
        response["HX-Replace-Url"] = params.address()
    return response


def _page(
    request: HttpRequest, params: ListQuery, prepared: PreparedQuery | None
) -> tuple[Page, int | None]:
    """Return a page of memories, and the number of matches if they were ranked (else None).

    While long-term memory is off, nothing may be recalled: a search then lists the memories whose
    text or tags contain the typed text, without ranking them.
    """
    user = person(request)
    if prepared is not None and own_settings(request).longterm_enabled:
        return search_page(prepared, user=user, filters=params.filters, after=params.after)
    page = memory_rows.page_of(user, params.filters, sort=params.values["sort"], after=params.after)
    return page, None


def _page_context(request: HttpRequest, params: ListQuery, found: int | None) -> dict[str, Any]:
    user, survey = person(request), standing_for(request).survey
    return {
        "choices": choices_of(survey, tag=params.values["tag"]),
        "known_tags": dict.fromkeys(shown_tag(one.value) for one in survey.tags),
        "bulk_actions": bulk_actions(),
        "total": _total(params, found, survey.totals, user=user),
        "refused": refusals_of(user)[:100].count(),
    }


def _total(params: ListQuery, found: int | None, totals: Totals, *, user: User) -> str:
    count = totals.listed if found is None else found
    if found is None and params.is_narrowed:
        count = memory_rows.count_of(user, params.filters, most=COUNTED)
    if found is not None or (params.is_narrowed and not count):
        several = _("%(count)s matches, best first") % {"count": count}
        return {0: "", 1: _("1 match")}.get(count, several)
    if params.is_narrowed and count > COUNTED:
        return _("more than %(most)s memories") % {"most": floatformat(COUNTED, "0g")}
    numbers = {"shown": floatformat(count, "0g"), "used": floatformat(totals.memories, "0g")}
    if params.is_narrowed or totals.memories >= totals.listed:
        return ngettext("%(shown)s memory", "%(shown)s memories", count) % numbers
    words = ngettext(
        "%(shown)s memory, %(used)s in use", "%(shown)s memories, %(used)s of them in use", count
    )
    return words % numbers


MOST = 100  # matches of a search


def search_page(
    prepared: PreparedQuery, *, user: User, filters: MemoryFilter, after: str = ""
) -> tuple[Page, int]:
    """Return a page of the best matches, best first, and the number of matches, at most `MOST`.

    Without a status filter, disabled and waiting memories and those archived because they were
    unused are included, so that the user can manage them. A memory always matches if it contains
    the typed text, or words that begin with the typed words or are spelled similarly. If the text
    only names a subject ("medicine"), a memory about it matches too. Other memories must reach the
    relevance floor, so that a search doesn't return all memories. No recall trace is recorded.
    """
    eligible = memories_of(user, replace(filters, query="", waiting=True)).prefetch_related(None)
    candidates = candidate_pool.fill(prepared, scope_of(eligible), user=user)
    literal = prepared.text.strip().casefold()
    best: dict[int, _Match] = {}
    by_meaning: dict[int, _Match] = {}
    is_subject = only_names_a_concept(prepared.text)
    for one in rank(prepared, candidates, limit=None):
        row = candidates.rows[one.unit.id]
        assert isinstance(row, MemoryRow)
        contains = literal in row.content.casefold()
        spelled = [] if contains else reason_words.spelled_alike(prepared.text, row.content)
        if contains or spelled:
            best[row.pk] = _Match(one, row.content, spelled)
            if len(best) == MOST:
                break
        elif one.relevance >= settings.RELEVANCE_FLOOR or (
            is_subject and one.components.get("concept", 0.0) > 0
        ):
            by_meaning[row.pk] = _Match(one, row.content)
    # The index contains whole words, so a search in it may miss a part of a word (药 in 降压药).
    held = eligible.filter(content__icontains=prepared.text.strip()).exclude(pk__in=list(best))
    for pk, content in held.values_list("pk", "content")[: MOST - len(best)]:
        best[pk] = _Match(None, content)
    rest = [(pk, one) for pk, one in by_meaning.items() if pk not in best]
    best = dict([*best.items(), *rest][:MOST])
    start = number_of(after) or 0
    end = start + SIZE
    cursor = str(end) if end < len(best) else ""
    rows = [
        replace(one, why=best[one.memory.pk].why(prepared.text))
        for one in rows_by_keys(user, [*best][start:end])
    ]
    return Page(rows, cursor), len(best)


class _Match(NamedTuple):
    """A memory that a search found; `spelled` holds its words that resemble the typed words.

    `ranked` is None if the memory was found only because its text contains the typed text.
    """

    ranked: Ranked | None
    content: str
    spelled: Sequence[str] = ()

    def why(self, query: str) -> str:
        if self.spelled:
            return reason_words.same_words(self.spelled)
        if self.ranked is None:
            return reason_words.same_words([query.strip()])
        found_by = {**self.ranked.components, "raw_relevance": self.ranked.relevance}
        return reason_words.why(found_by, asked=query, text=self.content)


@require_safe
@personal_page
def memory_bin(request: HttpRequest) -> HttpResponse:
    """List the memories in the recycle bin by the planned date of erasure, earliest first."""
    back, after = reverse("memory_bin"), request.GET.get("after", "")
    with own_transaction(request):
        binned = memories_of(person(request), MemoryFilter(status=BIN)).prefetch_related(None)
        rows, cursor = page_by(binned, "purge_at", descending=False, after=after)
        context = {
            "memories": rows,
            "next_url": f"{back}?after={cursor}" if cursor else "",
            "back": back,
            "recycle_days": settings.RECYCLE_DAYS,
        }
        return render(request, f"memories/memory_bin.html{_rows_part(request)}", context)


@require_safe
@personal_page
def memory_refusals(request: HttpRequest) -> HttpResponse:
    """List the secrets that were refused: category and date, never the text."""
    page, after = reverse("memory_refusals"), request.GET.get("after", "")
    with own_transaction(request):
        refusals = refusals_of(person(request))
        refusals = refusals.select_related("turn__conversation", "turn__user_message")
        rows, cursor = page_by(refusals, "created_at", descending=True, after=after)
        context = {"refusals": rows, "next_url": f"{page}?after={cursor}" if cursor else ""}
        return render(request, f"memories/refusal_list.html{_rows_part(request)}", context)


def _rows_part(request: HttpRequest) -> str:
    return "#rows" if request.GET.get("after") and is_htmx(request) else ""


COUNTED = 1_000  # a list with more memories isn't counted exactly
_CACHE_SECONDS = 120
_MOST_OPTIONS = 40  # of a filter
_MOST_PROJECTS = 100


@dataclass(frozen=True)
class Facet:
    """A value of a filter, with the number of listed memories that have this value."""

    value: str
    count: int
    name: str = ""


@dataclass(frozen=True)
class Survey:
    """The counts that the status line and the filter options show."""

    totals: Totals
    kinds: Sequence[Facet]
    tags: Sequence[Facet]
    projects: Sequence[Facet]
    origins: Sequence[Facet]
    pinned: int = 0


class _Row(NamedTuple):
    status: str
    deleted_at: datetime | None
    valid_until: datetime | None
    created_at: datetime
    kind: str
    origin: str
    tags: list[str]
    pinned: bool
    removal_asked_at: datetime | None
    project_key: str | None
    project_name: str | None
    conversations: list[int]


def survey_of(user: User) -> Survey:
    rows = _rows(user)
    if len(rows) <= COUNTED:
        return _survey_from_rows(rows)
    key = memory_writes.facet_key(user.pk)
    cached = cache.get(key)
    if not isinstance(cached, Survey):
        cached = _survey_from_sql(user)
        cache.set(key, cached, _CACHE_SECONDS)
    return cached


def _rows(user: User) -> list[_Row]:
    from_turns = Source.objects.filter(memory=OuterRef("pk"), turn__isnull=False)
    conversations = ArraySubquery(from_turns.order_by().values("turn__conversation").distinct())
    rows = Memory.visible.filter(user=user).order_by()
    wanted = rows.values_list(*_Row._fields[:-3], "project__key", "project__name", conversations)
    return [_Row._make(row) for row in wanted[: COUNTED + 1]]


def _survey_from_rows(rows: Sequence[_Row]) -> Survey:
    present = [row for row in rows if row.deleted_at is None]
    listed = [row for row in present if row.status in LISTED]
    now = timezone.now()
    names = {row.project_key: row.project_name for row in listed if row.project_key}
    projects = _facets(row.project_key for row in listed if row.project_key)
    return Survey(
        totals=Totals(
            memories=sum(
                row.status == MemoryStatus.ACTIVE
                and (row.valid_until is None or row.valid_until > now)
                for row in listed
            ),
            listed=len(listed),
            conversations=len({one for row in rows for one in row.conversations}),
            waiting=sum(
                row.status == MemoryStatus.CANDIDATE or row.removal_asked_at is not None
                for row in present
            ),
            binned=len(rows) - len(present),
            last_learned_at=max((row.created_at for row in present), default=None),
        ),
        kinds=_facets(row.kind for row in listed),
        tags=_facets(tag for row in listed for tag in without_twins(row.tags))[:_MOST_OPTIONS],
        projects=[Facet(one.value, one.count, names[one.value] or "") for one in projects],
        origins=_facets(row.origin for row in listed),
        pinned=sum(row.pinned for row in listed),
    )


def _facets(values: Iterable[str]) -> list[Facet]:
    counted = sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
    return [Facet(value, count) for value, count in counted]


def _survey_from_sql(user: User) -> Survey:
    listed = Memory.objects.filter(user=user, status__in=LISTED)
    each = Func(F("tags"), function="unnest")
    each.set_returning = True
    return Survey(
        totals=totals_of(user),
        kinds=_facets_by(listed, "kind"),
        tags=_facets_by(listed.exclude(tags=[]).annotate(tag=each), "tag"),
        projects=[
            Facet(one.key, one.memory_count, one.name)  # type: ignore[attr-defined]
            for one in projects_of(user)[:_MOST_PROJECTS]
        ],
        origins=_facets_by(listed, "origin"),
        pinned=listed.filter(pinned=True).count(),
    )


def _facets_by(rows: QuerySet[Memory], column: str) -> list[Facet]:
    counted = rows.values(column).annotate(n=Count("pk")).order_by("-n", column)
    return [Facet(row[column], row["n"]) for row in counted[:_MOST_OPTIONS]]


@dataclass(frozen=True)
class Choice:
    value: str
    words: str
    count: int | None = None


def choices_of(survey: Survey, *, tag: str = "") -> dict[str, Sequence[Choice]]:
    """Return the options of each filter and of the sort order.

    The options for kind, project, tag and origin have counts, and match at least one memory.
    """
    return {
        "kind": [Choice(one.value, str(Kind(one.value).label), one.count) for one in survey.kinds],
        "project": [Choice(one.value, one.name or one.value, one.count) for one in survey.projects],
        "tag": _tag_choices(survey.tags, chosen=tag),
        "status": [Choice(value, str(words)) for value, words in STATUS_WORDS if value],
        "origin": [
            Choice(one.value, str(Origin(one.value).label), one.count) for one in survey.origins
        ],
        "days": [Choice(value, str(words)) for value, words in DAYS if value],
        "sort": [Choice(value, str(words)) for value, words in SORT_WORDS.items()],
    }


def _tag_choices(tags: Sequence[Facet], *, chosen: str) -> list[Choice]:
    """Return the tags as options; a topic's English and Chinese tags are combined in one option."""
    counts: Counter[str] = Counter()
    for one in tags:
        counts[shown_tag(one.value)] += one.count
    typed = {shown_tag(chosen): chosen}
    return [Choice(typed.get(words, words), words, count) for words, count in counts.items()]


def bulk_actions() -> list[tuple[str, str, str]]:
    """Return the name, the icon and the label of each action for selected memories."""
    return [
        ("disable", "disable", _("Disable")),
        ("enable", "enable", _("Enable")),
        ("pin", "pin", pgettext("verb", "Pin")),
    ]


@require_safe
@personal_page
def memory_standing_line(request: HttpRequest) -> HttpResponse:
    """Render the status line, which open pages reload when they become visible again."""
    with own_transaction(request):
        context = {"section": request.GET.get("section", "")}
        return render(request, "memories/includes/standing.html", context)


@dataclass(frozen=True)
class Standing:
    """The status line at the top of the Memory Center: whether memory is on, and the totals."""

    name: str
    is_on: bool
    survey: Survey
    keeps_moments: bool = False

    @property
    def totals(self) -> Totals:
        return self.survey.totals


def standing_for(request: HttpRequest) -> Standing:
    """Return the user's status line.

    The status line is computed once per request, and used by the header and the page.
    """
    standing: Standing | None = getattr(request, "memory_standing", None)
    if standing is None:
        user, own = person(request), own_settings(request)
        standing = Standing(
            user.shown_name,
            own.longterm_enabled,
            survey_of(user),
            keeps_moments=own.episodic_enabled,
        )
        request.memory_standing = standing  # type: ignore[attr-defined]
    return standing
