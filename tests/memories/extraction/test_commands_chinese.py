"""What is said to the memory itself in Chinese: remember, forget, and what only sounds so."""

import pytest

from foundation.text import segment
from memories.extraction.requests import commands
from memories.extraction.types import Extraction
from tests.memories.extraction.bundled_reading import contents, extract
from tests.memories.extraction.readings import FakeReader

# fmt: off
REMEMBERED = [
    ("记住，我不吃香菜", "我不吃香菜"),
    ("麻烦你记着点，我住三楼没电梯", "我住三楼没电梯"),
    ("记一笔：我的鞋码是42", "我的鞋码是42"),
    ("把这个记下来：我的血型是AB", "我的血型是AB"),
    ("你记好了，我左耳听不见", "我左耳听不见"),
    ("存到你的记忆里，我对青霉素过敏", "我对青霉素过敏"),
    ("幫我記住我的生日是三月九號", "我的生日是三月九號"),
    ("加个备忘，下周二交水费", "下周二交水费"),
    ("以后记得叫我阿月", "叫我阿月"),
    ("老陈生日是3月8号 别让我又忘了", "老陈生日是3月8号"),
    ("下周四下午三点家长会 帮我记一下", "下周四下午三点家长会"),
    ("别让我忘了周五交房租", "周五交房租"), ("别忘记我的血型是AB", "我的血型是AB"),
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
    ("我对猫过敏这件事从你的脑子里删掉", "我对猫过敏"),
    ("刚才那句不用记", ""), ("上一句话别记", ""), ("我刚说的不用记了", ""),
    ("忘掉上面那条消息", ""),
]

NOT_ASKED_TO_FORGET = [
    "忘掉那段感情吧，人要往前看", "忘掉过去，重新开始", "我想忘掉他", "怎么才能忘记一个人",
    "我忘了吃药",
    "忘记密码怎么办", "把冰箱里的剩菜删了", "帮我把文档里第三段删掉", "删掉这个函数的注释",
    "忘了告诉你，我搬家了",
    "我妈忘了我生日", "有些事还是忘了好", "你别把我忘了", "忘了它吧", "我把他微信删了",
    "那首歌的名字我忘了",
    "把老陈生日记下来 3月8号 别让我又忘了", "记下来别忘了", "忘了带钥匙 在楼下等老陈",
]
# fmt: on


def asked(message: str, flag: str) -> Extraction:
    """What is made of a message in which the reader hears nothing but the request."""
    told = FakeReader()
    told.hears(message, flags=[flag])
    return extract(message, told=told)


def command(message: str) -> commands.Command | None:
    return commands.command(segment.simplified(message))


@pytest.mark.parametrize(("message", "content"), REMEMBERED)
def test_what_is_asked_to_be_remembered_is_kept_as_asked(message: str, content: str) -> None:
    found = asked(message, "remember")

    assert contents(found) == [content]
    assert found.candidates[0].explicit


@pytest.mark.parametrize("message", NOT_ASKED_TO_REMEMBER)
def test_remembering_that_is_only_spoken_of_is_no_order(message: str) -> None:
    assert command(message) is None
    assert contents(asked(message, "remember")) == []


@pytest.mark.parametrize(("message", "about"), FORGOTTEN)
def test_a_request_to_forget_says_what_it_is_about(message: str, about: str) -> None:
    (request,) = asked(message, "forget").forget

    assert request.about.startswith(about) if about.startswith("我") else about in request.about
    assert bool(request.about) == bool(about)


@pytest.mark.parametrize("message", NOT_ASKED_TO_FORGET)
def test_forgetting_that_is_not_said_to_the_memory_is_no_request(message: str) -> None:
    found = command(message)

    assert found is None or found.verb != "forget"


@pytest.mark.parametrize(
    "message",
    [
        "把老陈生日记下来 3月8号 别让我又忘了",
        "周五交房租，不能再忘了",
        "I must not forget the rent",
    ],
)
def test_a_wish_not_to_forget_is_never_a_request_to_forget(message: str) -> None:
    """Also if the reader takes it for one."""
    assert not asked(message, "forget").forget


@pytest.mark.parametrize(
    ("message", "asks"),
    [
        ("我上次跟你说戒指那个事你还记得不", False),
        ("你记不记得我驾校教练姓啥子", False),
        ("你还记得我上次跟你说的搬家那个事吗", False),
        ("do you still remember the ring i told you about", False),
        ("莫忘了给外婆打电话", False),
        ("我上回跟你说过云南退团的事你还记得伐", False),
        ("did you forget about gary?", False),
        ("have you already forgotten gary", False),
        ("数学不及格这种黑历史能不能忘了呀", True),
        ("别再记我戒指那个事了", True),
        ("你还记得戒指的事吗？把它忘掉", True),
    ],
)
def test_a_question_about_what_is_remembered_forgets_nothing(message: str, asks: bool) -> None:
    told = FakeReader()
    told.hears(message, flags=("forget",))
    assert bool(extract(message, told=told).forget) is asks


def test_a_clause_after_a_space_can_ask_not_to_keep_the_message() -> None:
    assert commands.asks_not_to_store("小雨怀孕了 这句别记")
    assert commands.asks_not_to_store("聊完就忘了吧，我去做了手术")
    assert commands.asks_not_to_store("上面说的别记")
    assert not commands.asks_not_to_store("看完就删了那部剧，没意思")
    assert commands.asks_not_to_store("這件事不要記住：Marcus在考慮離職")
    assert commands.asks_not_to_store("這個別記，我被裁員了")
    assert commands.asks_not_to_store("我妈住院了，这事儿不要存")
