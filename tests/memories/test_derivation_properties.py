"""Whatever is merged from whatever: nothing rests on what was forgotten, nothing else is lost."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from memories.extraction.arbitration.pairs import join
from memories.forgetting.forget_plan import Text, VersionOutcome, VersionSource, plan

MOST_VERSIONS = 8


@dataclass(frozen=True)
class Web:
    """Versions made from one another, and the keys of the sources that are forgotten."""

    texts: list[Text]
    forgotten: frozenset[str]

    def with_forgotten(self) -> list[Text]:
        return [
            replace(text, sources=[self._marked(one) for one in text.sources])
            for text in self.texts
        ]

    def _marked(self, source: VersionSource) -> VersionSource:
        return replace(source, forgotten=source.key in self.forgotten)


@st.composite
def webs(draw: st.DrawFn) -> Web:
    texts: list[Text] = []
    for number in range(1, draw(st.integers(1, MOST_VERSIONS)) + 1):
        known = [text.id for text in texts]
        inputs = sorted(draw(st.sets(st.sampled_from(known), max_size=3))) if known else []
        repeats = draw(st.integers(0, 2))
        texts.append(_version(number, inputs=[texts[one - 1] for one in inputs], repeats=repeats))
    keys = sorted({str(source.key) for text in texts for source in text.sources})
    return Web(texts, frozenset(draw(st.sets(st.sampled_from(keys)))))


def _version(number: int, *, inputs: list[Text], repeats: int) -> Text:
    """Its own source says `says…`; said again elsewhere it would say `again…`."""
    own = [VersionSource(f"{number}.0", forgotten=False, statement=_said(f"{number}.0"))]
    own += [
        VersionSource(f"{number}.{one}", forgotten=False, statement=_said(f"{number}.{one}"))
        for one in range(1, repeats + 1)
    ]
    inherited = {source.key: source for one in inputs for source in one.sources}
    candidate = _said(f"{number}.0")
    content = join([*(one.content for one in inputs), candidate])
    return Text(
        id=number, memory=number, content=content, candidate=candidate,
        sources=[*own, *inherited.values()], inputs=[one.id for one in inputs],
    )  # fmt: skip


def _said(key: str) -> str:
    return f"<{key}>"


def _own(text: Text) -> list[str]:
    return [str(one.key) for one in text.sources if str(one.key).startswith(f"{text.id}.")]


def _outcomes(web: Web) -> dict[int, VersionOutcome]:
    return plan(web.with_forgotten())


@given(webs())
@settings(max_examples=60, deadline=None)
def test_nothing_says_what_rests_on_a_forgotten_source_alone(web: Web) -> None:
    for outcome in _outcomes(web).values():
        assert not [key for key in web.forgotten if _said(key) in outcome.content]
        assert not [key for key in web.forgotten if _said(key) in outcome.candidate]


@given(webs())
@settings(max_examples=60, deadline=None)
def test_what_has_a_source_left_is_kept_and_only_that(web: Web) -> None:
    outcomes = _outcomes(web)
    for text in web.texts:
        left = {str(one.key) for one in text.sources} - web.forgotten
        assert outcomes[text.id].erased is (not left)


@given(webs())
@settings(max_examples=60, deadline=None)
def test_no_surviving_statement_is_lost_on_the_way(web: Web) -> None:
    """Each text still says what each text that it was made from says, and its own part."""
    outcomes = _outcomes(web)
    for text in web.texts:
        said = outcomes[text.id].content
        own = [key for key in _own(text) if key not in web.forgotten]
        assert not own or _said(own[0]) in said
        parts = [outcomes[one].content for one in text.inputs]
        assert all(piece in said for part in parts for piece in part.split("; ") if piece)


@given(webs())
@settings(max_examples=40, deadline=None)
def test_forgetting_in_two_steps_comes_to_the_same(web: Web) -> None:
    first = _outcomes(web)
    after = [
        replace(
            text,
            content=first[text.id].content,
            candidate=first[text.id].candidate,
            erased=first[text.id].erased,
            sources=[one for one in text.sources if one.key not in web.forgotten],
        )
        for text in web.with_forgotten()
    ]
    again = plan(after)
    assert {number: one.content for number, one in again.items()} == {
        number: one.content for number, one in first.items()
    }
