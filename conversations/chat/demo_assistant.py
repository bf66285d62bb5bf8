"""The demo assistant, which answers from memories while no chat model is configured.

It only quotes memories, and acknowledges requests to remember or to forget. The chat labels it as a
demo. It quotes memories only in reply to a question or a request for a list, because it can't tell
whether a statement is sad news. For the same reason all its texts are neutral, never cheerful.
"""

import re
from collections.abc import Sequence
from enum import Enum
from typing import Literal

from foundation.text import segment
from memories.extraction.masking import additions_in_words
from memories.retrieval.query import subject_of

Language = Literal["zh", "en"]
# Longer lists would hide the answer; Memory Center shows all memories.
SHOWN, PERHAPS = 8, 2
LISTED = 12
LONGEST_QUOTE = 200


class Intent(Enum):
    NEVER_MIND = "never mind"
    FORGET = "forget"
    REMIND = "remind"
    REMEMBER = "remember"
    LIST = "list"
    GREETING = "greeting"
    THANKS = "thanks"
    QUESTION = "question"
    TELLING = "telling"
    OTHER = "other"


# A message with at least this many words or Chinese characters counts as TELLING, unless it is a
# question or has another intent.
_FEWEST_WORDS, _FEWEST_HAN = 4, 6
_FIXED = {Intent.THANKS: "thanks", Intent.GREETING: "hello"}
_TOLD = (Intent.REMEMBER, Intent.REMIND, Intent.TELLING)
_ASIDE = r"^(?:(?:please|ok(?:ay)?|hey|hi|and|also|now|could you|can you|would you)[,\s]+)*"
_BEFORE_QUESTIONS = (
    r"^(?:(?:so|and|ok(?:ay)?|hey|hi|well|also|but|please|now|can you|could you)[,\s]+)*"
)
# The order matters: "what do you remember about me" asks for a list, "don't forget" is a request to
# remember, and "don't forget to remind me" asks for a reminder.
_INTENTS: tuple[tuple[Intent, re.Pattern[str]], ...] = tuple(
    (intent, re.compile(shape, re.IGNORECASE))
    for intent, shape in (
        (
            Intent.NEVER_MIND,
            r"^(?:(?:oh|ok(?:ay)?|ah|no|sorry|actually)[,\s]+)*"
            r"(?:never ?mind|nvm|forget it|scrap that)(?:[,.\s]+forget it)?[\s.!]*$"
            r"|^(?:算了[吧啦]?[，,。！!\s]*)?(?:就?当我?没[说问]过?|不说了|没事了)[吧啦哈。！!~\s]*$"
            r"|^算了[吧啦。！!~\s]*$",
        ),
        (
            Intent.LIST,
            r"\bwhat (?:do|did|have) you (?:\w+ )?(?:know|remember|learn(?:ed|t)?|stored?|saved?)"
            r"(?: so far)?(?: about (?:me|us)\b|[?.!\s]*$)"
            r"|\bwho am i\b|\beverything you know about me"
            r"|\b(?:list|show)(?: me)? (?:all |everything )?(?:my |your |the )?memor(?:y|ies)"
            r"|\btell me (?:what you know )?about (?:me|myself)\b"
            r"|你(?:都|还)?(?:知道|晓得|记得|记住|了解|记)(?:了|到)?(?:我(?:的)?)?(?:些|哪些|什么|多少)"
            r"|关于我.{0,6}(?:知道|晓得|记得|记住|了解|记了)|(?:知道|晓得|记得|记住|了解).{0,4}关于我|我是谁",
        ),
        (
            Intent.REMIND,
            r"\bremind me\b(?! (?:what|where|when|who|which|why|how|of (?:what|my|the))\S*)"
            r"|提醒我(?!.{0,80}(?:什么|哪|几号|几点|多少|[?？吗]\s{0,9}$))",
        ),
        (
            Intent.REMEMBER,
            _ASIDE + r"(?:remember\b(?! (?:when|me\?))|(?:don'?t|do not|never) forget\b|note that\b"
            r"|make a note\b|keep in mind\b)"
            r"|\b(?:don'?t|do not) let me forget\b"
            r"|^(?:请|麻烦)?(?:你|帮我|给我)*(?:要)?(?:记住|记得|记一下|记下|别忘|不要忘)(?!.*(?:吗|？|\?)$)"
            r"|(?:别|不要)(?:再|又|让我){0,2}忘(?!.{0,40}(?:吗|？|\?)$)"
            r"|帮我(?:记|存)(?:一下|住|着|下)|(?<![别用必要])(?:记一下|记下来?|记住|记着)[吧啊哦呀啦了。！!~\s]*$",
        ),
        (
            Intent.FORGET,
            _ASIDE + r"(?:forget\b|(?:delete|erase|remove) (?:what|that|the memory|everything)"
            r"|stop remembering\b)"
            r"|^(?:请|麻烦)?(?:你|帮我|给我|把)*.{0,20}?(?<!我)(?:忘掉|别再记|不要再记"
            r"|(?:忘记|忘了)(?=[吧这那]|我|关于|有关|刚才|所有|一切))(?!.*(?:吗|？|\?)$)"
            r"|^(?:请|麻烦|你|帮我|给我)*把.{1,20}(?:忘记|忘了)",
        ),
        (
            Intent.GREETING,
            r"^(?:hi|hello|hey|good (?:morning|afternoon|evening)|你好|您好|嗨|哈喽|早上好|下午好"
            r"|晚上好|早安|在吗)(?: there| again)?[\s!,.。！，～~?？]*$",
        ),
        (
            Intent.THANKS,
            r"^(?:many )?(?:thanks?\b|thx\b|谢谢|多谢|感谢)"
            r"(?: you| a lot| so much| very much| again|谢谢|你|您|啦|了|哈)*[\s!,.。！，~～]*$",
        ),
        (
            Intent.QUESTION,
            r"[?？]\s*$|" + _BEFORE_QUESTIONS + r"(?:(?:"
            r"remind me (?:what|where|when|who|which|why|how|of)\S*"
            r"|(?:what|where|when|who|how)(?! (?:i|we|he|she|they)\b)(?:'?s|'?re|'?d)?"
            r"|whom|whose|which|why|do|does|did|is|are|can|could"
            r"|should|would|will|tell me|recommend|suggest|help|write|give|make|show|explain"
            r"|translate|summari[sz]e|describe|compare|pretend|imagine|let'?s)\b"
            r"|(?:am|was|were|have|has|had)(?: not)? (?:i|we|you|he|she|they|it|my|our|your|there"
            r"|any(?:one|body|thing)?)\b|has \w{2,20} (?:got|ever|any)\b|(?:have |i |we )?got any\b"
            r"|any(?:thing|one|body)?\b(?! (?:\w{1,20} )?(?:goes|works?|is|will|would|helps|does"
            r"|suits?|but|of them)\b)(?= \w)"
            r")|[吗呢]\s*[。.!！]*$|什么|怎么|哪|谁|几点|多少|为什么|如何|推荐|帮我|能不能|可不可以"
            r"|^(?![^\n]{0,80}(?:不知道|不晓得|不管|不论|无论|不确定|都行|都可以))[^\n]{0,80}"
            r"(?:有没有|有无|是不是|是否|会不会|要不要|该不该|在不在|几[号月岁]|第几|多[大高重长远])"
            r"|^[^\n]{0,40}(?:有|能|会|要|可以|在)[^\n，,。]{1,12}(?:没有?|不)[?？。！\s]*$"
            r"|啥(?![都也])|咋|(?<![了等过很这])好久[?？。！\s]*$|(?:晓得|知道|记得)(?:不|没有?)[?？。！\s]*$"
            r"|^(?:请|麻烦)?(?:写|翻译|解释|总结|讲|画|介绍|列出|给我)",
        ),
        (
            Intent.TELLING,
            r"\b(?:i|i'?m|i'?ve|i'd|i'll|my|mine|we|we'?ve|we're|our|call me)\b"
            r"|我|咱|本人|^(?:又|老)?忘"
            rf"|^(?:\S+\s+){{{_FEWEST_WORDS - 1}}}\S"
            rf"|(?:[\u4e00-\u9fff][^\u4e00-\u9fff]{{0,12}}){{{_FEWEST_HAN}}}",
        ),
    )
)

