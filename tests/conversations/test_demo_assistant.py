import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.chat.demo_assistant import LONGEST_QUOTE, Intent, answer, intent_of
from memories.extraction.masking import additions_in_words

MEMORIES_EN = ["Allergic to peanuts", "Has a cat named Biscuit"]
MEMORIES_ZH = ["对花生过敏", "养了一只叫豆豆的猫"]


@pytest.mark.parametrize(
    ("message", "intent"),
    [
        ("Remember that I park on level 3", Intent.REMEMBER),
        ("Please remember my cat is called Biscuit.", Intent.REMEMBER),
        ("Don't forget that I'm vegan", Intent.REMEMBER),
        ("Don’t forget my birthday is May 3!", Intent.REMEMBER),
        ("Can you remember that I like tea?", Intent.REMEMBER),
        ("请记住我对花生过敏", Intent.REMEMBER),
        ("记得我下周三要出差", Intent.REMEMBER),
        ("别忘了我不吃辣", Intent.REMEMBER),
        ("Forget that I live in Oslo", Intent.FORGET),
        ("please forget about my ex", Intent.FORGET),
        ("忘掉我的生日", Intent.FORGET),
        ("请忘记我刚才说的话", Intent.FORGET),
        ("把我的地址忘了吧", Intent.FORGET),
        ("把老陈生日记下来 3月8号 别让我又忘了", Intent.REMEMBER),
        ("下周四下午三点家长会 帮我记一下", Intent.REMEMBER),
        ("Don't let me forget the dentist on Friday", Intent.REMEMBER),
        ("忘了带钥匙 在楼下等老陈", Intent.TELLING),
        ("忘了关火", Intent.TELLING),
        ("我妈不用记住这个", Intent.TELLING),
        ("What do you know about me?", Intent.LIST),
        ("what do you remember about me", Intent.LIST),
        ("What have you learned about me so far?", Intent.LIST),
        ("Who am I?", Intent.LIST),
        ("你知道我什么？", Intent.LIST),
        ("你晓得我哪些事？", Intent.LIST),
        ("你都记住了我哪些事", Intent.LIST),
        ("关于我你知道些什么？", Intent.LIST),
        ("Do you remember my cat's name?", Intent.QUESTION),
        ("你还记得我的猫叫什么吗？", Intent.QUESTION),
        ("I forgot my keys", Intent.TELLING),
        ("我忘记带钥匙了", Intent.TELLING),
        ("Where should I eat tonight?", Intent.QUESTION),
        ("推荐一家餐厅", Intent.QUESTION),
        ("I moved to Shanghai last week.", Intent.TELLING),
        ("我上周搬到上海了", Intent.TELLING),
        ("Hello!", Intent.GREETING),
        ("你好", Intent.GREETING),
        ("Thanks a lot", Intent.THANKS),
        ("谢谢！", Intent.THANKS),
        ("hiya, im imani, vet nurse in leeds", Intent.TELLING),
        ("dan cant do friday so well go thursday", Intent.TELLING),
        ("今天食堂的红烧肉太咸了", Intent.TELLING),
        ("下周四下午家长会 帮我记一下", Intent.REMEMBER),
        ("Write a poem about cats", Intent.QUESTION),
        ("写一首关于猫的诗", Intent.QUESTION),
        ("remind me whats the date of my course", Intent.QUESTION),
        ("so where do i work", Intent.QUESTION),
        ("whats my husband do", Intent.QUESTION),
        ("What's my gate code", Intent.QUESTION),
        ("where i live is quiet", Intent.TELLING),
        ("我爸生日好久", Intent.QUESTION),
        ("我前夫叫啥你晓得不", Intent.QUESTION),
        ("我等了好久", Intent.TELLING),
        ("what meds am i on", Intent.QUESTION),
        ("am i diabetic", Intent.QUESTION),
        ("any gigs coming up", Intent.QUESTION),
        ("have i got any appointments", Intent.QUESTION),
        ("got any plans for saturday", Intent.QUESTION),
        ("any day works for me", Intent.TELLING),
        ("have been to the gym", Intent.TELLING),
        ("am in bristol today", Intent.TELLING),
        ("我有糖尿病没", Intent.QUESTION),
        ("我有没有糖尿病", Intent.QUESTION),
        ("最近有演出没有", Intent.QUESTION),
        ("我几号复查", Intent.QUESTION),
        ("我多大了", Intent.QUESTION),
        ("能吃虾不", Intent.QUESTION),
        ("我没有糖尿病", Intent.TELLING),
        ("我不知道她是不是生气了", Intent.TELLING),
        ("豆豆生日3月12 2019年生的", Intent.TELLING),
        ("豆豆对芒果过敏 吃了起疹子", Intent.TELLING),
        ("别忘了提醒我给妈买蛋糕", Intent.REMIND),
        ("提醒我明天给豆豆带伞", Intent.REMIND),
        ("提醒我一下我爸生日是哪天", Intent.QUESTION),
        ("Remind me to call mum tomorrow", Intent.REMIND),
        ("Don't forget to remind me", Intent.REMIND),
        ("never mind, forget it", Intent.NEVER_MIND),
        ("算了当我没说", Intent.NEVER_MIND),
        ("算了", Intent.NEVER_MIND),
        ("Lorem ipsum dolor", Intent.OTHER),
        ("", Intent.OTHER),
        ("🙂", Intent.OTHER),
    ],
)
def test_what_is_asked_of_it_is_understood(message: str, intent: Intent) -> None:
    assert intent_of(message) is intent


