"""How many secrets are kept out of derived texts, and how many harmless statements are masked?

    python bench/secret_screening.py [FILE ...]

Each row of a set has `text`, `secrets` (empty if the text is harmless), `class` and `author`. A
secret counts as kept out if no four consecutive characters of it remain after a direct write, after
learning from a turn, or in the texts that are summarized and indexed.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from memories.extraction import masking
from memories.extraction.bundled import BundledExtractor
from memories.extraction.summary import ExtractiveSummarizer
from memories.extraction.types import TurnText, Utterance
from memories.reader import reader
from memories.screening import learned_secrets

SETS = Path(__file__).parent / "data" / "secrets"
_PART = 4  # length of the parts of a secret that must not remain
_WHEN = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Row:
    text: str
    secrets: tuple[str, ...]
    group: str
    author: str
    language: str

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """The start and the end of each occurrence of each secret in the text."""
        found = []
        for secret in self.secrets:
            start = self.text.find(secret)
            while start >= 0:
                found.append((start, start + len(secret)))
                start = self.text.find(secret, start + 1)
        return tuple(found)

    def has_secret_at(self, start: int, end: int) -> bool:
        """Return whether `text[start:end]` overlaps a secret."""
        return any(first < end and start < last for first, last in self.places)


@dataclass(frozen=True)
class Score:
    kept_out: int
    secrets: int
    touched: int
    harmless: int
    failures: tuple[str, ...]

    @property
    def share_kept_out(self) -> float:
        return self.kept_out / max(1, self.secrets)

    @property
    def share_touched(self) -> float:
        return self.touched / max(1, self.harmless)


def rows(*files: Path) -> list[Row]:
    return [
        Row(row["text"], tuple(row["secrets"]), row["class"], row["author"], file.stem[-2:])
        for file in files or sorted(SETS.glob("*.jsonl"))
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    ]


def score(chosen: Iterable[Row]) -> Score:
    counts: Counter[str] = Counter()
    failures = []
    for row in chosen:
        counts["secrets" if row.secrets else "harmless"] += 1
        if not row.secrets:
            if learned_secrets.find(row.text):
                counts["touched"] += 1
                masked = masking.masked_by_reading(row.text)
                failures.append(f"touched [{row.group}] {row.text} -> {masked}")
        elif left := surviving(row):
            failures.append(f"kept [{row.group}] {row.text} -> {left}")
        else:
            counts["kept_out"] += 1
    return Score(
        counts["kept_out"],
        counts["secrets"],
        counts["touched"],
        counts["harmless"],
        tuple(failures),
    )


def surviving(row: Row) -> str:
    """Return a derived text that still contains a part of a secret, or an empty text."""
    for text in derived(row.text):
        if any(_is_left(secret, text, row.text) for secret in row.secrets):
            return text
    return ""


def derived(text: str) -> Iterator[str]:
    """Yield the texts that the product derives from a message or a direct write."""
    screened = masking.screen(text)
    yield "" if screened.drop else screened.text
    masked, reply = masking.masked_together([text, "Noted."], read=True)
    yield masked
    yield ExtractiveSummarizer(count=len).summarize(
        "", [("user", masked), ("assistant", reply)], max_tokens=10_000
    )
    said = Utterance(text, _WHEN)
    found = BundledExtractor(reader()).extract(TurnText(said, Utterance("Noted.", _WHEN)))
    for candidate in found.candidates:
        yield masking.screen(candidate.content).text
        yield masking.masked(candidate.quote)
        yield from candidate.tags


def _is_left(secret: str, text: str, original: str) -> bool:
    """Return whether the text contains the secret or four consecutive characters of it."""
    if len(secret) <= _PART:
        return secret in text
    parts = {secret[n : n + _PART] for n in range(len(secret) - _PART + 1)}
    # A part doesn't count if it also occurs elsewhere, as "pass" in "password", or in labels.
    outside = original.replace(secret, "\x00") + "- User: - Assistant: Noted. - 用户：- 助手："
    return any(part in text and part not in outside for part in parts if part.strip())


def main() -> None:
    chosen = rows(*map(Path, sys.argv[1:]))
    figures = {}
    for language in ("en", "zh"):
        for author in sorted({row.author for row in chosen}):
            found = score(r for r in chosen if r.language == language and r.author == author)
            if not found.secrets + found.harmless:
                continue
            print(
                f"{language} {author}: kept out {found.kept_out} of {found.secrets}"
                f" ({found.share_kept_out:.1%}), harmless touched {found.touched} of"
                f" {found.harmless} ({found.share_touched:.1%})"
            )
            print(*(f"  {failure}" for failure in found.failures), sep="\n")
            shares = (round(found.share_kept_out, 4), round(found.share_touched, 4))
            figures[f"{language} {author}"] = dict(
                zip(("kept_out", "touched"), shares, strict=True)
            )
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
