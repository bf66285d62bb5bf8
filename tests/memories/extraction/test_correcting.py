"""Corrections: the earlier message, said again with the right words."""

import pytest

from memories.extraction.corrections.contrasts import contrasts, renaming
from memories.extraction.corrections.corrected_messages import (
    LONGEST,
    MOST_TRIED,
    correction,
    old_value,
    without_old_value,
)
from memories.extraction.corrections.new_values import new_amount
from tests.memories.extraction.bundled_reading import extract
from tests.memories.extraction.readings import FakeReader, statement


@pytest.mark.parametrize(
    ("said", "earlier", "again"),
    [
        (
            "actually typo, its my cousin Ewa not my sister. and pls be brief",
            "my sister Ewa has a peanut allergy",
            "my cousin Ewa has a peanut allergy",
        ),
        (
            "wait not february, from march, because of the shrove tuesday rush",
            "from february i close on mondays",
            "from march i close on mondays",
        ),
        (
            "not february, march",
            "from february i close on mondays",
            "from march i close on mondays",
        ),
        ("typo, I meant Marta", "Maria can't eat nuts", "Marta can't eat nuts"),
        ("*Marta", "Martha can't eat nuts", "Marta can't eat nuts"),
        ("oops I meant Thursday not Tuesday", "choir on Tuesday", "choir on Thursday"),
        ("wait its 45 minutes", "I run for 35 minutes a day", "I run for 45 minutes a day"),
        ("sorry, 14 kids not 12", "I teach 12 kids", "I teach 14 kids"),
        ("说错了是六个月。以后回答短一点", "老婆怀孕五个月", "老婆怀孕六个月"),
        ("改成周五了", "周四下午要去看牙", "周五下午要去看牙"),
        ("看牙改成周五了", "周四下午要去看牙", "周五下午要去看牙"),
        ("演出改成12月16号了", "我12月9号去看演出", "我12月16号去看演出"),
        ("搞错了 预产期不是三月 是四月初", "预产期明年三月中旬", "预产期明年四月初"),
        ("不对 不是周四是周五", "周四下午要去看牙", "周五下午要去看牙"),
        ("其实是我表姐，不是我姐", "我姐小敏对花生过敏", "我表姐小敏对花生过敏"),
        ("我记错了，是三月", "我四月要去日本", "我三月要去日本"),
        ("不对 初三 我记错了", "我女儿今年上初二，数学不太好", "我女儿今年上初三，数学不太好"),
        ("是狗 打错字了", "我养了一只猫", "我养了一只狗"),
        ("sorry, 42 not 24", "my shoe size is 24", "my shoe size is 42"),
        ("oops fridays i mean", "football is on thursdays", "football is on fridays"),
        ("错了 十八", "闺女十七 学电焊", "闺女十八 学电焊"),
        ("啊 是14号 说错了", "我13号去上海", "我14号去上海"),
        ("actually oisin is 5 not 4", "oisin is 4 and shy", "oisin is 5 and shy"),
        ("sorry, i meant oat milk", "i only drink soy milk", "i only drink oat milk"),
        (
            "no wait gymnastics is wednesdays not tuesdays",
            "mias got gymnastics on tuesdays 4:30",
            "mias got gymnastics on wednesdays 4:30",
        ),
        ("sos not kev its keith", "his brother kev snores", "his brother keith snores"),
        ("sorry meant 61", "my hba1c came back 51", "my hba1c came back 61"),
        ("说错了是61", "我血糖是51", "我血糖是61"),
        (
            "no sorry its the wednesday 16th",
            "my screening is on tuesday 15th at 10am",
            "my screening is on wednesday 16th at 10am",
        ),
        ("不对是周三16号", "周二15号去做眼底检查", "周三16号去做眼底检查"),
        ("no thursday 10th", "gig with dave 9th dec", "gig with dave 10th dec"),
        ("no make that tuesday", "dentist is monday 7th dec", "dentist is tuesday 8th dec"),
        ("不对，是周二", "周一7号看牙", "周二8号看牙"),
        ("sorry, tuesday", "dentist is monday 30th nov at 4", "dentist is tuesday at 4"),
        ("不是五月是六月", "女儿五月三号生日", "女儿六月三号生日"),
        ("不是三年级，是四年级", "乐乐读三年级", "乐乐读四年级"),
        ("不是护士，是药剂师", "我老婆是护士", "我老婆是药剂师"),
        ("改成无锡", "我妈住在苏州", "我妈住在无锡"),
        ("it's not Leeds but York", "my mum lives in Leeds", "my mum lives in York"),
        ("no the 8th", "dentist is monday 7th dec at 4", "dentist is 8th dec at 4"),
        ("viola not cello", "my daughter plays the cello", "my daughter plays the viola"),
        ("it's viola, not cello", "Ada plays the cello", "Ada plays the viola"),
        ("sorry viola not cello, got that wrong", "Ada plays the cello", "Ada plays the viola"),
        ("york not leeds", "I work in leeds", "I work in york"),
        ("是中提琴不是大提琴", "我女儿拉大提琴", "我女儿拉中提琴"),
        ("是中提琴，不是大提琴，我搞混了", "我女儿拉大提琴", "我女儿拉中提琴"),
        ("sorry mabels not a whippet shes a lurcher", "got a whippet mabel", "got a lurcher mabel"),
        ("打错了，是小王", "我同事小黄结婚了", "我同事小王结婚了"),
        ("说错了，是王雷", "我弟弟叫王磊", "我弟弟叫王雷"),
        ("青霉素那个不是我是王阿姨", "我青霉素过敏", "王阿姨青霉素过敏"),
        ("oops wrong name, its Marta not Maria", "Maria moves in", "Marta moves in"),
    ],
)
def test_the_earlier_message_is_said_again_rightly(said: str, earlier: str, again: str) -> None:
    found = correction(said, [earlier])

    assert found is not None and found.text == again
    assert said[found.start : found.end] in said and found.end > found.start