@pytest.mark.parametrize(
    ("message", "memories", "says"),
    [
        ("What may I eat?", MEMORIES_EN, "no model is connected"),
        ("我能吃什么？", MEMORIES_ZH, "还没有连接模型"),
    ],
)
def test_a_question_is_answered_honestly_from_what_is_remembered(
    message: str, memories: list[str], says: str
) -> None:
    reply = answer(message, remembered=memories)

    assert says in reply
    assert reply.splitlines()[-2:] == [f"- {memory}" for memory in memories]


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("What may I eat?", "I don’t remember anything that fits this."),
        ("我能吃什么？", "我没有记住与此相关的内容。"),
        ("What do you know about me?", "I don’t remember anything about you yet."),
        ("你知道我什么？", "我还没有记住关于你的内容。"),
    ],
)
def test_it_says_plainly_when_nothing_is_remembered(message: str, says: str) -> None:
    reply = answer(message, remembered=[])

    assert says in reply
    assert "- " not in reply


@pytest.mark.parametrize(
    ("message", "memories"),
    [("What do you know about me?", MEMORIES_EN), ("你知道我什么？", MEMORIES_ZH)],
)
def test_everything_known_is_listed_in_its_order(message: str, memories: list[str]) -> None:
    lines = answer(message, remembered=memories).splitlines()

    assert lines[1:] == [f"- {memory}" for memory in memories]


def test_a_long_list_points_to_the_memory_center() -> None:
    reply = answer("What do you know about me?", remembered=[f"Fact {n}" for n in range(40)])

    assert reply.count("\n- ") == 12
    assert reply.endswith("Memory Center shows everything.")


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("Remember that my PIN is 4711", "passing that on to be remembered"),
        ("记住我的密码是4711", "好的。"),
        ("Forget that my PIN is 4711", "nothing was forgotten"),
        ("忘掉我的密码4711", "什么都没有忘记"),
        ("My PIN is 4711", "What is worth keeping will appear"),
        ("我的密码是4711", "值得记住的内容会出现在记忆中心"),
    ],
)
def test_a_wish_is_acknowledged_without_repeating_what_was_said(message: str, says: str) -> None:
    reply = answer(message, remembered=[])

    assert says in reply
    assert "4711" not in reply


