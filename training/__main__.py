"""Train the reader that the product ships, step by step (`training/README.md`).

    python -m training [--folder .training] [--teachers 5] [--epochs 9] [--share 1]

Each step is a command of its own, with a record in the folder (`NAME.json`). A step is skipped if
its record says that the same command has finished, and if no input has changed since the step
began. A stopped run therefore continues at the same step, from the last checkpoint of that step. If
rows or options change, only the steps that use them are repeated. If the code of a step changes,
delete its record.
"""

import argparse
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from memories.reader.reading import DATA as SHIPPED
from training.labels import BENCH, DATA

PRODUCT = Path(".venv/bin/python")  # steps that need the product's packages and no PyTorch
OWN = Path(sys.executable)
Command = tuple[str | Path, ...]
_FROM_SHIPPED = ".4"  # share of the learning rates, for weights that are already trained


@dataclass(frozen=True)
class Scale:
    """The number of teachers, the epochs, the students, and the weighted mean that is exported."""

    teachers: int
    epochs: int
    students: tuple[tuple[str, int], ...]  # name and epochs; "a" begins from the shipped weights
    mean: tuple[str, ...]


ON_CARD = Scale(5, 9, (("a", 10), ("b", 9)), ("a=.5", "b=.25", "shipped=.25"))
# On two cores, an epoch of one teacher takes half an hour. The second student improves the reader
# least, so it is left out.
ON_CPU = Scale(2, 4, (("a", 3),), ("a=.5", "shipped=.5"))


@dataclass(frozen=True)
class Step:
    """A command with the files that it reads and writes. A folder stands for all its files."""

    name: str
    command: Command
    inputs: Sequence[Path]
    outputs: Sequence[Path]


def main() -> None:
    given = _arguments()
    scale = ON_CARD if _has_card() else ON_CPU
    if given.teachers is not None:
        scale = replace(scale, teachers=given.teachers)
    if given.epochs:
        students = tuple((name, given.epochs) for name, _ in scale.students)
        scale = replace(scale, epochs=given.epochs, students=students)
    mean = " ".join(scale.mean)
    print(f"{scale.teachers} teachers, {scale.epochs} epochs; mean {mean}", flush=True)
    given.folder.mkdir(parents=True, exist_ok=True)
    with (given.folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"A step of another run still works in {given.folder}.")
        for step in steps(given.folder, scale, given.share):
            run(step, given.folder, lock.fileno())
    reader = given.folder / "reader"
    command = (OWN, "-m", "training.evaluation", reader, "--share", str(given.share))
    subprocess.run(command, check=True)


def steps(folder: Path, scale: Scale, share: float) -> list[Step]:
    """Return all steps, in order."""
    pack, teachers, reader = folder / "pack.gz", folder / "teachers.pt", folder / "reader"
    drawn = ("--share", str(share))
    encoder = [reader / "reader.onnx", reader / "layers.weights"]
    shipped = [SHIPPED / file.name for file in encoder]
    ensemble: Command = (OWN, "-m", "training.ensemble")
    rows = [DATA / "messages", DATA / "pairs"]
    rows += [BENCH / name for name in ("reader", "pairs", "forget_requests", "secrets", "clauses")]
    command: Command
    found = [Step("pack", (OWN, "-m", "training.packing", pack, *drawn), rows, [pack])]
    if scale.teachers:
        count = ("--count", str(scale.teachers), "--epochs", str(scale.epochs))
        command = (*ensemble, "teachers", pack, teachers, *count)
        found.append(Step("teachers", command, [pack], [teachers]))
    for name, epochs in scale.students:
        command = (*ensemble, "student", pack, folder / name, "--epochs", str(epochs))
        inputs = [pack]
        if scale.teachers:
            command, inputs = (*command, "--teachers", teachers), [*inputs, teachers]
        if name == "a":
            command, inputs = (*command, "--from-shipped", _FROM_SHIPPED), [*inputs, *shipped]
        found.append(Step(name, command, inputs, [folder / name]))
    parts = [part if part.startswith("shipped") else f"{folder}/{part}" for part in scale.mean]
    mean = folder / "mean"
    exported = [mean / file.name for file in encoder]
    command = (OWN, "-m", "training.export", mean, *parts)
    students = [folder / name for name, _ in scale.students]
    found.append(Step("export", command, [*students, *shipped], exported))
    command = (OWN, "-m", "training.upper_layers", reader, "--source", mean, *drawn)
    inputs = [*exported, DATA / "links", *rows]
    found.append(Step("upper_layers", command, inputs, encoder))
    return found + heads(reader, encoder, max(share, 0.02))  # a head needs some rows of each kind


