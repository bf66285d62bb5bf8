"""Additions in square brackets, as the pages show them."""

import pytest

from conversations.pages import forget_cards
from memories.extraction.masking import additions_in_words
from memories.templatetags.memory_center import additions
from ops.models import User
from tests.factories import make_memory
from tests.memories.pages import address, signed_in, text_of


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("今年[2026]七岁", "今年（2026）七岁"),
        ("[我]不喝牛奶", "我不喝牛奶"),
        ("她[我妈妈]有糖尿病", "她（我妈妈）有糖尿病"),
        ("starting on monday [2026-11-30]", "starting on monday (2026-11-30)"),
        ("[the dog:] rex died in spring", "the dog: rex died in spring"),
        ("Rohan got engaged; [Rohan:] the wedding", "Rohan got engaged; Rohan: the wedding"),
        ("she's [Mira] 3", "she's (Mira) 3"),
        ("on monday [2026-…", "on monday (2026-)…"),
        ("my code is [redacted]", "my code is [redacted]"),
        ("[x] done, [ ] not, [this](https://a.example)", None),
    ],
)
def test_an_addition_is_shown_in_words(text: str, shown: str | None) -> None:
    plain = additions_in_words(text)
    if shown is None:
        assert plain.startswith("[x] done, [ ] not,")
        assert plain.endswith("[this](https://a.example)")
    else:
        assert plain == shown


def test_an_addition_is_marked_and_everything_else_escaped() -> None:
    shown = additions("<b>[<i>] & on monday [2026-11-30]")
    assert shown.startswith("&lt;b&gt;")
    assert "<b>" not in shown and "<i>" not in shown
    why = "added so that the sentence makes sense on its own"
    assert f'<span class="addition" title="{why}">(2026-11-30)</span>' in shown


@pytest.mark.django_db
def test_no_page_shows_brackets(alice: User) -> None:
    memory = make_memory(alice, "[my sister:] moves in March [2027-03]")
    browser = signed_in(alice)
    for page in ("memory_home", "memory_list"):
        shown = text_of(browser.get(address(page)))
        assert "(2027-03)" in shown and "[2027-03]" not in shown
    shown = text_of(browser.get(address("memory_page", memory.public_id)))
    assert "(2027-03)" in shown
    edit = text_of(browser.get(address("memory_edit", memory.public_id)))
    assert "my sister: moves in March (2027-03)" in edit


def test_editing_shows_additions_as_plain_words_and_saves_what_was_typed(alice: User) -> None:
    memory = make_memory(alice, "[我]半年复查一次")
    edit = address("memory_edit", memory.public_id)
    page = text_of(signed_in(alice).get(edit))
    assert ">\n我半年复查一次</textarea>" in page and "[我]" not in page
    given = {"content": "我半年复查一次", "kind": memory.kind}
    signed_in(alice).post(edit, given)
    memory.refresh_from_db()
    assert memory.content == "[我]半年复查一次"  # nothing was changed
    signed_in(alice).post(edit, given | {"content": "我一年复查一次"})
    memory.refresh_from_db()
    assert memory.content == "我一年复查一次"


def test_the_page_explains_the_light_words(alice: User) -> None:
    explained = "Words in gray were added"
    for content, is_told in (("[我]半年复查一次", True), ("我半年复查一次", False)):
        url = address("memory_page", make_memory(alice, content).public_id)
        assert (explained in text_of(signed_in(alice).get(url))) is is_told


def test_the_card_of_the_chat_shows_no_brackets(alice: User) -> None:
    memory = make_memory(alice, "她[我闺蜜]老公在深圳上班")
    line = forget_cards._memory_line(memory, is_likely=True, is_chosen=True)
    assert line.text == "她（我闺蜜）老公在深圳上班"
