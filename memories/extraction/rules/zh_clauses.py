"""Chinese text cut into clauses, and the clauses that state nothing."""

import re
from collections.abc import Iterator
from itertools import zip_longest

from memories.extraction.rules.en_clauses import Piece, Sentence
from memories.extraction.rules.masking import COVER

_COMMA = re.compile(
    r"[，,、]?(?:\s*[，,]\s*)|(?<=[\u4e00-\u9fff])[ \t]+(?=[\u4e00-\u9fff])|"
    r"[:：]\s*|——+|~+|～+"
)
_SENTENCE = re.compile(
    rf"[。！？!?；;…\n]+[”」』\"）)]*|[{COVER}]+|(?<=[a-zA-Z\u4e00-\u9fff])\.(?=\s|$)|"
    r"[\U0001F000-\U0001FAFF\u2600-\u27bf\ufe0f\u200d]+"
)
_ASKS = re.compile(
    r"(?:吗|么|嘛)[~～]*$|什么|怎么|怎样|如何|哪[里个些儿位种家部款]?|谁|多少|"
    r"几[个点岁号时]|为什么|为何|是不是|"
    r"有没有|能不能|会不会|可不可以|要不要|好不好|对不对|行不行|该不该|是否|何时|"
    r"何处|咋|啥|来着$|(?<![好十这那过没前后近头二三百有])几(?:天|年|次|月|层|楼|路|斤|度|级|条|"
    r"家|杯|片|遍|小时|分钟|块)|"
    r"(?<!没)多(?:久|远|高|长|重|大)(?!的|了|岁数)|(?<![时动])([\u4e00-\u9fff])不\1(?![不])|"
    r"^(?:请问|问一?下|想问|敢问)|(?:报销|可以|划算|靠谱|合适|[吃喝做用])不$"
)
_ONLY_ASKS = re.compile(
    r"(?:吗|么)[~～]*$|^(?:你|您|请问|那你|能|可以|有没有|怎么|如何|什么|为什么|"
    r"是不是|该|对吧|对吗|是吗|是吧|好吗|行吗)"
)
_SUPPOSED = re.compile(
    r"如果|假如|假设|要是|倘若|万一|假使|若是|若(?=我|有)|要不是|即使|即便|就算|"
    r"哪怕|除非|但愿|好想有|的话(?!剧|题|音|费|说|语|筒|务)|倘使|如若|若非|假定|假比|试想|"
    r"设想一?下|想象一?下|"
    r"(?:真|好|多|超)想(?![法你到])|我要(?:有(?!事|课|考|面|个(?:会|面|考))|能|会|真)|"
    r"我要[^，。]{1,8}了，(?:第一|我?就|肯定|我)|"
    r"(?:考|升|涨|中|追|找|结|买|拿|过|签)[不没][^，。]{0,6}，?我?就|(?:当初|当年|"
    r"早)[^，。]{0,4}(?:该|应该)|"
    r"换[作做成](?:是)?我|早知道|早晓得|但凡|有朝一日|哪天(?:我|要|能)|等我(?:有钱|发|中|退休|赚|"
    r"以后)|"
    r"中(?:了)?(?:彩票|大奖|头奖|五百万|双色球|六合彩|乐透)|恨不能|本可以|梦见|梦到|"
    r"(?:有钱|发财|暴富|中奖|财务自由|不上班|没有?高考)了?[，,]?我?(?:就|要|想|第一)|"
    r"给我(?:一个亿|[一两几]?百万|个机会|一次机会)|我若|我要有|要有(?:钱|空|机会|一天)|我要能|"
    r"恨不得|巴不得|宁愿|幻想|下辈子|来世|要能|多希望|本来(?:想|打算|要)|打个比方|比方说|"
    r"举个例子|譬如我|差点|险些|原本"
)
_SARCASTIC = re.compile(
    r"才怪|呵呵|真有你的|托[^，。]{1,6}的福|也就[一亿]点点|狗头|doge|手动|bushi|属于是|凡尔赛|"
    r"[（(](?:不是|误|大误|bushi|开玩笑)|可把我[^，。]{1,6}坏|(?:太|可真|真是)(?:贴心|感动|幸福|"
    r"幸运|惊喜|棒|会)了?呢|"
    r"(?:最|太|可|真|超|好)(?:爱|喜欢|享受|感谢|期待)[^，。]{0,14}(?:被|吵醒|加班|通宵|开会|堵|"
    r"排队|挨|骂|催|裁|扣|罚|失眠|"
    r"漏水|停[电水]|掉线|死机|崩|迟到|涨价|扔|半夜|早高峰|周一)|^以(?!后|前|来|上|"
    r"下)[^，。]{1,10}的(?:口吻|身份|视角|名义)|"
    r"冥币|首富|身家过?[上亿千]|秦始皇|玉皇|玉帝|从[后倒][^，。]{0,3}数|倒数的?$|做梦的?时候|"
    r"梦里啥都有|你信[么吗不]|"
    r"我真(?:是)?(?:谢谢|服了|栓q)|感谢[^，。]{1,8}(?:让我|害我|逼我)|"
    r"真是[\"“]?太好了[\"”]?呢|可真是|我谢谢你|我可谢谢|谢谢你全家|"
    r"(?:喜欢|爱|享受|感动|高兴|开心)得(?:想|要|恨|差点|直)|"
    r"你猜我信不信|说得好像|搞得好像|好家伙|"
    r"开玩笑|逗你|骗你的|反话|笑死|做梦吧|(?:最|可|可真|真)(?:爱|喜欢)(?:上班|加班|"
    r"开会|堵车|早起|周一|被骂|挨骂|交税|写作业|写周报|排队|失眠|背锅|改需求|"
    r"熬夜加班|挤地铁|考试|打针)"
)
_REPORTED = re.compile(
    r"(?:他|她|它|他们|她们|你|您|人家|别人|有人|大家|网上|新闻|书上|书里|电影里|"
    r"老师|老板|医生|妈|爸|妈妈|爸爸|老公|老婆|朋友|同事|"
    r"[\u4e00-\u9fff]{1,4})(?:总|老|经常|常|还|都|今天|昨天|刚才|刚|跟我|对我|曾|"
    r"曾经)*(?:说过?|问我?|告诉我?|觉得我|认为我?|以为我?|骂我?|夸我?|劝我|笑我|"
    r"说我|称|讲)(?!话|故事|课|英|普|粤|日|法|中|相声|服)"
)
# 网友：我是985毕业的. Whose words follow stands before the colon.
_CITED = re.compile(
    r"[^，。]{0,8}(?:转发|转自|亲测)|(?:网友|博主|楼主|客户|老板|对方|记者|主持人|顾客|同事|朋友|"
    r"老师|甲|乙|"
    r"[他她]们?|[A-Z]|问|答)[:：]"
)
_I_SAY = re.compile(
    r"^(?:准确|严格|确切|具体|简单|总|我|咱|我们|也|其实|还|就|不瞒你|老实|实话|顺便|再|话|听|虽|"
    r"据|之前|上次|刚才|刚刚|前面|以前)[^，]{0,6}(?:说|讲|告诉你|觉得|认为)"
)
_NOT_MINE = re.compile(
    r"^(?:他|她|它|他们|她们|你|您|你们|这|那|这个|那个|人家|别人|大家|有人|有些人|"
    r"谁|电影|小说|故事|书里|主角)"
)


