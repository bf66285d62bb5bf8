from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, datetime

import pytest
from django.utils import timezone, translation

from memories.templatetags.memory_center import receipt_moment
from ops.pages import time_zones

_CHINESE = re.compile("[\u4e00-\u9fff]")


def shown(*, also: str = "UTC") -> dict[str, str]:
    return {
        value: words
        for _, group in time_zones.time_zone_choices(also=also)
        for value, words in group
    }


def test_cities_are_named_in_the_readers_language_with_their_clock() -> None:
    assert shown()["Asia/Shanghai"] == "Beijing, Shanghai (UTC+8)"
    assert shown()["Asia/Kolkata"] == "Kolkata (UTC+5:30)"
    with translation.override("zh-hans"):
        assert shown()["Asia/Shanghai"] == "北京、上海 (UTC+8)"
        assert "欧洲" in [label for label, _ in time_zones.time_zone_choices()]


def test_cities_stand_by_the_clock_and_once() -> None:
    names = [value for _, group in time_zones.time_zone_choices() for value, _ in group]
    assert names.index("Pacific/Honolulu") < names.index("Asia/Tokyo")
    assert len(names) == len(set(names))
    assert set(names) <= zoneinfo.available_timezones() | {"UTC"}


@pytest.mark.parametrize(
    ("language", "first"), [("zh-hans", "Asia/Shanghai"), ("en", "America/New_York")]
)
def test_the_zones_that_people_of_the_language_mostly_use_stand_first(
    language: str, first: str
) -> None:
    with translation.override(language):
        assert next(iter(shown())) == first


def test_every_zone_has_a_chinese_name_on_a_chinese_page() -> None:
    with translation.override("zh-hans"):
        names = shown()
        latin = [name for name in names.values() if not any(one >= "\u4e00" for one in name)]
        assert latin == ["UTC"]
        assert names["Asia/Ulaanbaatar"] == "乌兰巴托"
        assert time_zones.time_zone_name("America/Havana") == "哈瓦那"
        assert [*names].index("Asia/Almaty") < [*names].index("Asia/Yekaterinburg")  # 阿 before 叶
    assert shown()["Asia/Ulaanbaatar"] == "Ulaanbaatar"


def test_every_name_that_a_browser_or_program_may_give_is_chinese_on_a_chinese_page() -> None:
    """Browsers name India Asia/Calcutta; the names that only count hours are the same anywhere."""
    counted = ("Etc/", "GMT", "UCT", "UTC", "Zulu", "Universal", "Factory", "localtime")
    named = [one for one in zoneinfo.available_timezones() if not one.startswith(counted)]
    assert len(named) > 400
    with translation.override("zh-hans"):
        assert shown(also="Asia/Calcutta")["Asia/Calcutta"] == "加尔各答"
        for name in (time_zones.time_zone_name, lambda one: shown(also=one)[one]):
            said = {one: name(one) for one in named}
            assert [
                one for one, text in said.items() if not re.search("[\u4e00-\u9fff]", text)
            ] == []
    assert shown(also="Asia/Calcutta")["Asia/Calcutta"] == "Asia/Calcutta"


def test_the_moments_of_a_receipt_are_in_the_zone_of_the_person_and_name_it() -> None:
    moment = datetime(2027, 6, 5, 23, 30, tzinfo=UTC)
    with timezone.override(zoneinfo.ZoneInfo("Europe/London")):
        assert receipt_moment(moment) == "6 June 2027, 00:30 (London, UTC+1)"
    with timezone.override(zoneinfo.ZoneInfo("America/Argentina/La_Rioja")):
        assert receipt_moment(moment) == "5 June 2027, 20:30 (La Rioja, UTC-3)"
    with timezone.override(UTC):
        assert receipt_moment(moment) == "5 June 2027, 23:30 (UTC)"


def test_an_unusual_one_that_is_set_can_be_kept() -> None:
    assert shown(also="Etc/GMT+3")["Etc/GMT+3"] == "Etc/GMT+3"
    assert "Etc/GMT+3" not in shown()


def test_old_names_of_zones_are_not_offered_but_kept_for_whoever_has_one() -> None:
    time_zones._others.cache_clear()
    assert "Asia/Almaty" in shown()
    assert not {"Asia/Chongqing", "Asia/Harbin", "Asia/Calcutta", "Europe/Kiev"} & set(shown())
    assert "Asia/Chongqing" in shown(also="Asia/Chongqing")


def test_without_a_table_of_countries_all_zones_are_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time_zones, "_current_names", set)
    time_zones._others.cache_clear()
    assert "Asia/Chongqing" in shown()
    time_zones._others.cache_clear()
