"""Texts that try to break a line, to hide its end or to pass for something else."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from foundation import ids
from memories.files.grammar import KINDS, ShownMemory

# How long a busy machine takes to make them up says nothing about the files.
unhurried = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

PIECES = (
    "\n",
    "\r\n",
    "\r",
    "\\",
    "\\\\",
    "\\n",
    "n",
    "u2028",
    "\\u2028",
    "\u2028",
    "\u2029",
    "\x85",
    "\x0b",
    "\x0c",
    "\x1c",
    "<!--",
    "\\<!--",
    "-->",
    " <!-- mem_00000000000000000000000000 -->",
    "<script>alert(1)</script>",
    "<!-- mem_",
    "- ",
    "## fact",
    "## 偏好",
    "# ",
    "```",
    " ",
    "\t",
    "C:\\new\\users",
    "👩‍👩‍👧‍👦",
    "\u202eright to left\u202c",
    "مرحبا بالعالم",
    "喜欢靠窗的座位。",
    "\ufeff",
    "drinks tea",
)


def texts() -> st.SearchStrategy[str]:
    anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
    return st.lists(st.sampled_from(PIECES) | anything, max_size=5).map("".join)


def contents() -> st.SearchStrategy[str]:
    """What a memory may say: something, with no space around it."""
    return texts().map(lambda text: text.strip() or "drinks tea")


def files() -> st.SearchStrategy[str]:
    """Files as people leave them: lines of the grammar among anything else."""
    known = st.sampled_from([f"mem_{number:026}" for number in range(5)])
    kinds = st.sampled_from(["fact", "偏好", "Skill", "Shopping"])
    line = st.one_of(
        st.builds("## {}".format, kinds),
        st.builds("- {} <!-- {} -->".format, texts(), known),
        st.builds("- {}".format, texts()),
        texts(),
    )
    ends = st.sampled_from(["\n", "\n", "\r\n", "\n\n", ""])
    return st.lists(st.builds(str.__add__, line, ends), max_size=6).map("".join)


@st.composite
def memories(draw: st.DrawFn) -> list[ShownMemory]:
    chosen = draw(st.lists(st.integers(0, 6), unique=True, max_size=4))
    kinds = st.sampled_from(["preference", "fact", "skill"])
    return [ShownMemory(f"mem_{number:026}", draw(kinds), draw(contents())) for number in chosen]


def many(count: int) -> list[ShownMemory]:
    kinds = list(KINDS)
    return [
        ShownMemory(
            ids.memory_id(), kinds[number % 12], f"{number}: {PIECES[number % len(PIECES)]}."
        )
        for number in range(count)
    ]