def heads(reader: Path, encoder: list[Path], share: float) -> list[Step]:
    """Return the steps after the export. The secret judge uses all other heads, so it is last."""
    into: Command = ("--folder", reader, "--share", str(share))
    first = [reader / name for name in ("pairs.onnx", "message_head.npz")]
    second, third = reader / "relation_head.npz", reader / "meant_head.npz"
    last = [reader / "secret_head.npz", reader.with_name("secret_judge.npz")]
    pairs, requests, secrets = DATA / "pairs", BENCH / "forget_requests", BENCH / "secrets"
    return [
        Step(
            "pair_layers",
            (OWN, "-m", "training.pair_layers", *into),
            [*encoder, DATA / "links", pairs],
            first,
        ),
        Step(
            "relation_head",
            (OWN, "-m", "training.relation_head", *into),
            [*encoder, pairs, BENCH / "reader"],
            [second],
        ),
        Step(
            "referent_head",
            (PRODUCT, "-m", "training.referents", *into),
            [*encoder, DATA / "messages"],
            [reader / "referent_head.npz"],
        ),
        Step(
            "meant_head",
            (PRODUCT, "bench/forget_weights.py", "--write", *into),
            [*encoder, requests],
            [third],
        ),
        Step(
            "secret_head",
            (PRODUCT, "bench/secret_weights.py", "--write", *into),
            [*encoder, *first, second, third, secrets],
            last,
        ),
    ]


def run(step: Step, folder: Path, lock: int) -> None:
    """Run a step unless it is done. Its output is printed and appended to `NAME.log`.

    The step inherits the lock, so the folder stays locked if only this process is killed.
    """
    record, checkpoint = folder / f"{step.name}.json", folder / f"{step.name}.checkpoint"
    command = [str(part) for part in step.command]
    begun = _begun(record, command, step.inputs)
    if begun == "done" and all(path.exists() for path in step.outputs):
        print(f"{step.name}: done")
        return
    print(f"{step.name}: {'continues' if begun and checkpoint.exists() else 'begins'}", flush=True)
    if not begun:
        checkpoint.unlink(missing_ok=True)
        record.write_text(json.dumps({"command": command, "state": "begun"}))
    moment = record.stat().st_mtime_ns
    with (
        (folder / f"{step.name}.log").open("a", 1, "utf-8") as log,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            pass_fds=[lock],
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            log.write(line)
    if process.returncode:
        sys.exit(f"{step.name} failed with {process.returncode}.")
    record.write_text(json.dumps({"command": command, "state": "done"}))
    os.utime(record, ns=(time.time_ns(), moment))


def _begun(record: Path, command: list[str], inputs: Sequence[Path]) -> str:
    """Return the state of a record, or "" if the command or an input has changed since."""
    if not record.exists():
        return ""
    stored = json.loads(record.read_text() or "{}")
    files = [file for path in inputs for file in (path.iterdir() if path.is_dir() else [path])]
    newest = max(file.stat().st_mtime_ns for file in files)
    is_current = stored.get("command") == command and newest <= record.stat().st_mtime_ns
    return str(stored["state"]) if is_current else ""


def _has_card() -> bool:
    torch = import_module("torch")  # the tests of this module run without PyTorch
    return bool(torch.cuda.is_available())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(".training"))
    parser.add_argument("--teachers", type=int, help="0: the student learns from labels alone")
    parser.add_argument(
        "--epochs", type=int, help="passes over the rows, for teachers and students"
    )
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the rows to use, for a trial"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