@pytest.mark.parametrize(
    ("message", "promise"),
    [
        ("Two bees walk into a bar and order a pint of honey", "worth keeping"),
        ("I would tell you a joke about pizza, but it is cheesy", "worth keeping"),
        ("我给你讲个笑话吧小明上课睡着了", "值得记住"),
    ],
)
def test_where_nothing_could_be_learned_nothing_is_promised(message: str, promise: str) -> None:
    assert promise in answer(message, remembered=[])
    reply = answer(message, remembered=[], teaches=False)
    assert promise not in reply and reply


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("My grandmother died last night", "o model is connected"),
        ("Biscuit died", "o model is connected"),
        ("Jonas broke up with me on Sunday", "o model is connected"),
        ("thanks for nothing, he left me", "o model is connected"),
        ("我奶奶昨晚走了", "没有连接模型"),
        ("分手了", "没有连接模型"),
        ("谢谢，不过我爸还是没挺过来", "没有连接模型"),
    ],
)
@pytest.mark.parametrize("teaches", [True, False])
def test_a_statement_gets_a_short_neutral_reply_without_memories(
    message: str, says: str, teaches: bool
) -> None:
    reply = answer(message, remembered=MEMORIES_EN + MEMORIES_ZH, teaches=teaches)
    assert says in reply and "- " not in reply and "\n" not in reply


@pytest.mark.parametrize(
    "message",
    [
        *("Hello!", "Thanks a lot!", "My dad died!", "What may I eat?", "Remember my cat Biscuit!"),
        *("你好！", "谢谢！", "我爸走了！", "我能吃什么？", "记住我的猫叫豆豆！"),
    ],
)
def test_no_reply_is_cheerful(message: str) -> None:
    for memories in ([], ["Has a cat"]):
        reply = answer(message, remembered=memories)
        assert not {"!", "！"} & set(reply)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("Remember that I like tea", "Nothing said here becomes a memory"),
        ("I like tea", "Nothing said here becomes a memory"),
        ("记住我喜欢喝茶", "长期记忆已关闭，这里说的话不会变成记忆"),
        ("我对什么过敏？", "长期记忆已关闭，所以这次没有用到"),
        ("What am I allergic to?", "memory is off, so I used none of it"),
        ("What do you know about me?", "memory is off, so I used none of it"),
    ],
)
def test_where_memory_is_off_it_promises_nothing(message: str, says: str) -> None:
    reply = answer(message, remembered=[], remembering=False)

    assert says in reply


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        ("forgotten", "Forgotten."),
        ("needs_choice", "nothing was forgotten"),
        ("nothing_found", "nothing to forget"),
    ],
)
def test_what_became_of_a_forget_is_said_without_repeating_it(outcome: str, says: str) -> None:
    reply = answer("Forget that I live in Oslo", remembered=["Lives in Oslo"], forget=outcome)
    assert says in reply and "Oslo" not in reply


@pytest.mark.parametrize(
    ("message", "says"),
    [("Forget that I ski", "nothing to forget"), ("忘掉我会滑雪", "没有什么可忘记的")],
)
def test_when_nothing_could_be_forgotten_it_says_so(message: str, says: str) -> None:
    assert says in answer(message, remembered=[], forget="nothing_found")


def test_what_is_asked_to_be_forgotten_is_not_quoted_from_memory() -> None:
    assert "peanuts" not in answer("Forget my allergy", remembered=MEMORIES_EN)


@pytest.mark.parametrize(
    ("language", "says"), [("zh-hans", "演示助手"), ("en", "demo assistant"), (None, "demo")]
)
def test_a_message_without_words_is_answered_in_the_users_language(
    language: str | None, says: str
) -> None:
    assert says in answer("🙂", remembered=[], language=language)


def test_the_messages_language_wins_over_the_users() -> None:
    assert "演示助手" in answer("你好", remembered=[], language="en")


