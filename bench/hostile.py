"""How much processor time does the slowest of many hostile messages take?

    .venv/bin/python bench/hostile.py [--messages 5000] [--longest 32000] [--seed 1]

Generated messages of both languages go through the steps that process a message: screening,
extraction, arbitration, summaries, search, files, import (`bench/language_steps.py`). The messages
are made to be slow: one word or character repeated up to 32,000 characters, repeated trigger words,
nested and unclosed quotes and brackets, digits, look-alike letters, and the worst inputs for the
product's own patterns (`bench/patterns.py`).

All times are processor seconds in this process. `slowest` is the largest sum for one message over
the steps of its normal path (`language_steps.WAY`). `slowest_of_all` also includes pages, files,
imports and residue scans. `by_step` is the maximum of each step. `over_a_second` counts messages;
`broken` counts steps that raised an exception. The time of the encoder isn't counted, because it
reads at most 2,048 tokens. To save time, it reads only the first windows and pairs of texts. Later
windows and pairs get the scores of an earlier window or pair, repeated or cut to their length. So
statements and secrets are also found where the encoder would find none.

With several cores, run several seeds at once. Other processes on the same core add to the time.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import patterns
from bench.labelled import prepare_django
from bench.product import print_result
from bench.sentences import Sentences

if TYPE_CHECKING:
    from bench.language_steps import LanguageSteps
    from memories.reader.inputs import Input

MESSAGES, LONGEST = 5_000, 32_000
_TRIGGERS = (
    *("password for ", "the token for ", "my pin ", "api key: ", "card number ", "passport for "),
    *("username and ", "login / ", "bearer ", "forget that ", "remember that ", "I like "),
    *("my sister ", "because I ", "I said ", "he said ", "every day ", "last ", "at 5 "),
    *("and then ", "no longer ", "我的token for ", "User: ", "我：", "## ", "- "),
    *("记住", "忘掉", "密码", "密码是", "我喜欢", "我妈", "刚刚", "已经", "其实我", "如果", "他说"),
    *("因为我", "每天", "上周", "不再", "银行卡号", "身份证", "对", "和", "的"),
)
_SIGNS = (
    "“",
    "”",
    "「",
    "『",
    "(",
    "（",
    "[",
    "{",
    "<",
    "`",
    "```",
    "~~~",
    "*",
    "_",
    "|",
    ">",
    "#",
)
_LETTERS = (
    "a",
    "b",
    "x1",
    "ab-",
    "a.",
    "a@",
    "a_",
    "а",
    "ſ",
    "０",
    "1",
    "9 ",
    "1-",
    "+",
    "=",
    "/",
    "é",
)
_LENGTHS = (60, 300, 600, 1_500, 4_000, 8_000, LONGEST, LONGEST)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--messages", type=int, default=MESSAGES)
    parser.add_argument("--longest", type=int, default=LONGEST)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    prepare_django()
    from bench.language_steps import LanguageSteps

    steps = LanguageSteps()
    _leave_out_the_encoder()
    broken: Counter[str] = Counter()
    for text in islice(Sentences(seed=0, rules=False), 20):
        _spend(steps, text, broken)  # load dictionaries and weights before timing
    texts = list(islice(messages(seed=options.seed, longest=options.longest), options.messages))
    taken = []
    for number, text in enumerate(texts, 1):
        taken.append((_spend(steps, text, broken), text))
        if number % 250 == 0:
            worst = max(_on_way(by_step) for by_step, _ in taken)
            print(f"{number} messages, slowest {worst:.3f} s", file=sys.stderr, flush=True)
    slowest = sorted(taken, key=lambda row: -_on_way(row[0]))
    for by_step, text in slowest[:10]:
        step = max(by_step, key=lambda name: by_step[name])
        print(f"{_on_way(by_step):8.3f} s {len(text):6} {step:22} {text[:60]!r}")
    totals = [_on_way(by_step) for by_step, _ in slowest]
    print_result(
        {
            "messages": len(texts),
            "slowest": round(totals[0], 3),
            "over_a_second": sum(total > 1 for total in totals),
            "p99": round(totals[len(totals) // 100], 3),
            "slowest_of_all": round(max(sum(by_step.values()) for by_step, _ in taken), 3),
            "broken": broken.total(),
            "by_step": {
                name: round(max(by_step[name] for by_step, _ in taken), 3) for name in steps.steps
            },
        }
    )


_ENCODED: list[float] = []  # processor seconds of each encoder call
_WINDOWS, _PAIRS = 500, 200  # number of windows and of pairs of texts that the encoder reads


def _leave_out_the_encoder() -> None:
    import numpy as np

    from bench.language_steps import read_only_first_pairs
    from memories.reader.pair_layers import PairComparison
    from memories.reader.reading import Model, Reader
    from memories.reader.statements import Scores

    run, compare = Model.scores, Reader.compare
    windows: list[tuple[Scores, Scores, Scores]] = []

    def scores(model: Model, one: Input) -> tuple[Scores, Scores, Scores]:
        began = time.process_time()
        if len(windows) < _WINDOWS:
            windows.append(run(model, one))
            found = windows[-1]
        else:
            found = windows[zlib.crc32(np.asarray(one.ids).tobytes()) % _WINDOWS]
        tokens, texts, puts_right = found
        given = np.resize(tokens, (len(one.ids), tokens.shape[1])), texts.copy(), puts_right
        _ENCODED.append(time.process_time() - began)
        return given

    def compared(reader: Reader, known: str, message: str) -> PairComparison:
        began = time.process_time()
        found = compare(reader, known, message)
        _ENCODED.append(time.process_time() - began)
        return found

    Model.scores = scores  # type: ignore[method-assign, assignment]
    read_only_first_pairs(_PAIRS)
    Reader.compare = compared  # type: ignore[method-assign, assignment]


def _on_way(by_step: Mapping[str, float]) -> float:
    from bench.language_steps import WAY

    return sum(seconds for name, seconds in by_step.items() if name in WAY)


def _spend(steps: LanguageSteps, text: str, broken: Counter[str]) -> dict[str, float]:
    """Run all steps on a text and return the processor seconds of each."""
    taken = {}
    for name, step in steps.steps.items():
        began, read = time.process_time(), sum(_ENCODED)
        try:
            step(text)
        except Exception as error:  # any exception counts
            broken[name] += 1
            print(f"{name}: {type(error).__name__} {text[:60]!r}")
        taken[name] = time.process_time() - began - (sum(_ENCODED) - read)
    steps.remember(text)
    return taken


def messages(*, seed: int, longest: int = LONGEST) -> Iterator[str]:
    rng = random.Random(seed)
    sentences = Sentences(seed=seed, rules=False)
    made = [
        text
        for known in patterns.of_project()[0]
        if known.module.startswith("memories.")
        for text in patterns.hostile(known.pattern, most=4)
    ]
    while True:
        length = min(longest, rng.choice(_LENGTHS))
        yield from (
            rng.choice(made).of_length(length),
            f"{rng.choice(_TRIGGERS)}{rng.choice(_LETTERS) * length} {sentences.one()}"[:length],
            _again(rng.choice(_TRIGGERS), length),
            _mixed(rng, length),
            _nested(rng, sentences.one(), length),
            _again(sentences.one() + rng.choice((" ", "\n", "，", ", ", ". ", "")), length),
        )


def _again(text: str, length: int) -> str:
    return (text * (length // max(1, len(text)) + 1))[:length]


def _mixed(rng: random.Random, length: int) -> str:
    """Return trigger words, punctuation and letters in random order."""
    few = rng.choices((*_TRIGGERS, *_SIGNS, *_LETTERS), k=rng.randint(2, 40))
    return "".join(rng.choices(few, k=length))[:length]


def _nested(rng: random.Random, text: str, length: int) -> str:
    sign = "".join(rng.choices(_SIGNS, k=rng.randint(1, 3)))
    opened = sign * (length // (2 * len(sign)))
    return f"{opened}{text}{rng.choice((opened[::-1], '', text))}"[:length]


if __name__ == "__main__":
    main(sys.argv[1:])