_ASKS_OWN_NAME = re.compile(
    r"(?i)\b(?:what|know|remember|tell|recall)\w{0,4}\b.{0,20}\bmy (?:full |first |last )?name\b"
    r"|\bwhat (?:am i called|do you call me|should you call me)\b"
    r"|我(?:的)?(?:大名|全名|名字|姓名)?(?:叫|姓|是)?(?:什么|啥)(?:名字?)?(?:来着|呢|呀|啊)?[?？。\s]*$"
    r"|(?:知道|晓得|记得)我(?:叫|姓|的名字)|怎么称呼我"
)
_TEXTS: dict[Language, dict[str, str]] = {
    "en": {
        "who": "I’m the built-in demo assistant: no model is connected, so I can only tell you what"
        " I remember.",
        "who_empty": "I’m the built-in demo assistant: no model is connected, so I can’t answer"
        " that myself.",
        "hello": "Hello. I’m the built-in demo assistant. No model is connected, but I can show you"
        " what I remember.",
        "relevant": "You told me this, which fits:",
        "others": "And closest to that:",
        "only_others": "Closest to that, you told me:",
        "perhaps": "I’m not sure whether this answers it, but you told me:",
        "nothing": "I don’t remember anything that fits this.",
        "waits": "Something that may fit is waiting for your review. I’ll answer with it once you"
        " confirm it in Memory Center.",
        "known": "You told me this about yourself:",
        "known_nothing": "I don’t remember anything about you yet. Tell me something about"
        " yourself, and you will find it in Memory Center.",
        "more": "… and more: Memory Center shows everything.",
        "remember": "All right, I’m passing that on to be remembered. Memory Center shows what was"
        " kept.",
        "off": "Nothing said here becomes a memory.",
        "is_off": "Long-term memory is off. ",
        "unused": "Long-term memory is off, so I used none of it.",
        "not_to_keep": "All right, I won’t keep this.",
        "secret": "I left the secret out of what I remember. Your message still says it, until you"
        " delete it.",
        "forget": "I didn’t understand what to forget, so nothing was forgotten. Memory Center"
        " shows every memory, and forgets the ones you choose.",
        "forgotten": "Forgotten. The receipt will show when every trace is gone.",
        "needs_choice": "I can’t tell for sure which memories you mean, so nothing was forgotten"
        " yet. Choose below what goes and what stays.",
        "unsure": "Nothing was forgotten yet: I’m not sure that a memory says this. The closest"
        " ones are below. If it is among them, choose it.",
        "nothing_found": "I found nothing like that among your memories, so there was nothing to"
        " forget.",
        "passing": "I can’t tell for sure which memories you mean, so nothing was forgotten."
        " A temporary chat keeps no list to choose from: ask me in another chat, or choose in"
        " Memory Center.",
        "telling": "I’ve read this. No model is connected, so I can’t say more. What is worth"
        " keeping will appear in Memory Center.",
        "also": "You also told me:",
        "remind": "I can’t send reminders.",
        "remind_kept": "I may remember this as a plan, but I can’t act on it. What was remembered"
        " appears below in a moment. To be sure, choose “Remember this…” in your message’s menu.",
        "never_mind": "All right.",
        "thanks": "You’re welcome.",
        "other": "I’m the built-in demo assistant: no model is connected, so I can’t say"
        " more. You can ask what I know about you.",
    },
    "zh": {
        "who": "我是演示助手，还没有连接模型，只能告诉你我记得的内容。",
        "who_empty": "我是演示助手，还没有连接模型，只会翻记忆，没法自己回答这个问题。",
        "hello": "你好。我是演示助手。还没有连接模型，不过可以告诉你我记得什么。",
        "relevant": "与此相关，你告诉过我：",
        "others": "与此相近的还有：",
        "only_others": "与此最接近的，你告诉过我：",
        "perhaps": "不确定是不是你要问的，你告诉过我：",
        "nothing": "我没有记住与此相关的内容。",
        "waits": "有相关的内容还在等你确认。在记忆中心确认之后，我才会用它回答。",
        "known": "关于你自己，你告诉过我：",
        "known_nothing": "我还没有记住关于你的内容。跟我说说你自己吧，记住的内容会出现在记忆中心。",
        "more": "……还有更多，都在记忆中心里。",
        "remember": "好的。记下的内容会出现在记忆中心。",
        "off": "这里说的话不会变成记忆。",
        "is_off": "长期记忆已关闭，",
        "not_to_keep": "好的，这条我不会记住。",
        "secret": "密码、账号这类我不记。不过你发的这条消息里还写着它，删除消息才会消失。",
        "unused": "长期记忆已关闭，所以这次没有用到。",
        "forget": "我没有听懂要忘记什么，所以什么都没有忘记。"
        "记忆中心列出了全部记忆，可以在那里选择要忘记的。",
        "forgotten": "这件事我已经不记得了。痕迹什么时候全部清除，看回执就知道。",
        "needs_choice": "我不能确定你指的是哪些记忆，所以还没有忘记任何内容。"
        "请在下面选择哪些忘记、哪些保留。",
        "unsure": "还没有忘记任何内容：我不确定有没有记忆说的是这件事。"
        "最接近的列在下面，是哪一条就选哪一条，都不是就不用选。",
        "nothing_found": "你的记忆里没有找到这样的内容，所以没有什么可忘记的。",
        "passing": "我不能确定你指的是哪些记忆，所以没有忘记任何内容。"
        "临时聊天不保留可供选择的列表：请在其他会话里告诉我，或到记忆中心选择。",
        "telling": "看到了。还没有连接模型，我没法多说。值得记住的内容会出现在记忆中心。",
        "also": "你还告诉过我：",
        "remind": "我没有提醒功能。",
        "remind_kept": "这件事可能会作为计划记住；记住了什么，稍后会显示在下面。"
        "想确保记住，请在你那条消息的菜单里选“记住这个…”。",
        "never_mind": "好的。",
        "thanks": "不客气。",
        "other": "我是演示助手，还没有连接模型，没法多说。你可以问问我知道你什么。",
    },
}


