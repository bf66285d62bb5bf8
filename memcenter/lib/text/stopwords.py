"""Stop words, chosen for questions and short statements, and given names among them.

"Where does Will work?", "An lives in Ghent".
"""

from __future__ import annotations

import re

_NAMES = ("Will", "An", "Can", "Don", "Do", "So", "My")
_NAME = re.compile(rf"(?:{'|'.join(_NAMES)})(?:['’]s)?\b(?!['’])")
# A word is a name if it is capitalised where no capital is due …
_GOES_BEFORE = re.compile(r"[\w,;:] ")
# … or, at the beginning, if the next word allows it ("Will you" and "An apple" don't).
_ASKED = (
    "i|you|he|she|it|we|they|there|this|that|these|those|the|a|an|my|your|his|her|its|our|their"
    "|anyone|anybody|someone|somebody|everyone|everybody|any|some|all|no"
)
_WILL = re.compile(rf"(?:^|[.!?\n]\s{{0,3}})Will(?:['’]s\b|\s++(?!(?:{_ASKED})\b)[a-z])")
_AN = re.compile(r"(?:^|[.!?\n]\s{0,3})An(?:['’]s\b|\s++(?!ho|he)[b-df-hj-np-tv-z])")
_CAPITALS = re.compile(r"\b[A-Z]")
_WORDS = re.compile(r"\b[A-Za-z]")


def that_are_stop_words(text: str) -> frozenset[str]:
    """Return stop words used as names in the text, in lower case; none in Titles And Headlines."""
    if not any(name in text for name in _NAMES):
        return frozenset()
    found = {
        match.group().lower().removesuffix("'s").removesuffix("’s")
        for match in _NAME.finditer(text)
        if _GOES_BEFORE.match(text, max(0, match.start() - 2))
    }
    found |= {"will"} if _WILL.search(text) else set()
    found |= {"an"} if _AN.search(text) else set()
    if found and 2 * len(_CAPITALS.findall(text)) > len(_WORDS.findall(text)) > 3:
        return frozenset()
    return frozenset(found)


_ENGLISH = """
a about above after again all also am an and any are as at be because been before being below
between both but by can could did do does doing down during each else ever few for from further
get gets getting go goes going got had has have having he her here hers herself him himself his
how i if in into is it its itself just let like me more most much my myself no nor not now of
off oh ok okay on once only or other our ours ourselves out over own please really same say
says said she should so some still such tell than that the their theirs them themselves then
there these they thing things this those through to too under until up us very was we well were
what when where which while who whom whose why will with would yeah yes you your yours yourself
yourselves
i'm i've i'd i'll you're you've you'd you'll he's she's it's we're we've we'd we'll they're
they've they'd they'll that's there's here's what's who's where's when's how's let's
isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't won't wouldn't can't
cannot couldn't shouldn't im ive dont doesnt didnt cant wont isnt
"""

_CHINESE = """
的 地 得 了 着 过 吗 呢 吧 啊 呀 哦 嗯 哈 嘛 啦 呗 么 哎 唉 喔 噢 诶 哇
我 你 您 他 她 它 咱 我们 你们 他们 她们 它们 咱们 自己 大家 人家 俺
这 那 这个 那个 这些 那些 这样 那样 这么 那么 这里 那里 这儿 那儿 此 其 该
什么 怎么 怎样 怎么样 如何 为什么 为何 哪 哪个 哪些 哪里 哪儿 谁 几 多少 何时 什么时候 啥 咋
是 在 有 没 没有 不 不是 是不是 有没有 会 能 可以 可 要 想 应该 应 得到
和 与 跟 及 以及 或 或者 还是 而 而且 并 并且 但 但是 不过 因为 所以 因此 如果 虽然 然后 于是 则
把 被 给 让 叫 使 对 从 到 向 往 由 于 以 为 为了 关于 对于 比 用 按 按照
就 都 也 还 又 再 才 只 很 太 更 最 非常 十分 特别 已 已经 曾 曾经 正 正在 将 将要
一 一个 一些 一下 一样 一点 个 些 种 次 里 中 上 下 来 去 说 说过 告诉 提到 提过 知道 觉得
吗 请 请问 之 之前 之后 的话 等 等等 时候 时
"""

ENGLISH = frozenset(_ENGLISH.split())
CHINESE = frozenset(_CHINESE.split())

# Never part of a character pair.
CHINESE_CHARACTERS = frozenset(
    "的地得了着过吗呢吧啊呀哦嗯嘛啦我你您他她它们这那哪谁什么怎是在有没和与跟就都也还很把被给让"
)
