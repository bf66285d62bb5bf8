"""Time zones to choose from: well-known cities by the clock, then all others by region."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import groupby

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

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


def choices(*, also: str = "UTC") -> list[tuple[str, list[Choice]]]:
    """Return grouped zones with the present offset of each city; `also` is always included."""
    now = datetime.now(UTC)
    cities = sorted(_CITIES, key=lambda name: (_ahead(name, now), str(_CITIES[name])))
    known = [("UTC", "UTC"), *((name, f"{_CITIES[name]} ({_clock(name, now)})") for name in cities)]
    groups = [(str(_("Cities")), known)]
    for region, members in groupby(_others(), key=lambda name: name.split("/")[0]):
        shown = [(name, name.split("/", 1)[1].replace("_", " ")) for name in members]
        groups.append((str(_REGIONS.get(region, region)), shown))
    if also == "UTC" or _is_usual(also):
        return groups
    return [("", [(also, also)]), *groups]


def _ahead(name: str, now: datetime) -> timedelta:
    return now.astimezone(zoneinfo.ZoneInfo(name)).utcoffset() or timedelta()


def _clock(name: str, now: datetime) -> str:
    minutes = int(_ahead(name, now).total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    sign = "+" if minutes >= 0 else "−"
    return f"UTC{sign}{hours}" + (f":{rest:02}" if rest else "")


@cache
def _others() -> list[str]:
    names = sorted(zoneinfo.available_timezones())
    return [name for name in names if _is_usual(name) and name not in _CITIES]


def _is_usual(name: str) -> bool:
    return "/" in name and not name.startswith(_NEVER_CHOSEN)