def answer(
    message: str,
    *,
    remembered: Sequence[str],
    of_others: Sequence[str] = (),
    perhaps: Sequence[str] = (),
    language: str | None = None,
    teaches: bool = True,
    forget: str | None = None,
    remembering: bool = True,
    not_to_keep: bool = False,
    secret: bool = False,
    passing: bool = False,
    waits: bool = False,
) -> str:
    """Return the demo assistant's reply, in the language of the message.

    All statements about the user are quoted memories. `remembered` holds those that fit the
    message, most relevant first. `of_others` holds the memories about somebody else, if the user
    asks about themselves. `perhaps` holds recalled memories that may not fit the question. Memories
    are quoted only in reply to a question or a request for a list. `teaches` is False if the
    message states nothing that could be remembered, such as a joke; the reply then promises
    nothing. `forget` is the outcome of a request to forget (a status of
    `memories.forgetting.spoken_requests`, or None without a request). `remembering` is False while
    long-term memory is off and in a temporary chat. `not_to_keep` is True if the person asks not to
    keep the message, and `secret` if it contains a secret. `passing` is True for a temporary chat,
    which can't store a list of memories to choose from. `waits` is True if a memory that may answer
    the question awaits review; the reply says so without quoting it. The reply never repeats the
    message, which may contain a text to be forgotten.
    """
    text = _TEXTS[_language(message, language)]
    memories = _quotable(remembered)
    intent = intent_of(message)
    if intent is Intent.TELLING and remembering and not teaches:
        intent = Intent.OTHER
    is_off = not remembering and not passing
    if forget is not None or intent in (Intent.FORGET, Intent.NEVER_MIND):
        return text[_forget_outcome(forget, intent=intent, passing=passing)]
    if remembering and not_to_keep and intent in (*_TOLD, Intent.OTHER):
        return text["not_to_keep"]
    if remembering and secret and intent is not Intent.LIST:
        return text["secret"]
    if intent in _TOLD:
        reply = _acknowledgement(text, intent=intent, remembering=remembering)
        return f"{text['is_off']}{reply}" if is_off else reply
    if is_off and not memories and intent in (Intent.LIST, Intent.QUESTION):
        return _joined(text["who_empty"], text["unused"])
    if intent is Intent.LIST:
        known = _quoted(text["known"], memories, text=text, limit=LISTED)
        return known or text["waits" if waits else "known_nothing"]
    if intent is not Intent.QUESTION:
        return text[_FIXED.get(intent, "other")]
    about_others = _quotable(of_others)
    others = [one for one in _quotable(perhaps) if one not in (*memories, *about_others)][:PERHAPS]
    limit = LISTED if subject_of(message) else SHOWN
    return _answer_from_memories(
        text, memories, of_others=about_others, perhaps=others, limit=limit, waits=waits
    )


