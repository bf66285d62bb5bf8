"""What is said to the memory itself in Chinese: remember, forget, and what only sounds so."""

import pytest

from tests.memories.extraction.chinese import extracted

# fmt: off
REMEMBERED = [
    ("记住，我不吃香菜", "不吃香菜"),
    ("麻烦你记着点，我住三楼没电梯", "住三楼没电梯"),
    ("记一笔：我的鞋码是42", "鞋码是42"),
    ("把这个记下来：我的血型是AB", "血型是AB"),
    ("你记好了，我左耳听不见", "左耳听不见"),
    ("存到你的记忆里，我对青霉素过敏", "对青霉素过敏"),
    ("幫我記住我的生日是三月九號", "生日是三月九號"),
    ("加个备忘，下周二交水费", "2026年11月24日交水费"),
    ("以后记得叫我阿月", "希望被称呼为阿月"),
]

NOT_ASKED_TO_REMEMBER = [
    "我得记住带伞", "记住了", "我一直记得那年夏天", "他让我记住他的好", "你能记住我家地址吗",
]

# (message, what the request is about)
FORGOTTEN = [
    ("忘掉我刚才说的", ""), ("刚刚那条别记", ""), ("這個不用記", ""), ("當我沒說過剛才那些", ""),
    ("忘了我的生日吧", "我的生日"), ("请忘记我前男友的事", "我前男友"),
    ("把我的体检结果从记忆里删掉", "我的体检结果"), ("我说的住址你删了吧", "我说的住址"),
    ("删除关于我爸的所有记忆", "我爸"), ("你可以忘了我对猫过敏这件事", "我对猫过敏"),
    ("我怀孕的事当我没说", "我怀孕"), ("清空你对我的所有记忆", "所有记忆"),
    ("忘記我說的過敏那件事", "過敏"), ("唔好再記住我住邊", "我住邊"),
    ("我跳槽那事你忘了吧，没成", "我跳槽"), ("不要保存我说的工资", "工资"),
]

NOT_ASKED_TO_FORGET = [
    "忘掉那段感情吧，人要往前看", "忘掉过去，重新开始", "我想忘掉他", "怎么才能忘记一个人",
    "我忘了吃药",
    "忘记密码怎么办", "把冰箱里的剩菜删了", "帮我把文档里第三段删掉", "删掉这个函数的注释",
    "忘了告诉你，我搬家了",
    "我妈忘了我生日", "有些事还是忘了好", "你别把我忘了", "忘了它吧", "我把他微信删了",
    "那首歌的名字我忘了",
]

# (message, what is remembered, and that it overrules)
CORRECTED = [
    ("更正一下，我女儿是六岁", "女儿2026年六岁"),
    ("不对，我是说我在南京不是南昌", "在南京"),
    ("之前跟你说我单身，现在有女朋友了", "现在有女朋友了"),
]
# fmt: on


@pytest.mark.parametrize(("message", "content"), REMEMBERED)
def test_what_is_asked_to_be_remembered_is_kept_as_asked(message: str, content: str) -> None:
    found = extracted(message).candidates

    assert [(one.content, one.explicit) for one in found] == [(content, True)]


@pytest.mark.parametrize("message", NOT_ASKED_TO_REMEMBER)
def test_remembering_that_is_only_spoken_of_is_no_order(message: str) -> None:
    assert not any(one.explicit for one in extracted(message).candidates)


@pytest.mark.parametrize(("message", "about"), FORGOTTEN)
def test_a_request_to_forget_says_what_it_is_about(message: str, about: str) -> None:
    (request,) = extracted(message).forget

    assert request.about.startswith(about) if about.startswith("我") else about in request.about
    assert bool(request.about) == bool(about)


@pytest.mark.parametrize("message", NOT_ASKED_TO_FORGET)
def test_forgetting_that_is_not_said_to_the_memory_is_no_request(message: str) -> None:
    assert extracted(message).forget == ()


@pytest.mark.parametrize(("message", "content"), CORRECTED)
def test_a_correction_overrules_what_was_known(message: str, content: str) -> None:
    (found,) = extracted(message).candidates

    assert found.content.startswith(content)
    assert found.corrects