@pytest.mark.parametrize("said", ["I meant Friday not Monday", "it's 9 hens now"])
def test_the_work_for_corrections_is_bounded(said: str) -> None:
    earlier = "Swims on Monday. Keeps 7 hens"
    found = correction if "meant" in said else new_amount
    many = ". ".join(["I meant kites not ropes, it's 4 oaks now"] * MOST_TRIED)

    assert found(said, [earlier]) is not None
    assert found(f"{many}. {said}", [earlier]) is None
    assert found(said, [f"{earlier}. {'Likes tea. ' * (LONGEST // 10)}"]) is None


def test_the_latest_message_that_has_the_wrong_words_is_meant() -> None:
    found = correction("I meant Friday not Monday", ["hi", "swim on Monday", "gym on Monday"])

    assert found is not None and (found.place, found.text) == (1, "swim on Friday")


@pytest.mark.parametrize(
    ("said", "earlier"),
    [
        ("its my cousin", "my sister Ewa has a peanut allergy"),
        ("actually I love it here, not like Leeds", "I moved out in May"),
        ("sorry I'm not well today", "I have a cold"),
        ("definitely not vegan", "my sister is vegan"),
        ("I do not eat meat", "I eat meat on Sundays"),
        ("tea not coffee please", "I drink coffee"),
        ("no no sorry not every day, only when I run", "I take Symbicort every day"),
        ("actually can you make it shorter, not longer", "write a poem about Mars"),
        ("I meant Friday", "Monday or Tuesday is fine"),
        ("我不是说错了吗", "我姐小敏"),
        ("是狗 打错字了", "我养了一只猫和一只兔子，还有一只狗"),
        ("oops fridays i mean", "swim on mondays and yoga tuesdays"),
        ("sorry about my brother, he is loud", "my sister lives in Rome"),
        ("sorry i meant its toms aunt who eats no eggs not tom", "me and tom are off to Rome"),
        ("actually its not tom who drives a bus now he is at the port", "tom cant do friday"),
        ("no i meant thursday for the swimming", "my shift moved from tuesday to friday"),
        ("no i meant thursday for the swimming", "my shift is on tuesday"),
        ("sorry, the dentist on the 20th not the 18th", "the report is due on the 5th"),
        ("我26了，不对，下个月才26，现在25", "我老板非要赶在周五前出货"),
    ],
)
def test_what_names_nothing_of_before_corrects_nothing(said: str, earlier: str) -> None:
    assert correction(said, [earlier]) is None