def _forget_outcome(forget: str | None, *, intent: Intent, passing: bool) -> str:
    """Return the key of the text that states the outcome of a request to forget."""
    if intent is Intent.NEVER_MIND and forget in (None, "nothing_found"):
        return "never_mind"
    if passing and forget in ("needs_choice", "unsure"):
        return "passing"
    return forget or "forget"


def intent_of(message: str) -> Intent:
    plain = " ".join(message.replace("’", "'").split())
    for intent, shape in _INTENTS:
        if shape.search(plain):
            return intent
    return Intent.OTHER


def mentions_pending_review(answer: str) -> bool:
    """Return whether the reply says that memories which may answer the question await review."""
    return any(text["waits"] in answer for text in _TEXTS.values())


def asks_own_name(message: str) -> bool:
    """Return whether the user asks for their own name.

    Such a question is answered separately, since most memories that state a name share no words
    with it.
    """
    return _ASKS_OWN_NAME.search(message) is not None


def _language(message: str, language: str | None) -> Language:
    """Return the language of the message, or `language` if the message has no letters."""
    if any(char.isalpha() for char in message):
        return segment.language(message)
    return "zh" if (language or "").lower().startswith("zh") else "en"


def _answer_from_memories(
    text: dict[str, str],
    memories: list[str],
    *,
    of_others: list[str],
    perhaps: list[str],
    limit: int,
    waits: bool,
) -> str:
    if not memories and not of_others and not perhaps:
        return _joined(text["who_empty"], text["waits" if waits else "nothing"])
    fitting = _quoted(text["relevant"], memories, text=text, limit=limit)
    about_others = _quoted(
        text["others" if memories else "only_others"], of_others, text=text, limit=SHOWN
    )
    lead, left = text["also" if memories or of_others else "perhaps"], limit - len(memories)
    others = "\n".join([lead, *(f"- {memory}" for memory in perhaps[:left])])
    others = others if perhaps and left > 0 else ""
    return _joined(text["who"], fitting, about_others, others, text["waits"] if waits else "")


def _acknowledgement(text: dict[str, str], *, intent: Intent, remembering: bool) -> str:
    if not remembering:
        reply = text["off"]
    elif intent is Intent.REMIND:
        reply = text["remind_kept"]
    else:
        reply = text["telling"] if intent is Intent.TELLING else text["remember"]
    return _joined(text["remind"], reply) if intent is Intent.REMIND else reply


def _quotable(memories: Sequence[str]) -> list[str]:
    """Return the memories without duplicates, each on one line and shortened for the chat."""
    lines = (" ".join(additions_in_words(memory).split()) for memory in memories)
    cut = (
        line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1].rstrip()}…"
        for line in lines
    )
    return list(dict.fromkeys(line for line in cut if line))


def _quoted(lead: str, memories: list[str], *, text: dict[str, str], limit: int) -> str:
    if not memories:
        return ""
    lines = [lead, *(f"- {memory}" for memory in memories[:limit])]
    if len(memories) > limit:
        lines += ["", text["more"]]  # without the empty line, this text would join the last item
    return "\n".join(lines)


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)
