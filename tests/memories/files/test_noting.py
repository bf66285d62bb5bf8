"""Lines of daily notes are read back as what was noted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.files import grammar
from memories.files.grammar import NoteEntry
from tests.memories.files import hostile

_SIGNS = st.text(alphabet="\\[]n<!-u2028 \n\u2028a", min_size=1, max_size=12)
_TEXTS = st.one_of(hostile.contents(), _SIGNS).filter(str.strip)
_SOURCES = st.one_of(st.just(""), hostile.contents(), _SIGNS).filter(lambda one: len(one) < 200)
_NOTED = st.builds(NoteEntry, st.just("14:03"), _TEXTS, _SOURCES)


@given(_NOTED)
def test_what_was_noted_is_read_back_and_written_the_same(noted: NoteEntry) -> None:
    line = grammar.format_note_line(noted)
    assert len(line.splitlines()) == 1
    found = grammar.read_note_line(line)
    assert found == noted
    assert grammar.format_note_line(found) == line


@given(st.lists(_NOTED, max_size=20))
def test_a_whole_day_is_read_back(noted: list[NoteEntry]) -> None:
    lines = "".join(f"{grammar.format_note_line(one)}\n" for one in noted)
    assert list(grammar.read_note_lines(f"# 2026-03-01\n\n{lines}")) == noted


@pytest.mark.parametrize(
    ("line", "noted"),
    [
        ("- 14:03 [my agent] Walked home", NoteEntry("14:03", "Walked home", "my agent")),
        ("- 14:03 one\\ntwo", NoteEntry("14:03", "one\ntwo")),
        ("- 14:03 \\[x] is open", NoteEntry("14:03", "[x] is open")),
        ("- 14:03 [x]is open", NoteEntry("14:03", "[x]is open")),
        ("Walked home", None),
        ("- Walked home", None),
        ("- 14:03 ", None),
    ],
)
def test_what_people_type_is_read_as_it_looks(line: str, noted: NoteEntry | None) -> None:
    assert grammar.read_note_line(line) == noted
