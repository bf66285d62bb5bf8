"""`python -m training fit|finish|refresh|report|export`: see `training/README.md`."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import torch

from memories.reader.tokenizer import Tokenizer
from training import ensemble, export, shipped
from training.base import load
from training.encoding import encode_pair, encode_row
from training.evaluation import report_messages, report_pairs
from training.fitting import FINISH, FIT, REFRESH, fit
from training.labels import Pair, Row, read_clauses, read_messages, read_pairs, read_secrets
from training.model import Reader
from training.unrelated_pairs import unrelated

DATA = Path(__file__).parent / "data"
BENCH = Path(__file__).parents[1] / "bench" / "data"
UNRELATED = 200  # pairs per language from one message, and as many from two voices


def main() -> None:
    """Run one step."""
    arguments = _arguments()
    torch.set_num_threads(arguments.threads)
    base = load()
    tokenizer = Tokenizer.of(base.pieces, base.scores.tolist(), base.normal)
    reader = Reader(base, layers=arguments.layers)
    rows, pairs = read_messages(DATA / "messages"), read_pairs(DATA / "pairs")
    held = held_out([r.voice for r in rows]), held_out([p.group for p in pairs])
    if arguments.all:
        held = set(), set()
    unseen = [r for r in rows if r.voice in held[0]], [p for p in pairs if p.group in held[1]]
    if arguments.step == "fit":
        train = [r for r in rows if r.voice not in held[0]] + read_clauses(BENCH / "clauses")
        plan = FIT
    else:
        train = [r for r in rows if r.voice not in held[0]] + read_secrets(BENCH / "secrets")
        new = [r for r in train if {*arguments.twice} & {*r.voice.split(":")}]
        train = new + [r for r in train if _is_drawn(r.text, arguments.share)]
        plan = REFRESH if arguments.step == "refresh" else FINISH
        if not arguments.mix:
            _begin(reader, arguments)
    if arguments.epochs:
        plan = replace(plan, epochs=arguments.epochs)
    if arguments.mix:
        _mix(reader, arguments.mix)
    if arguments.step == "export":
        export.write(reader, base, arguments.folder / "reader")
        return
    if arguments.step == "report":
        _report(reader, tokenizer, *unseen)
        return
    known = [p for p in pairs + read_pairs(BENCH / "pairs") if p.group not in held[1]]
    known = [p for p in known if _is_drawn(p.first + p.second, arguments.share)]
    known += unrelated([r for r in rows if r.voice not in held[0]], each=UNRELATED)
    examples = [encode_row(tokenizer, r) for r in train]
    examples += [encode_pair(tokenizer, p) for p in known]
    print(f"{len(train)} messages, clauses and texts, {len(known)} pairs", flush=True)
    fit(
        reader,
        examples,
        plan,
        folder=arguments.folder,
        after_epoch=lambda _: _report(reader, tokenizer, *unseen),
    )


def _begin(reader: Reader, arguments: argparse.Namespace) -> None:
    """Load the initial weights: the shipped reader for `refresh`, a checkpoint for other steps.

    A report or an export uses the latest available checkpoint.
    """
    if arguments.step == "refresh":
        shipped.copy_shipped(reader)
        return
    names = [FIT.name] if arguments.step == "finish" else [REFRESH.name, FINISH.name]
    found = [path for name in names if (path := arguments.folder / f"{name}.pt").exists()]
    reader.load_state_dict(torch.load(found[0], weights_only=True)["model"])


def _mix(reader: Reader, parts: Sequence[str]) -> None:
    """Give the reader the weighted mean of several students and the shipped weights.

    All must have been trained from the same initial weights: then the mean is usually at least as
    good as each (Wortsman et al., 2022, "Model soups"). The shares should sum to 1.
    """
    mean: dict[str, torch.Tensor] = {}
    for part in parts:
        name, _, share = part.rpartition("=")
        if name == "shipped":
            shipped.copy_shipped(reader)
        else:
            reader.load_state_dict(ensemble.saved_in_parts(Path(name)), strict=False)
        for key, value in reader.state_dict().items():
            mean[key] = mean.get(key, torch.zeros(())) + float(share) * value
    reader.load_state_dict(mean)


def _is_drawn(text: str, share: float) -> bool:
    """Return whether a text belongs to the sample. The result depends only on text and share."""
    return crc32(text.encode()) % 1000 < share * 1000


def held_out(groups: list[str], *, share: int = 8) -> set[str]:
    """Return about one in `share` groups. The choice depends only on the name of a group."""
    return {name for name in groups if crc32(name.encode()) % share == 0}


def _report(reader: Reader, tokenizer: Tokenizer, rows: list[Row], pairs: list[Pair]) -> None:
    for threshold, scores in report_messages(reader, tokenizer, rows).items():
        for language, score in sorted(scores.items()):
            print(f"kept from {threshold} {language} {score.line()}", flush=True)
    for name, figure in report_pairs(reader, tokenizer, pairs).items():
        print(f"pairs {name}: {figure}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("step", choices=("fit", "finish", "refresh", "report", "export"))
    parser.add_argument("--folder", type=Path, default=Path(".training"))
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--epochs", type=int, default=0, help="passes; 0: as the step plans")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--mix",
        nargs="*",
        default=[],
        help="report or export students of training.ensemble, or a weighted mean: FOLDER=SHARE, "
        "shipped=SHARE",
    )
    parser.add_argument("--all", action="store_true", help="hold no voice out of training")
    parser.add_argument(
        "--twice", nargs="*", default=[], help="files whose rows all count once more"
    )
    parser.add_argument("--share", type=float, default=1.0, help="of rows and pairs that are drawn")
    return parser.parse_args()


if __name__ == "__main__":
    main()