def sentences(text: str) -> Iterator[Sentence]:
    begin = 0
    for match in _SENTENCE.finditer(text):
        yield from _sentence(
            text, begin, match.start(), match[0][0] in "?？" or "?" in match[0] or "？" in match[0]
        )
        begin = match.end()
    yield from _sentence(text, begin, len(text), False)


def _sentence(text: str, begin: int, end: int, question: bool) -> Iterator[Sentence]:
    raw = text[begin:end]
    stripped = raw.strip(" \t\r，,、.：:()（）*•-")
    if stripped and len(stripped) <= 600:
        yield Sentence(stripped, begin + raw.index(stripped), question)


def clauses(sentence: Sentence) -> Iterator[Piece]:
    """The clauses of a sentence that may state something about the speaker."""
    if _SARCASTIC.search(sentence.text) or _CITED.match(sentence.text):
        return
    pieces = list(_pieces(sentence))
    if sentence.question and pieces:
        pieces = _before_the_question(pieces)
    for piece in _stated(_before_a_request(pieces)):
        if _SUPPOSED.search(piece.text) or _is_report(piece.text):
            return
        if not _ASKS.search(piece.text):
            yield piece


_WISHED = re.compile(
    r"(?:就(?:好|完美|爽|幸福)(?:了|咯|啦)+|(?:该(?:有)?多|才)(?:好|美|完美|爽|"
    r"幸福)(?:了|啊|呀|咯|啦)*)$"
)
_WOULD = re.compile(r"会|就|肯定|一定|立马|马上|直接|打算|准备|想|要|得|可以|早")


def _stated(pieces: list[Piece]) -> list[Piece]:
    """Without what only would be so: 我肯定搬去大理，如果能远程的话, and 住在海边就好了."""
    if any(_WISHED.search(piece.text) for piece in pieces):
        return []
    return [
        piece
        for piece, following in zip_longest(pieces, pieces[1:])
        if not (following and _SUPPOSED.search(following.text) and _WOULD.search(piece.text))
    ]


