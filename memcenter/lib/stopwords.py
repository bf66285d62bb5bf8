"""Words that say nothing about what a text is about. Chosen for questions and short statements."""

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

# Never part of a pair of characters that is looked for as if it were a word.
CHINESE_CHARACTERS = frozenset(
    "的地得了着过吗呢吧啊呀哦嗯嘛啦我你您他她它们这那哪谁什么怎是在有没和与跟就都也还很把被给让"
)