def test_a_correction_of_a_correction_means_the_message_before_both() -> None:
    found = correction("no 65", ["sorry meant 61", "my hba1c came back 51"])
    assert found is not None and (found.place, found.text) == (1, "my hba1c came back 65")


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("no sorry its the wednesday 16th", "its the wednesday 16th"),
        ("sorry meant 61", "meant 61"),
        ("no thursday 10th", "no thursday 10th"),
        ("不对是周三16号", "是周三16号"),
        ("说错了是61", "是61"),
    ],
)
@pytest.mark.parametrize("before", [(), ("hello there",), ("swim on mondays and tuesdays",)])
def test_a_bare_value_never_becomes_a_memory_of_its_own(
    said: str, heard: str, before: tuple[str, ...]
) -> None:
    told = FakeReader()
    told.hears(said, statement(said, heard, kind="constraint"))
    assert not extract(said, before=before, told=told).candidates


@pytest.mark.parametrize("said", ["不是苏州是无锡", "改成无锡"])
def test_a_bare_correction_of_another_conversation_is_reviewed(said: str) -> None:
    told = FakeReader()
    told.hears(said, statement(said, said))
    (one,) = extract(said, before=("hello there",), told=told).candidates
    assert (one.content, one.quote, one.corrects) == (said, said, True)
    assert one.confidence < 0.5


@pytest.mark.parametrize(
    ("said", "earlier", "again"),
    [
        ("sorry meant 61", "my hba1c came back 51", "my hba1c came back 61"),
        ("说错了是61", "我血糖是51", "我血糖是61"),
    ],
)
def test_a_corrected_value_is_as_sure_and_of_the_same_kind(
    said: str, earlier: str, again: str
) -> None:
    told = FakeReader()
    told.hears(earlier, statement(earlier, earlier, kind="fact"))
    told.hears(again, statement(again, again, kind="task", share=0.7))
    (one,) = extract(said, before=(earlier,), told=told).candidates
    assert (one.content, one.overrules, one.kind) == (again, earlier, "fact")
    assert one.confidence > 0.5


@pytest.mark.parametrize(("conflict", "confidence"), [(0.9, 0.9), (0.2, 0.4)])
def test_a_noun_takes_the_place_of_another_where_the_pair_head_sees_a_conflict(
    conflict: float, confidence: float
) -> None:
    told = FakeReader(conflict=conflict)
    for text in ("i have a cat called Momo", "i have a dog called Momo"):
        told.hears(text, statement(text, text))
    (one,) = extract("correction: dog", before=("i have a cat called Momo",), told=told).candidates
    assert one.content == "i have a dog called Momo"
    assert one.overrules == "i have a cat called Momo"
    assert one.confidence == confidence


@pytest.mark.parametrize(
    ("statement", "value", "rest"),
    [
        ("its toms aunt who eats no eggs not tom", "tom", "its toms aunt who eats no eggs"),
        ("Dot is the van, not my sister", "my sister", "Dot is the van"),
        ("my shift moved from tuesday to friday", "tuesday", ""),
        ("its not tom anymore", "tom", ""),
        ("是乳糖不耐受，不是麸质过敏", "麸质过敏", "是乳糖不耐受"),
        ("开会从周二改到周五", "周二", ""),
        ("I work from 9 to 5", "", ""),
        ("she is not well", "", ""),
        ("theos not coeliac after all", "", ""),
        ("my best friend is really not vegan", "", ""),
    ],
)
def test_a_correction_may_name_the_old_value(statement: str, value: str, rest: str) -> None:
    found, end = old_value(statement)
    assert (found, statement[:end]) == (value, rest or statement)