# 晚上煮粥，放什么好？ tells of tonight; 晚上一般煮粥 and 早上七点起 tell of every day.
_THIS_ONCE = re.compile(
    r"(?:我们?|咱们?)?(?:这个?|那个?)?(?:周末|工作日|早上|上午|中午|下午|傍晚|晚上|夜里|半夜|睡前|饭后|"
    r"下班后?|下课后?|放学后?)(?![^，。]{0,8}(?:都|一般|通常|往往|常|总|每|固定|习惯|从来|从不|基本|"
    r"只|必|雷打不动|不|没|[\d一二两三四五六七八九十]点))"
)
_REQUEST = re.compile(
    r"(?:那|请|麻烦|快|你|能不能|可以)*(?:帮|给|替|教|告诉|推荐|建议|列|来)(?:我|我们|一下|个|一)"
)


def _before_a_request(pieces: list[Piece]) -> list[Piece]:
    """Without what is only told to say what the request is about."""
    asked = next((n for n, piece in enumerate(pieces) if _REQUEST.match(piece.text)), 0)
    return [piece for n, piece in enumerate(pieces) if n >= asked or not _is_once(piece)]


def _is_once(piece: Piece) -> bool:
    return _THIS_ONCE.match(piece.text) is not None


def _before_the_question(pieces: list[Piece]) -> list[Piece]:
    last = pieces[-1].text
    if len(pieces) > 1 and (_ASKS.search(last) or _ONLY_ASKS.search(last) or last.startswith("你")):
        # 我住在杭州，对吗？ asks about its statement; 我喜欢画画，你呢？ doesn't.
        if re.match(r"(?:对吧|对吗|是吗|是吧|是不是|对不对)", last):
            return []
        return [piece for piece in pieces[:-1] if not _is_once(piece)]
    return []


# What a doctor finds is the person's own condition, told by way of a report.
_DIAGNOSIS = re.compile(
    r"(?:医生|大夫|医院|体检|检查)[^，。]{0,3}(?:说|讲|告诉|查出|诊断|显示|"
    r"建议|叮嘱)(?:我|是|有|，?血)"
)


# 先别说答案 asks how to be spoken to.
_SAYING = re.compile(r"(?:别|不要|不|直接|先|会|能|少|多)(?:再)?[说讲问]")


def _is_report(clause: str) -> bool:
    if _DIAGNOSIS.search(clause):
        return False
    clause = _SAYING.sub("", clause)
    return bool(_REPORTED.search(clause)) and not _I_SAY.match(clause)


_LIST = re.compile(r"喜欢|爱好|爱|讨厌|会|擅长|不吃|过敏|讨厌")
_ITEM = re.compile(
    r"(?"
    r":[，,、]\s*)?[^我你他她它了是的很也都不就还在有要吗呢啊好对嗯会没叫来去今明昨，。,]{1,5}(?"
    r"=[，,]|$)"
)


def _continues_list(sentence: Sentence, begin: int, comma: re.Match[str]) -> bool:
    """喜欢唱歌，健身，旅游: commas where a list would have 、."""
    return bool(
        _LIST.search(sentence.text, begin, comma.start())
        and _ITEM.match(sentence.text, comma.end())
    )


def _recalls(sentence: Sentence, begin: int, comma: re.Match[str]) -> bool:
    """海鲜、菠萝、头孢，这三样我都过敏 is one clause."""
    said = sentence.text[begin : comma.start()]
    return "、" in said and bool(
        re.match(
            r"(?:这|那)(?:几|[两二三四五六]|"
            r"些)[样个种]?(?:东西)?我",
            sentence.text[comma.end() :],
        )
    )


def _opens_list(sentence: Sentence, begin: int, mark: re.Match[str]) -> bool:
    """爱好就三样：钓鱼、拼高达: a colon that doesn't part what belongs together."""
    return mark[0][0] in ":：" and bool(
        re.search(r"爱好[^，。]{0,6}$", sentence.text[begin : mark.start()])
    )


def _pieces(sentence: Sentence) -> Iterator[Piece]:
    begin = 0
    for match in _COMMA.finditer(sentence.text):
        if (
            _recalls(sentence, begin, match)
            or _continues_list(sentence, begin, match)
            or _opens_list(sentence, begin, match)
        ):
            continue
        yield from _piece(sentence, begin, match.start())
        begin = match.end()
    yield from _piece(sentence, begin, len(sentence.text))


def _piece(sentence: Sentence, begin: int, end: int) -> Iterator[Piece]:
    raw = sentence.text[begin:end]
    stripped = raw.strip(" ，,\t")
    if stripped:
        yield Piece(stripped, sentence.start + begin + raw.index(stripped), begin > 0)


def is_about_another(clause: str) -> bool:
    """Whether the clause opens with somebody whom nothing names."""
    return bool(_NOT_MINE.match(clause))
