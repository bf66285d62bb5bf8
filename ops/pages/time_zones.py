"""The time zones that a person can choose, named in the language of the page."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import groupby
from pathlib import Path

from django.utils.functional import Promise
from django.utils.translation import get_language, pgettext_lazy
from django.utils.translation import gettext_lazy as _

Choice = tuple[str, str]
_OTHER_NAMES = ("Brazil/", "Canada/", "Chile/", "Mexico/", "US/")
_NEVER_CHOSEN = ("Etc/", "SystemV/", "posix/", "right/", *_OTHER_NAMES)
_CITIES: dict[str, Promise] = {
    "Pacific/Honolulu": _("Honolulu"),
    "America/Anchorage": _("Anchorage"),
    "America/Los_Angeles": _("Los Angeles"),
    "America/Vancouver": _("Vancouver"),
    "America/Denver": _("Denver"),
    "America/Chicago": _("Chicago"),
    "America/Mexico_City": _("Mexico City"),
    "America/New_York": _("New York"),
    "America/Toronto": _("Toronto"),
    "America/Bogota": _("Bogotá"),
    "America/Lima": _("Lima"),
    "America/Halifax": _("Halifax"),
    "America/Santiago": _("Santiago"),
    "America/Sao_Paulo": _("São Paulo"),
    "America/Argentina/Buenos_Aires": _("Buenos Aires"),
    "Atlantic/Reykjavik": _("Reykjavík"),
    "Europe/London": _("London"),
    "Europe/Dublin": _("Dublin"),
    "Europe/Lisbon": _("Lisbon"),
    "Africa/Lagos": _("Lagos"),
    "Europe/Amsterdam": _("Amsterdam"),
    "Europe/Berlin": _("Berlin"),
    "Europe/Madrid": _("Madrid"),
    "Europe/Paris": _("Paris"),
    "Europe/Rome": _("Rome"),
    "Europe/Stockholm": _("Stockholm"),
    "Europe/Vienna": _("Vienna"),
    "Europe/Warsaw": _("Warsaw"),
    "Europe/Zurich": _("Zurich"),
    "Africa/Cairo": _("Cairo"),
    "Africa/Johannesburg": _("Johannesburg"),
    "Europe/Athens": _("Athens"),
    "Europe/Helsinki": _("Helsinki"),
    "Europe/Kyiv": _("Kyiv"),
    "Asia/Jerusalem": _("Jerusalem"),
    "Europe/Istanbul": _("Istanbul"),
    "Europe/Moscow": _("Moscow"),
    "Africa/Nairobi": _("Nairobi"),
    "Asia/Riyadh": _("Riyadh"),
    "Asia/Tehran": _("Tehran"),
    "Asia/Dubai": _("Dubai"),
    "Asia/Karachi": _("Karachi"),
    "Asia/Tashkent": _("Tashkent"),
    "Asia/Kolkata": _("Kolkata"),
    "Asia/Kathmandu": _("Kathmandu"),
    "Asia/Dhaka": _("Dhaka"),
    "Asia/Yangon": _("Yangon"),
    "Asia/Bangkok": _("Bangkok"),
    "Asia/Ho_Chi_Minh": _("Ho Chi Minh City"),
    "Asia/Jakarta": _("Jakarta"),
    "Asia/Shanghai": _("Beijing, Shanghai"),
    "Asia/Urumqi": _("Ürümqi"),
    "Asia/Hong_Kong": _("Hong Kong"),
    "Asia/Macau": _("Macau"),
    "Asia/Taipei": _("Taipei"),
    "Asia/Singapore": _("Singapore"),
    "Asia/Kuala_Lumpur": _("Kuala Lumpur"),
    "Asia/Manila": _("Manila"),
    "Australia/Perth": _("Perth"),
    "Asia/Seoul": _("Seoul"),
    "Asia/Tokyo": _("Tokyo"),
    "Australia/Adelaide": _("Adelaide"),
    "Australia/Brisbane": _("Brisbane"),
    "Australia/Sydney": _("Sydney"),
    "Australia/Melbourne": _("Melbourne"),
    "Pacific/Auckland": _("Auckland"),
}
_REGIONS: dict[str, Promise] = {
    "Africa": pgettext_lazy("part of the world", "Africa"),
    "America": pgettext_lazy("part of the world", "America"),
    "Antarctica": pgettext_lazy("part of the world", "Antarctica"),
    "Arctic": pgettext_lazy("part of the world", "Arctic"),
    "Asia": pgettext_lazy("part of the world", "Asia"),
    "Atlantic": pgettext_lazy("part of the world", "Atlantic"),
    "Australia": pgettext_lazy("part of the world", "Australia"),
    "Europe": pgettext_lazy("part of the world", "Europe"),
    "Indian": pgettext_lazy("part of the world", "Indian"),
    "Pacific": pgettext_lazy("part of the world", "Pacific"),
}
# The zones in which most speakers of a language live, in the order of the list.
_MOST_USED = {
    "zh": (
        *("Asia/Shanghai", "Asia/Urumqi", "Asia/Hong_Kong", "Asia/Macau", "Asia/Taipei"),
        *("Asia/Singapore", "Asia/Kuala_Lumpur"),
    ),
    "en": (
        *("America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"),
        *("America/Toronto", "Europe/London", "Europe/Dublin", "Asia/Kolkata", "Asia/Singapore"),
        *("Australia/Sydney", "Pacific/Auckland"),
    ),
}
# Each line contains a zone and the Chinese name of its city. Outdated zone names are included,
# since browsers still report them. The cities above are translated in `locale`.
_CHINESE = Path(__file__).with_name("time_zones_zh.tsv")


def time_zone_choices(*, also: str = "UTC") -> list[tuple[str, list[Choice]]]:
    """Return the choices of time zones, in groups, named in the language of the page.

    The first group contains the zones most used by speakers of the language, the second group other
    well-known cities, and each further group one part of the world. Well-known cities are shown
    with their current UTC offset. The zone `also` is always among the choices.
    """
    now = datetime.now(UTC)
    first = _MOST_USED[_language()]
    cities = sorted(
        (name for name in _CITIES if name not in first),
        key=lambda name: (_offset(name, now), str(_CITIES[name])),
    )
    groups = [
        (str(_("Often chosen")), [_with_clock(name, now) for name in first]),
        (str(_("Cities")), [("UTC", "UTC"), *(_with_clock(name, now) for name in cities)]),
    ]
    for region, members in groupby(_others(), key=lambda name: name.split("/")[0]):
        shown = sorted(((name, _other_name(name)) for name in members), key=_in_order)
        groups.append((str(_REGIONS.get(region, region)), shown))
    if also in {value for _, group in groups for value, _ in group}:
        return groups
    return [("", [(also, _chinese_name(also) or also)]), *groups]


def time_zone_name(name: str) -> str:
    """Return the name of a zone's city, such as "London" for Europe/London."""
    if name in _CITIES:
        return str(_CITIES[name])
    return _chinese_name(name) or name.rpartition("/")[2].replace("_", " ")


