"""Does repeating and recalling known facts create new memories?

    .venv/bin/python bench/junk_loop.py [--turns 1000]

A user states a dozen facts, in Chinese and in English, and then only repeats them or asks for them.
Meanwhile a careless chat product pastes our memory block into the messages, its lines into the
replies, and the replies into the next question. No turn says anything new, so no memory may appear.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.product import Product, print_result, running

TOLD = {
    "en": (
        "I live in Leeds.",
        "I work as a nurse.",
        "I'm allergic to peanuts.",
        "I love oolong tea.",
        "My sister is called Anna.",
        "I play the cello.",
        "I prefer short answers.",
        "I have a dog called Biscuit.",
        "I don't eat meat.",
        "I speak German.",
        "I'm planning a trip to Kyoto.",
        "My birthday is on May 3rd.",
    ),
    "zh": (
        "我住在杭州。",
        "我是一名护士。",
        "我对花生过敏。",
        "我喜欢乌龙茶。",
        "我妹妹叫小雨。",
        "我会拉大提琴。",
        "我喜欢简短的回答。",
        "我养了一只狗叫饼干。",
        "我不吃肉。",
        "我会说德语。",
        "我打算去京都旅行。",
        "我的生日是5月3日。",
    ),
}
_SHAPES = {
    "en": (
        ("{told}", "Yes, I remember. {line}"),
        ("As I said before, {told}", "I know. {line}"),
        ("What do you know about me?", "{block}"),
        ("{block}\n\nWhat did I tell you?", "You told me this: {line}"),
        ("Context:\n{block}\nUser: {told}", "Noted. {line}"),
        ("{line}", "That is right."),
        ("Yes, that's right.", "Good. {line} Is that right?"),
        ("Here is what you said: {reply}", "Yes."),
        ("Again: {told}", "Of course."),
        ("You said: {line}. Tell me more about it.", "{line}, as you told me."),
    ),
    "zh": (
        ("{told}", "我记得。{line}"),
        ("我之前说过，{told}", "我知道。{line}"),
        ("你都知道我什么？", "{block}"),
        ("{block}\n\n我告诉过你什么？", "你告诉过我：{line}"),
        ("上下文：\n{block}\n用户：{told}", "记下了。{line}"),
        ("{line}", "没错。"),
        ("对，没错。", "好的。{line}，对吗？"),
        ("你刚才说：{reply}", "是的。"),
        ("再说一遍：{told}", "好的。"),
        ("你说过：{line}。多说一点。", "{line}，这是你告诉我的。"),
    ),
}


@dataclass(frozen=True)
class Shape:
    """A template of one turn, with fields for a fact, the block, one of its lines and a reply."""

    said: str
    reply: str
    told: str

    def filled(self, block: str, *, before: str, turn: int) -> tuple[str, str]:
        """Return the message and the reply. `before` is the reply of the previous turn."""
        lines = [line.lstrip("- ").strip() for line in block.splitlines() if line[:1] == "-"]
        line = lines[turn % len(lines)] if lines else ""
        given = {"told": self.told, "block": block, "line": line, "reply": before}
        return self.said.format(**given), self.reply.format(**given)


def shapes(language: str) -> Iterator[Shape]:
    """Yield shapes endlessly, so that every template is combined with every fact."""
    told = itertools.cycle(TOLD[language])
    for said, reply in itertools.cycle(_SHAPES[language]):
        yield Shape(said, reply, next(told))
        if said == _SHAPES[language][-1][0]:
            next(told)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=1000)
    turns = parser.parse_args().turns
    with running() as product:
        figures = {language: measure(product, language, turns // 2) for language in TOLD}
    for language, counted in figures.items():
        print(
            f"{language}: {counted['known']} known, {counted['new']} new after {turns // 2} turns"
        )
    print_result({"turns": turns, "new": sum(one["new"] for one in figures.values())} | figures)


def measure(product: Product, language: str, turns: int) -> dict[str, int]:
    user = f"junk-{language}"
    for told in TOLD[language]:
        record(product, user, told, "I see." if language == "en" else "好的。", reference="told")
    settle(product, user)
    known = {row["id"] for row in every(product, user)}
    reply = ""
    for turn, shape in zip(range(turns), shapes(language), strict=False):
        asked = shape.told if "{told}" in shape.said else shape.said[:20]
        context = product.post("/memory/context", {"user_id": user, "message": asked})
        said, reply = shape.filled(context["block"], before=reply, turn=turn)
        record(product, user, said, reply, reference=f"c{turn // 50}")
        if turn % 50 == 49:
            settle(product, user)
    settle(product, user)
    new = [row for row in every(product, user) if row["id"] not in known]
    for row in new[:20]:
        print(f"    new: {row['content']}")
    return {"known": len(known), "new": len(new)}


def record(product: Product, user: str, said: str, reply: str, *, reference: str) -> None:
    product.post(
        "/turns",
        {
            "user_id": user,
            "conversation_id": reference,
            "user_message": said or "…",
            "assistant_message": reply or "…",
        },
    )


def settle(product: Product, user: str) -> None:
    """Wait until the user has no pending or running operation."""
    for status in ("pending", "running"):
        while product.get("/memory/ops", user_id=user, status=status, limit=1)["results"]:
            time.sleep(0.2)


def every(product: Product, user: str) -> list[dict[str, Any]]:
    """Return all memories, including candidates, archived and superseded ones."""
    found = list(product.all("/memory/long_term", user_id=user))
    for status in ("candidate", "archived", "superseded"):
        found += product.all("/memory/long_term", user_id=user, status=status)
    return found


if __name__ == "__main__":
    main()
