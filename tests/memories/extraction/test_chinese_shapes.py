"""The general shapes of Chinese statements: their subjects, dialects, and what looks like them."""

import pytest

from tests.memories.extraction.chinese import extracted

# fmt: off
# (message, the memories)
TOLD = [
    ("儿子在军校", ["儿子在军校"]),
    ("婆婆有洁癖", ["婆婆有洁癖"]),
    ("我老公跑长途货运的", ["老公跑长途货运的"]),
    ("亲家是杭州人", ["亲家是杭州人"]),
    ("大的上幼儿园中班", ["大的上幼儿园中班"]),
    ("我们班六十三个人，我是学委", ["是学委"]),
    ("我在区财政局办公室，管信息和公文", ["在区财政局办公室", "管信息和公文"]),
    ("本人彭朗，三十六，在苏州做钳工", ["名字叫彭朗", "2026年三十六岁", "在苏州做钳工"]),
    ("绘本我偏向买硬壳的", ["绘本偏向买硬壳的"]),
    ("写材料我偏好先列小标题", ["写材料偏好先列小标题"]),
    ("蟹、桃子、芒果，这三样我都过敏", ["对蟹、桃子、芒果过敏"]),
    ("在宁波的是我表姐", ["表姐在宁波"]),
    ("退伍军人，党龄十三年", ["退伍军人", "党龄十三年"]),
    ("去年冬天把尾巴骨摔裂了", ["2025年冬天把尾巴骨摔裂了"]),
    ("年底前考中级经济师", ["2026年底前考中级经济师"]),
    ("一到冬天手就裂口子", ["一到冬天手就裂口子"]),
    ("给我讲课的时候先别说答案", ["希望助手给自己讲课的时候先别说答案"]),
    ("签证还有十天到期", ["签证2026年12月1日到期"]),
]

DIALECTS = [
    ("我喺沙田返工", ["喺沙田返工"]),
    ("我唔食牛肉", ["唔食牛肉"]),
    ("我隻貓叫芝麻，我鍾意佢", ["貓叫芝麻"]),
    ("我老公係消防員", ["老公係消防員"]),
    ("俺家搁佳木斯呢", ["家在佳木斯"]),
    ("可得意吃锅包肉了", ["得意吃锅包肉了"]),
    ("我屋头婆娘是教书的", ["老婆是教书的"]),
]

UNTOLD = [
    "保安死活不让进", "隔壁老王又吵架了", "听说他们公司要搬走", "我跟我的被子是真爱", "周末愉快",
    "要是会游泳就好了", "我肯定搬去大理，如果能远程的话", "打个比方，我有三套房",
    "你是面试官，我是应聘者",
    "朕饿了", "我可太喜欢半夜被装修吵醒了", "放几天假来着", "我现在在机场", "眼睛干得不行",
    "我是不是该去看看",
    "转发：我每天喝醋血压降了四十", "真想躺平啊", "每本书都很不错", "没几天就过年了",
]

# (the assistant's question, the reply, the memory)
ANSWERED = [
    ("你平时用什么输入法？", "小鹤双拼", "用小鹤双拼输入法"),
    ("你住哪？", "杭州", "住在杭州"),
    ("你抽烟吗？", "不抽", "不抽烟"),
    ("你儿子几岁了？", "五岁", "儿子2026年五岁"),
    ("您是哪里人？", "绵阳", "是绵阳人"),
    ("那你有孩子吗？", "没有", "没有孩子"),
]

NOT_ANSWERED = [
    ("你想吃什么？", "火锅"),
    ("你觉得怎么样？", "还行"),
    ("你叫什么？", "不告诉你"),
    ("你住哪？", "随便"),
]
# fmt: on


@pytest.mark.parametrize(("message", "contents"), [*TOLD, *DIALECTS])
def test_a_statement_is_seen_whoever_it_is_about_and_however_it_is_said(
    message: str, contents: list[str]
) -> None:
    found = [one.content for one in extracted(message).candidates]

    assert [content for content in contents if content not in found] == []


@pytest.mark.parametrize("message", UNTOLD)
def test_what_only_has_the_shape_of_a_statement_is_left(message: str) -> None:
    assert extracted(message).candidates == ()


@pytest.mark.parametrize(("question", "reply", "content"), ANSWERED)
def test_a_short_reply_is_read_with_its_question(question: str, reply: str, content: str) -> None:
    found = extracted(reply, assistant=question).candidates

    assert content in [one.content for one in found]


@pytest.mark.parametrize(("question", "reply"), NOT_ANSWERED)
def test_a_reply_that_tells_nothing_is_left(question: str, reply: str) -> None:
    assert extracted(reply, assistant=question).candidates == ()
