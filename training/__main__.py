"""`python -m training fit|report|export`: see `training/README.md`."""

import argparse
import random
from pathlib import Path

import torch

from memories.reader.tokenizer import Tokenizer
from training import export
from training.base import load
from training.encoding import encode_pair, encode_row
from training.evaluation import report_messages, report_pairs
from training.fitting import Plan, fit
from training.labels import Pair, Row, read_clauses, read_messages, read_pairs
from training.model import Reader

DATA = Path(__file__).parent / "data"
CLAUSES = Path(__file__).parents[1] / "bench" / "data"


def main() -> None:
    """Run one step."""
    arguments = _arguments()
    torch.set_num_threads(arguments.threads)
    base = load()
    tokenizer, reader = (
        Tokenizer(base.pieces, base.scores.tolist(), base.normal),
        Reader(base, layers=arguments.layers),
    )
    rows = read_messages(DATA / "messages")
    pairs = read_pairs(DATA / "pairs")
    held = held_out([r.voice for r in rows]), held_out([p.group for p in pairs])
    if arguments.step == "fit":
        train = [r for r in rows if arguments.all or r.voice not in held[0]]
        train += read_clauses(CLAUSES / "clauses")
        known = [
            p
            for p in pairs + read_pairs(CLAUSES / "pairs")
            if arguments.all or p.group not in held[1]
        ]
        examples = [encode_row(tokenizer, r) for r in train]
        examples += [encode_pair(tokenizer, p) for p in known]
        plan = Plan(epochs=arguments.epochs)
        print(f"{len(train)} messages and clauses, {len(known)} pairs", flush=True)
        unseen = [r for r in rows if r.voice in held[0]], [p for p in pairs if p.group in held[1]]
        fit(
            reader,
            examples,
            plan,
            folder=arguments.folder,
            after_epoch=lambda _: _report(reader, tokenizer, *unseen),
        )
        return
    state = torch.load(arguments.folder / "checkpoint.pt", weights_only=True)
    reader.load_state_dict(state["model"])
    if arguments.step == "report":
        _report(
            reader,
            tokenizer,
            [r for r in rows if r.voice in held[0]],
            [p for p in pairs if p.group in held[1]],
        )
    else:
        export.write(reader, base, arguments.folder / "reader.onnx")


def held_out(groups: list[str], *, share: int = 8, seed: int = 7) -> set[str]:
    """One group in `share` of each file, whole, chosen once and for all."""
    names = sorted(set(groups))
    random.Random(seed).shuffle(names)
    return set(names[: len(names) // share])


def _report(reader: Reader, tokenizer: Tokenizer, rows: list[Row], pairs: list[Pair]) -> None:
    for threshold, scores in report_messages(reader, tokenizer, rows).items():
        for language, score in sorted(scores.items()):
            print(f"kept from {threshold} {language} {score.line()}", flush=True)
    for name, figure in report_pairs(reader, tokenizer, pairs).items():
        print(f"pairs {name}: {figure}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("step", choices=("fit", "report", "export"))
    parser.add_argument("--folder", type=Path, default=Path(".training"))
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="hold no voice out")
    return parser.parse_args()


if __name__ == "__main__":
    main()
