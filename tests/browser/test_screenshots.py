"""The program that takes the pictures: which ones it takes, and what a failing page does."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import MagicMock

import pytest
from playwright.sync_api import TimeoutError as Waited

from tests.browser import screenshots
from tests.pages import PAGES


def test_an_argument_limits_it_to_the_pictures_of_the_readme() -> None:
    names = {shot.name for shot in screenshots.wanted(["--readme"])}
    assert names == {one.stem for one in screenshots.OF_README.glob("*.png")}


def test_no_argument_means_every_page_once_in_each_theme_and_a_name_only_that_one() -> None:
    paths = Counter((shot.path, shot.who, shot.scheme) for shot in screenshots.wanted([]))
    pages = {path for path, who, _ in paths if who == "reader"}
    assert pages == {f"{{{name}}}" for name in PAGES}
    for path, who in {(path, who) for path, who, _ in paths if who in ("reader", "nobody")}:
        assert [paths[path, who, scheme] for scheme in ("light", "dark")] == [1, 1], path
    assert len({shot.name for shot in screenshots.SHOTS}) == len(screenshots.SHOTS)
    assert [shot.name for shot in screenshots.wanted(["week-zh"])] == ["week-zh"]


def test_an_unknown_name_ends_it_before_anything_starts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        screenshots.wanted(["week-fr"])
    assert "week-fr" in capsys.readouterr().err


def test_a_page_that_fails_is_named_and_the_others_are_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    taken: list[str] = []

    def take(shots: Sequence[screenshots.Shot], *_: object) -> None:
        if shots[0].name == "sign-in":
            raise Waited("Timeout 300000ms exceeded.")
        taken.extend(shot.name for shot in shots)

    @contextmanager
    def started() -> Iterator[MagicMock]:
        yield MagicMock()

    for name in ("server", "sync_playwright"):
        monkeypatch.setattr(screenshots, name, started)
    monkeypatch.setattr(screenshots, "with_examples", lambda _: {})
    monkeypatch.setattr(screenshots, "launched", MagicMock())
    monkeypatch.setattr(screenshots, "take", take)
    assert screenshots.main(["sign-in", "first-steps"]) == 1
    assert taken == ["first-steps"]
    assert "sign-in failed" in capsys.readouterr().err
    assert screenshots.main(["first-steps"]) == 0