def _other_name(name: str) -> str:
    return _chinese_name(name) or name.split("/", 1)[1].replace("_", " ")


def _chinese_name(name: str) -> str:
    """Return the Chinese name of a zone, or "" if the page is in another language."""
    return _chinese_names().get(name, "") if _language() == "zh" else ""


@cache
def _chinese_names() -> dict[str, str]:
    lines = _CHINESE.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def _language() -> str:
    return "zh" if (get_language() or "").startswith("zh") else "en"


def _in_order(choice: Choice) -> bytes:
    """Return the sort key of a choice: its name in GB18030.

    This encoding orders common Chinese characters by their pinyin.
    """
    return choice[1].encode("gb18030")


def _offset(name: str, now: datetime) -> timedelta:
    return now.astimezone(zoneinfo.ZoneInfo(name)).utcoffset() or timedelta()


def _with_clock(name: str, now: datetime) -> Choice:
    minutes = int(_offset(name, now).total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    sign = "+" if minutes >= 0 else "−"
    clock = f"UTC{sign}{hours}" + (f":{rest:02}" if rest else "")
    return name, f"{_CITIES[name]} ({clock})"


@cache
def _others() -> list[str]:
    names = sorted(_current_names() or zoneinfo.available_timezones())
    usual = [name for name in names if "/" in name and not name.startswith(_NEVER_CHOSEN)]
    return [name for name in usual if name not in _CITIES]


def _current_names() -> set[str]:
    """Return the zones in the system's `zone.tab`, which lists no outdated names.

    The set is empty if the system has no such file.
    """
    tables = [Path(folder, "zone.tab") for folder in zoneinfo.TZPATH]
    table = next((one for one in tables if one.is_file()), None)
    lines = table.read_text(encoding="utf-8").splitlines() if table else []
    named = {line.split("\t")[2] for line in lines if line.count("\t") > 1 and line[0] != "#"}
    return named & zoneinfo.available_timezones()
