"""Most pronouns get the name of the person they mean, and few that of somebody else."""

from __future__ import annotations

import re

from tests.memories.extraction.test_own_words import kept

# The message before, a message whose last clause has a pronoun, and whom it means ("" is nobody).
SAID = [
    ("en", "", "right so our karen thats me daughter she lives in leeds", "karen daughter"),
    ("en", "", "me sister jean she cant eat gluten", "sister jean"),
    ("en", "", "our karens lad alfie he cant have nuts", "karens lad alfie"),
    ("en", "the doctor rang me", "our karen rang shes getting wed", "karen"),
    ("en", "its just me and the dog now", "she lives in leeds", ""),
    ("en", "my partner moved to Leeds", "she hates it there", "partner"),
    ("en", "", "visited my aunt Zofia. she lives in Gdynia", "aunt Zofia"),
    ("en", "", "my brother Tom works at sea. she hates it", ""),
    ("en", "", "poppys 6 n shes coeliac", "poppys"),
    (
        "en",
        "gaz is back thurs hes ofshore",
        "party bags for poppy pls n shes mad on hedghogs",
        "poppy",
    ),
    ("en", "pump says 240", "mom gon flip, shes a 911 dispatcher on nights", "mom"),
    (
        "en",
        "my homies cousin sent it",
        "my nana lupe only speaks spanish and shes got glaucoma",
        "nana",
    ),
    ("en", "", "my crested gecko shes a menace", "gecko"),
    ("en", "my girl aria loves horses", "she 5 actualy", "aria"),
    (
        "en",
        "",
        "i keep giving jodie the wrong job she's been on the ambulances since easter",
        "jodie",
    ),
    ("en", "", "My sister Moira comes on the train, she's blind in the one eye", "Moira"),
    ("en", "my wife Ana is a nurse", "my boss Vera moved and she hates mornings", "Vera"),
    ("en", "", "me n delaney r done, she dumped me over text", "delaney"),
    ("en", "Marc's no use right now", "He's out in kitimat 3 weeks on", "Marc"),
    ("zh", "", "我老公…哦不是 前夫 他周末来接", "前夫"),
    ("zh", "", "昨天见了我小姨，她住在青岛", "小姨"),
    ("zh", "我先生在医院上班", "他不吃辣", "先生"),
    ("zh", "店里现在小刘在管", "她是湖南人", "小刘"),
    ("zh", "隔壁张阿姨在帮忙", "她膝盖不好", "张阿姨"),
    ("zh", "", "老丁昨晚又通宵,他在地铁做信号调试", "老丁"),
    ("zh", "", "同桌柯以宁说这开头有内味儿 她是我们站长", "柯以宁"),
    ("zh", "", "我住青衣長發 同阿嫲住 佢 98 歲", "阿嫲"),
    ("zh", "", "婆婆早上七点吃药，她帕金森六年了", "婆婆"),
    ("zh", "", "天冷了。她不爱出门", ""),
    ("zh", "我同事小王离婚了，我弟弟阿强也分手了", "她一个人带孩子", "小王"),
    ("zh", "我老公在上海，我姐在北京，同事老陈在广州", "她一个人带孩子", "我姐"),
    ("zh", "我闺蜜王芳要来，陈伟送她", "她一个人带孩子", "王芳"),
    ("zh", "王芳和李娜都是我朋友", "她一个人带孩子", ""),
    ("zh", "我姐和我妹都在北京", "她一个人带孩子", ""),
    ("zh", "我孙子对虾过敏", "我女婿在医院上班他不吃香菜", "女婿"),
    ("zh", "我孙子对虾过敏", "张姐不去了她要带孙子", "张姐"),
    ("zh", "我爸住老家", "我妈在早市卖菜，她六点就出摊", "我妈"),
]
_PRONOUN = re.compile(r"(?i)\b(?:s?he)(?:['’]?s)?\b|[他她佢]")


def test_most_pronouns_get_the_person_they_mean() -> None:
    right, wrong = 0, []
    for language, before, message, who in SAID:
        *_, pronoun = _PRONOUN.finditer(message)
        text = kept(
            message,
            message[pronoun.start() :],
            language=language,
            whose="related",
            before=(before,) if before else (),
        ).text
        named = re.findall(r"\[([^\]]*)\]", text)
        said = named[0] if named else ""
        is_right = bool(set(said.split()) & set(who.split())) or (who or "-") in said or said == who
        right += is_right
        wrong += [(message, said)] if said and not is_right else []
    assert right >= 0.8 * len(SAID), wrong
    assert len(wrong) <= 0.11 * len(SAID), wrong
