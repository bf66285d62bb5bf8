import pytest

from memories.extraction.rules.absurd import is_absurd
from memories.extraction.rules.masking import simplified

JOKES = [
    "I totally have a PhD in procrastination",
    "I'm allergic to mornings lol",
    "married to my job, and she wants a divorce",
    "my cat runs this household, I just pay her mortgage",
    "oh sure, I just LOVE spending my Saturdays at the DMV",
    "我对上班过敏，一看到工位就起疹子",
    "本人主修躺平，辅修摸鱼",
    "我家猫今年要考研了",
    "已经跟火锅领证了，勿扰",
    "月薪三千八，房价八万，我真是人生赢家",
    "我可太喜歡週末加班了",
]
MEANT = [
    "I have a PhD in soil science",
    "I'm allergic to penicillin",
    "I'm allergic to work gloves",
    "I'm married to a nurse",
    "I love being up before everyone else",
    "我对花粉过敏",
    "我主修会计，辅修法语",
    "我女儿今年要考研",
    "我跟我先生去年领的证",
    "专业是睡眠障碍治疗，研究方向是睡觉障碍",
    "我家猫三岁了",
]


@pytest.mark.parametrize("text", JOKES)
def test_what_nobody_could_mean_is_a_joke(text: str) -> None:
    assert is_absurd(text, simplified=simplified(text))


@pytest.mark.parametrize("text", MEANT)
def test_what_looks_like_a_joke_and_is_meant_stays(text: str) -> None:
    assert not is_absurd(text, simplified=text)