def test_a_memory_is_quoted_on_one_line_and_not_at_endless_length() -> None:
    reply = answer("What may I eat?", remembered=["Eats\n\n- rice\nand " + "fish " * 200])
    quoted = reply.splitlines()[-1]

    assert quoted.startswith("- Eats - rice and fish")
    assert quoted.endswith("…")
    assert len(quoted) == LONGEST_QUOTE + len("- ")


@settings(max_examples=100, deadline=None)
@given(message=st.text(max_size=120), remembered=st.lists(st.text(max_size=60), max_size=6))
def test_every_message_gets_an_answer_made_of_memories_only(
    message: str, remembered: list[str]
) -> None:
    reply = answer(message, remembered=remembered)
    known = {" ".join(additions_in_words(memory).split()) for memory in remembered}

    assert reply.strip()
    assert all(line[2:] in known for line in reply.splitlines() if line.startswith("- "))


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("I'm tired of bees, don't keep this.", "All right, I won’t keep this."),
        ("我有点累，别记。", "好的，这条我不会记住。"),
    ],
)
def test_what_is_not_to_be_kept_is_not_promised(message: str, says: str) -> None:
    assert answer(message, remembered=["Keeps bees"], not_to_keep=True) == says
    assert answer(message, remembered=[], not_to_keep=True, remembering=False) != says


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("My PIN is 4711", "Your message still says it"),
        ("我微信密码是kx93hq2，帮我存着", "消息里还写着它"),
    ],
)
def test_a_refused_secret_is_not_thanked_for(message: str, says: str) -> None:
    reply = answer(message, remembered=MEMORIES_EN, secret=True)

    assert says in reply
    assert "- " not in reply


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("Remind me to buy a cake on Friday", "I can’t send reminders"),
        ("别忘了提醒我给妈买蛋糕", "我没有提醒功能"),
    ],
)
def test_a_reminder_is_not_promised(message: str, says: str) -> None:
    assert says in answer(message, remembered=[])
    assert says in answer(message, remembered=[], remembering=False)


@pytest.mark.parametrize(
    ("message", "says"), [("never mind", "All right."), ("算了当我没说", "好的。")]
)
@pytest.mark.parametrize("outcome", [None, "nothing_found"])
def test_never_mind_is_taken_as_it_is_meant(message: str, says: str, outcome: str | None) -> None:
    assert answer(message, remembered=MEMORIES_EN, forget=outcome) == says


def test_a_never_mind_that_forgot_something_says_so() -> None:
    assert "Forgotten." in answer("scrap that", remembered=[], forget="forgotten")


def test_while_memory_is_off_it_does_not_say_that_nothing_is_remembered() -> None:
    reply = answer("What may I eat?", remembered=[], remembering=False)

    assert "memory is off" in reply
    assert "don’t remember" not in reply


def test_additions_are_quoted_in_words() -> None:
    assert answer("What may she eat?", remembered=["she [Mira] eats rice"]).endswith(
        "- she (Mira) eats rice"
    )


@pytest.mark.parametrize(
    ("message", "lead"),
    [
        ("What meds am I on?", "I’m not sure whether this answers it"),
        ("我吃什么药？", "不确定是不是"),
    ],
)
def test_what_was_used_and_may_not_fit_is_quoted_as_unsure(message: str, lead: str) -> None:
    reply = answer(message, remembered=[], perhaps=["ozempic on fridays"])
    assert lead in reply and reply.endswith("- ozempic on fridays")


def test_what_was_used_too_stands_below_what_fits_and_only_for_a_question() -> None:
    reply = answer("When do I have the kids?", remembered=["2 kids"], perhaps=["x", "2 kids"])
    assert reply.endswith("- 2 kids\n\nYou also told me:\n- x")
    assert "x" not in answer("I had the kids today", remembered=[], perhaps=["x"])
    full = answer("What may I eat?", remembered=list("abcdefgh"), perhaps=["x"])
    assert full.endswith("- h")
