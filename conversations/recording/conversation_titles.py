"""Derive the title of a conversation from a message, without its private sentences.

Other people may see the titles on the screen. Sentences about health, money or family trouble,
requests not to mention something, and sentences with a secret never become part of a title. If a
message says nothing else, its title is the name of the private topic, such as "Health". A message
that only greets, contains only secrets, or asks to forget or not to store something gives no title;
the conversation is then named after a later message.
"""

from __future__ import annotations

import re

from foundation.text import segment
from memories.extraction import masking
from memories.extraction.requests import commands
from memories.extraction.summary import says_something
from memories.extraction.wording.digest import headline
from memories.extraction.wording.languages import tag_of
from memories.forgetting import spoken_requests

_READ = 2_000
_NUMBER = re.compile(r"(?:\d[ -]?){7}")  # as in phone and account numbers
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
# For each topic: the English and Chinese words that make a sentence private.
_PRIVATE = tuple(
    (topic, re.compile(words, re.IGNORECASE))
    for topic, words in (
        (
            "answers",
            r"\b(?:never|don['’]?t|do not|stop|no more)\b.{0,20}\b"
            r"(?:bring(?:ing)? up|mention(?:ing)?|talk(?:ing)? about|remind(?:ing)?)\b"
            r"|(?:(?<!特)别|不要|不许|不准)(?:再|老|总是?)?(?:跟我|和我|对我|给我)?"
            r"(?:提(?![前高醒交示供出问])|说起|聊)",
        ),
        (
            "health",
            r"\b(?:diagnos\w*|cancer|tumou?r|biops\w+|chemo\w*|hiv|aids|std|herpes|pregnan\w*"
            r"|miscarr\w*|abortions?|ivf|depress\w+|anxiety|bipolar|autis\w+|adhd|suicid\w*"
            r"|self.harm\w*|therap(?:y|ist)|psychiatr\w+|antidepress\w+|medication|surgery"
            r"|thyroid|diabet\w+|epilep\w+|dementia|alzheimer\w*"
            r"|rehab|sober|alcoholi\w+|addict\w*|overweight|obes\w+|(?:my|her|his) weight"
            r"|symptoms?|infection|lump|blood test|test results)\b"
            r"|癌|肿瘤|结节|化疗|艾滋|性病|怀孕|流产|打胎|试管|抑郁|焦虑症|躁郁|自闭|自杀|自残"
            r"|心理医生|精神科|甲状腺|糖尿病|癫痫|痴呆|中风|戒酒|戒毒|酗酒|确诊|病理|手术|吃药"
            r"|体重|月经|痔疮|复查",
        ),
        (
            "money",
            r"\b(?:salary|wages?|debts?|bankrupt\w*|mortgage|overdraft|payday|alimony"
            r"|child support|redundan\w+|laid off|fired from|inheritance"
            r"|i (?:still )?owe|owes? me|i earn|my (?:loans?|savings|rent|pay))\b"
            r"|工资|薪水|年薪|月薪|欠债|欠款|负债|破产|房贷|贷款|存款|抚养费|赡养费|失业|被裁"
            r"|遗产|欠.{0,6}钱",
        ),
        (
            "family",
            r"\b(?:divorc\w*|my ex|ex.(?:husband|wife|boyfriend|girlfriend)|affair"
            r"|cheat(?:ed|ing) on|broke up|break.?up|custody|abus(?:e|ed|ive)|sex|sexual\w*"
            r"|died|funeral|passed away)\b"
            r"|离婚|前夫|前妻|前男友|前女友|出轨|劈腿|分手|家暴|抚养权|性生活|去世|过世|葬礼",
        ),
    )
)
_NAMES = {"answers": "How to answer", "health": "Health", "money": "Money", "family": "Family"}


def title_of(text: str) -> str:
    """Return a short title for a message, or "" if nothing in the message may be used as a title.

    The title is the name of a private topic or a part of the message. A part consists
    of the message's own words, so that it can be found and cleared when the message is forgotten.
    """
    if spoken_requests.asks_to_forget(text) or commands.asks_not_to_store(text):
        return ""
    masked = masking.masked_by_reading(text)
    sentences = _SENTENCE_END.split(masked[:_READ])
    topics = [_private_topic(one) for one in sentences]
    public = [one for one, topic in zip(sentences, topics, strict=True) if topic is None]
    if len(public) == len(sentences):
        return headline(masked) if any(map(says_something, public)) else ""
    if any(map(says_something, public)):
        return headline("\n".join(public))
    topic = next(filter(None, topics), "")
    if topic and segment.language(text) == "zh":
        return tag_of(topic, language="zh")
    return _NAMES[topic] if topic else ""


def _private_topic(sentence: str) -> str | None:
    """Return the topic that makes the sentence private, or None if it is public.

    The topic is "" for a secret or a long number.
    """
    if masking.is_redacted(sentence) or _NUMBER.search(sentence):
        return ""
    return next((topic for topic, words in _PRIVATE if words.search(sentence)), None)
