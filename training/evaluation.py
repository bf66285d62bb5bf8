"""Check that a folder contains a complete reader, and print its figures on held-out rows.

.venv-train/bin/python -m training.evaluation [FOLDER]
"""

import argparse
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from memories.reader.reading import DATA, RELATION_SCORES, Model, Reader
from memories.reader.statements import FLAGS, PAIRS, SPAN_HEADS, Statement, sigmoid, statements
from training.encoding import encode_pair, encode_row
from training.labels import Pair, Row, held_out_messages, held_out_pairs

THRESHOLDS = (0.3, 0.5, 0.7)


@dataclass
class Score:
    """How many statements of one language a reader keeps, and how many of them are right."""

    wanted: int = 0
    kept: int = 0
    right: int = 0
    silent: int = 0  # messages with nothing to keep
    noisy: int = 0  # silent messages from which a statement was kept
    heads: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))

    def line(self) -> str:
        shares = " ".join(f"{h} {sum(v) / len(v):.2f}" for h, v in self.heads.items())
        return (
            f"P {self.right / max(1, self.kept):.3f} R {self.right / max(1, self.wanted):.3f}"
            f" ({self.wanted} wanted), noisy {self.noisy}/{self.silent}, {shares}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(".training/reader"))
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the rows to use, for a trial"
    )
    given = parser.parse_args()
    model = load_complete(given.folder)
    for threshold, scores in report_messages(model, held_out_messages(given.share)).items():
        for language, score in sorted(scores.items()):
            print(f"kept from {threshold} {language} {score.line()}")
    for name, figure in report_pairs(model, held_out_pairs(given.share)).items():
        print(f"pairs {name}: {figure}")


def load_complete(folder: Path) -> Model:
    """Load a reader. Raise `FileNotFoundError` if it lacks a file that the shipped one has."""
    lacking = {file.name for file in DATA.iterdir()} - {"card.md"}
    lacking -= {file.name for file in folder.iterdir()}
    if lacking:
        raise FileNotFoundError(f"{folder} lacks {', '.join(sorted(lacking))}.")
    model = Model(folder)
    reader = Reader(model)
    reader.read("I moved to Lisbon. 我对花生过敏。")
    reader.compare("Lives in Porto", "No, in Lisbon!")
    reader.probability_request_means("forget where I live", "Lives in Porto")
    print(f"{folder} is complete: {sum(f.stat().st_size for f in folder.iterdir()) / 1e6:.1f} MB")
    return model


def report_messages(model: Model, rows: list[Row]) -> dict[float, dict[str, Score]]:
    """Return precision and recall of the kept statements, by threshold and language.

    A kept statement is right if it overlaps a wanted span by at least half the length of both. Each
    wanted span counts once.
    """
    scores: dict[float, dict[str, Score]] = {t: defaultdict(Score) for t in THRESHOLDS}
    for row in rows:
        window = encode_row(model.tokenizer, row).input
        tokens, texts, _ = model.scores(window)
        found = statements(tokens, window.tokens)
        flags = dict(zip(FLAGS, sigmoid(texts[: len(FLAGS)]).tolist(), strict=True))
        for threshold in THRESHOLDS:
            score = scores[threshold][row.language]
            count_kept(score, row, [f for f in found if f.share("keep", "yes") >= threshold])
            for flag in FLAGS:
                if row.flags is not None and (flag in row.flags or flags[flag] > 0.5):
                    score.heads[flag].append((flag in row.flags) == (flags[flag] > 0.5))
    return scores


def count_kept(score: Score, row: Row, kept: list[Statement]) -> None:
    wanted = [s for s in row.spans if s.heads["keep"] == "yes"]
    open_spans = list(wanted)
    score.wanted += len(wanted)
    score.kept += len(kept)
    for statement in kept:
        match = next(
            (s for s in open_spans if _overlap(statement.start, statement.end, s.start, s.end)),
            None,
        )
        if match is None:
            continue
        open_spans.remove(match)
        score.right += 1
        for head in SPAN_HEADS:
            if head in match.heads and head != "keep":
                score.heads[head].append(statement.best(head) == match.heads[head])
    if not wanted:
        score.silent += 1
        score.noisy += bool(kept)


def _overlap(start: int, end: int, other_start: int, other_end: int) -> bool:
    shared = min(end, other_end) - max(start, other_start)
    return shared * 2 >= end - start and shared * 2 >= other_end - other_start


def report_pairs(model: Model, pairs: list[Pair]) -> dict[str, str]:
    """Return the share of right relations as text, by language and by relation."""
    right: dict[str, list[bool]] = defaultdict(list)
    for pair in pairs:
        scores = model.pair_scores(encode_pair(model.tokenizer, pair).input).total
        if pair.relation is not None:
            answer = PAIRS[int(scores[RELATION_SCORES].argmax())]
            right[f"{pair.language} relation"].append(answer == pair.relation)
            right[f"{pair.language} {pair.relation}"].append(answer == pair.relation)
    return {name: f"{sum(v) / len(v):.3f} of {len(v)}" for name, v in sorted(right.items())}


if __name__ == "__main__":
    main()
