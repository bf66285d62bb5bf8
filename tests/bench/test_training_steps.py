"""The training skips what is done, and holds out what the heads and the figures need."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench import forget_requests, forget_weights, secret_screening, secret_weights
from memories.reader import reading
from tests.bench.test_reader_floors import UNSEEN
from training.__main__ import ON_CARD, ON_CPU, Scale, Step, run, steps
from training.labels import is_held_out

_APPEND = "import sys; open(sys.argv[2], 'a').write(open(sys.argv[1]).read())"


@pytest.fixture
def step(tmp_path: Path) -> Step:
    rows, out = tmp_path / "rows", tmp_path / "out"
    rows.write_text("row ")
    os.utime(rows, (1, 1))
    return Step("copy", (sys.executable, "-c", _APPEND, rows, out), [rows], [out])


def runs(step: Step) -> int:
    """Run a step, and return how often it has run."""
    folder = step.outputs[0].parent
    with (folder / "lock").open("w") as lock:
        run(step, folder, lock.fileno())
    return step.outputs[0].read_text().count("row")


def test_a_step_that_is_done_is_skipped(step: Step) -> None:
    assert [runs(step), runs(step)] == [1, 1]


def test_a_step_runs_again_after_a_change_of_its_input(step: Step) -> None:
    runs(step)
    os.utime(step.inputs[0], ns=(0, (step.outputs[0].stat().st_mtime_ns + 10**9)))
    assert runs(step) == 2


def test_a_step_runs_again_with_other_options(step: Step) -> None:
    runs(step)
    assert runs(replace(step, command=(*step.command, "--other"))) == 2


def test_a_step_runs_again_if_its_output_is_gone(step: Step) -> None:
    runs(step)
    step.outputs[0].unlink()
    assert runs(step) == 1


@pytest.mark.parametrize(("changed", "kept"), [(False, True), (True, False)])
def test_a_stopped_step_keeps_its_checkpoint_unless_its_input_changed(
    step: Step, changed: bool, kept: bool
) -> None:
    failing = replace(step, command=(sys.executable, "-c", "raise SystemExit(3)"))
    with pytest.raises(SystemExit, match="copy failed with 3"):
        runs(failing)
    checkpoint = step.outputs[0].with_name("copy.checkpoint")
    checkpoint.touch()
    if changed:
        os.utime(step.inputs[0], ns=(0, checkpoint.stat().st_mtime_ns + 10**9))

    with pytest.raises(SystemExit, match="copy failed with 3"):
        runs(failing)
    assert checkpoint.exists() is kept


@pytest.mark.parametrize("scale", [ON_CARD, ON_CPU])
def test_the_steps_make_every_file_of_the_shipped_reader(scale: Scale) -> None:
    made = {path.name for one in steps(Path("f"), scale, 1.0) for path in one.outputs}
    by_export = {"words.weights", "pieces.marisa"} | {
        f"pieces_{name}.npy" for name in ("ids", "places", "scores")
    }
    assert {file.name for file in reading.DATA.iterdir()} - by_export - {"card.md"} <= made


@pytest.mark.parametrize("scale", [ON_CARD, ON_CPU])
def test_the_shares_of_the_mean_sum_to_one(scale: Scale) -> None:
    assert sum(float(part.partition("=")[2]) for part in scale.mean) == 1


def test_what_heads_and_figures_need_is_held_out_of_the_encoder() -> None:
    secrets = [
        file
        for file in secret_screening.SETS.glob("*.jsonl")
        if file.stem.split("_")[0] in secret_weights.UNSEEN
    ]
    requests = [
        file for name in forget_weights.SETS for file in forget_requests.DATA.glob(f"{name}_*")
    ]
    assert len(secrets) > 20 and len(requests) > 10
    assert [file for file in (*secrets, *requests, *UNSEEN) if not is_held_out(file)] == []