def test_a_contrast_about_one_person_corrects_nobody_else() -> None:
    made = contrasts("小芳不是对虾过敏，是对芒果过敏")
    assert "小芳对芒果过敏" in [one.corrected("小芳对虾过敏") for one in made]
    assert not any(one.corrected("乐乐才是对虾过敏") for one in made)


def test_a_not_that_lost_its_wrong_words_is_cut_off() -> None:
    assert without_old_value("its Ailsa that cant have dairy not") == (
        "its Ailsa that cant have dairy",
        "",
    )


@pytest.mark.parametrize(
    ("said", "known", "text"),
    [
        ("不对，对花生过敏的是我姐姐", "我弟弟小刚对花生过敏", "我姐姐对花生过敏"),
        ("我姐姐才对花生过敏", "我弟弟小刚对花生过敏", "我姐姐对花生过敏"),
        ("不是，不能吃辣的是我老公", "我不能吃辣", "我老公不能吃辣"),
    ],
)
def test_who_it_really_is_takes_the_place_of_the_wrong_person(
    said: str, known: str, text: str
) -> None:
    assert [one.corrected(known) for one in contrasts(said)] == [text]


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("他八点才吃饭", "我吃饭很快"),
        ("我现在才会游泳", "女儿会游泳"),
        ("爱吃辣的是我老公", "我爱吃辣"),
    ],
)
def test_what_begins_only_now_names_nobody_anew(said: str, known: str) -> None:
    assert not any(one.corrected(known) for one in contrasts(said))


@pytest.mark.parametrize(
    "said", ["我女儿其实不叫朵朵哈，叫多多", "不叫朵朵叫多多", "叫多多，不是朵朵"]
)
def test_a_chinese_name_is_exchanged_in_either_order(said: str) -> None:
    found = renaming(said)
    assert found is not None and (found.wrong, found.right) == ("朵朵", "多多")


@pytest.mark.parametrize(
    ("earlier", "said", "text"),
    [
        (
            "Now Limerick. I came here in 2012",
            "Oi sorry, my finger. I came in 2021",
            "Now Limerick. I came here in 2021",
        ),
        (
            "his bday 14 nov. cake wi digger on",
            "24 nov. fat thumbs",
            "his bday 24 nov. cake wi digger on",
        ),
        (
            "On Wednesday I train small children in judo",
            "The judo it is changed, now it is Monday, the hall gave our time to zumba",
            "On Monday I train small children in judo",
        ),
        (
            "其实我 every Saturday 去独中教鼓",
            "八年了. eh typo, Sunday 才对, Sunday morning, 另外那个时段给人抢掉",
            "其实我 every Sunday 去独中教鼓",
        ),
        (
            "我们广播站每周三中午我播音",
            "哇这个绝 等下 周三是上学期的 现在改周四了 脑子瓦特了",
            "我们广播站每周四中午我播音",
        ),
        (
            "我爸透析，二四六，八点前到",
            "等等我又糊涂了，那是去年的排法，我爸现在是一三五透析",
            "我爸透析，一三五，八点前到",
        ),
        ("我老公要一月底才下船", "不对他又改了船期，二月中，刚发的微信", "我老公要二月中才下船"),
        ("大的九岁 小的四岁", "打错 小的五岁", "大的九岁 小的五岁"),
        ("读书会隔周周二 在图书馆", "读书会其实是周三 我说错了", "读书会隔周周三 在图书馆"),
    ],
)
def test_a_value_is_put_right_where_another_part_of_the_message_tells_of_a_slip(
    earlier: str, said: str, text: str
) -> None:
    found = correction(said, [earlier])
    assert found and found.text == text


@pytest.mark.parametrize(
    ("earlier", "said"),
    [
        ("I'm 25", "sorry, my finger slipped. my sister is 30"),
        ("I ran 5 miles", "fat thumbs lol. 30 minutes"),
        ("周三和周五我有课", "我记混了 周二开会"),
        ("家在三楼 没电梯", "读书会其实是周三 我说错了哈"),
    ],
)
def test_a_slip_told_of_elsewhere_changes_no_other_value(earlier: str, said: str) -> None:
    assert correction(said, [earlier]) is None
