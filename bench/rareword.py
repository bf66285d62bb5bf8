"""Does a rare word find the only memory that contains it, out of a hundred, as the first result?

    .venv/bin/python bench/rareword.py

Each language has ten memories with a rare word (an invented name, an id, a loan word) and 90 others
from `pairs.tsv`. Each word is sent to `GET /search?types=memory`, alone and inside questions.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import known
from bench.crosslingual import PAIRS
from bench.product import print_result, running
from bench.ranking import RankedQuestion, by_group, figures, print_table

RARE = {
    "en": (
        ("The boiler is a Vexhal 320", "Vexhal"),
        ("Booked at the Tramontane inn for June", "Tramontane"),
        ("The contract number is QX-77410-B", "QX-77410-B"),
        ("Plays the theorbo at weddings", "theorbo"),
        ("The new colleague's surname is Oyelaran", "Oyelaran"),
        ("Keeps an axolotl in the kitchen", "axolotl"),
        ("Takes levothyroxine before breakfast", "levothyroxine"),
        ("The staging host is called mirabel-07", "mirabel-07"),
        ("Grandmother came from Szentendre", "Szentendre"),
        ("The budget tool is named Pennywright", "Pennywright"),
    ),
    "zh": (
        ("家里的锅炉是凯沃牌的", "凯沃"),
        ("六月订了栖霞小筑的房间", "栖霞小筑"),
        ("合同编号是HT-20931", "HT-20931"),
        ("婚礼上会弹箜篌", "箜篌"),
        ("新同事姓尉迟", "尉迟"),
        ("厨房里养了一条蝾螈", "蝾螈"),
        ("早饭前吃左甲状腺素", "左甲状腺素"),
        ("测试机的名字叫青鸾七号", "青鸾七号"),
        ("外婆来自腾冲", "腾冲"),
        ("记账软件叫铜板喵", "铜板喵"),
    ),
}
FRAMES = {
    "en": ("{}", "What did I tell you about {}?", "Could you remind me what I said of {} lately?"),
    "zh": ("{}", "我跟你说过{}的什么事？", "能不能提醒我一下之前提到的{}？"),
}
OTHERS = 90


def main() -> None:
    rows = [line.split("\t") for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    others = {"zh": [row[0] for row in rows], "en": [row[1] for row in rows]}
    asked: list[RankedQuestion] = []
    with running() as product:
        for language, rare in RARE.items():
            memories = [*others[language][:OTHERS], *(memory for memory, _ in rare)]
            known.fill(product, user=language, memories=memories)
        for language, rare in RARE.items():
            for number, frame in enumerate(FRAMES[language]):
                group = f"{language}, {'in a question' if number else 'alone'}"
                for memory, word in rare:
                    hits = known.found(product, user=language, query=frame.format(word))
                    texts = [hit["text"] for hit in hits]
                    asked.append(RankedQuestion(group, frozenset([memory]), texts))
    groups = {name: figures(rows, at=(1,)) for name, rows in by_group(asked).items()}
    print_table(groups)
    print_result(groups)


if __name__ == "__main__":
    main()
