"""About you: the portrait, its marks of what is new, and the sentence that corrects it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from foundation.errors import ProviderError
from memories import language_steps
from memories.extraction.types import Candidate, Decision, KnownMemory, Verdict
from memories.learning import change_previews
from memories.models import Kind, Memory, MemoryStatus, MemoryVersion, Origin
from memories.portrait import MOST, SHOWN, group_of, portrait_of
from memories.projects import find_or_create
from memories.writing import curation
from ops.accounts import users
from ops.models import User, UserSettings
from tests.factories import make_memory
from tests.memories.pages import address, htmx, signed_in, text_of

pytestmark = pytest.mark.django_db


class Replacing:
    name = "model"

    def arbitrate(
        self, candidate: Candidate, known: Sequence[KnownMemory], *, now: datetime
    ) -> Decision:
        return Decision(Verdict.REPLACE, known[0].id)


def portrait(user: User) -> dict[str, list[str]]:
    groups = portrait_of(user)
    return {one.key: [phrase.memory.content for phrase in one.phrases] for one in groups}


@pytest.fixture
def browser(alice: User) -> Client:
    return signed_in(alice)


@pytest.mark.parametrize(
    ("tags", "kind", "group"),
    [
        (["family"], Kind.FACT, "family"),
        (["宠物"], Kind.FACT, "family"),
        (["work"], Kind.FACT, "work"),
        (["学习"], Kind.SKILL, "work"),
        (["food"], Kind.CONSTRAINT, "food"),
        (["answers"], Kind.PREFERENCE, "answers"),
        (["travel"], Kind.TASK, "plans"),
        (["my own tag"], Kind.FACT, "more"),
        ([], Kind.PREFERENCE, "more"),
    ],
)
def test_a_memory_stands_in_the_group_of_its_topic(tags: list[str], kind: Kind, group: str) -> None:
    assert group_of(tags=tags, kind=kind, standing=False) == group


def test_limits_come_first_then_what_is_pinned_then_what_matters(alice: User) -> None:
    make_memory(alice, "Likes soup", tags=["food"], importance=0.9)
    make_memory(alice, "Likes bread", tags=["food"], importance=0.2, pinned=True)
    make_memory(alice, "No nuts", tags=["food"], importance=0.1, kind=Kind.CONSTRAINT)
    assert portrait(alice) == {"food": ["No nuts", "Likes bread", "Likes soup"]}


def test_only_what_holds_about_the_person_is_in_it(alice: User, mallory: User) -> None:
    now = timezone.now()
    make_memory(alice, "Holds")
    make_memory(alice, "Holds until spring", valid_until=now + timedelta(days=60))
    make_memory(alice, "Expired", valid_until=now - timedelta(days=1))
    make_memory(alice, "Disabled", status=MemoryStatus.DISABLED)
    make_memory(alice, "Waits", status=MemoryStatus.CANDIDATE)
    make_memory(alice, "In the bin", deleted_at=now, purge_at=now + timedelta(days=7))
    make_memory(alice, "Being forgotten", hidden_at=now)
    make_memory(alice, "Of a project", project=find_or_create(user=alice, key="atlas"))
    make_memory(mallory, "Somebody else's")
    assert set(portrait(alice)["more"]) == {"Holds", "Holds until spring"}


def test_a_very_long_memory_shows_the_most_telling(alice: User) -> None:
    for number in range(MOST + 5):
        make_memory(alice, f"Fact {number}", importance=number / (MOST + 5))
    (found,) = portrait(alice).values()
    assert len(found) == MOST
    assert found[0] == f"Fact {MOST + 4}"


def test_the_page_links_each_phrase_and_folds_the_rest(alice: User, browser: Client) -> None:
    rows = [make_memory(alice, f"Fact {number}") for number in range(SHOWN + 2)]
    page = text_of(browser.get(address("memory_home")))
    assert all(address("memory_page", row.public_id) in page for row in rows)
    assert "2 more" in page


def test_with_nothing_known_the_page_teaches_how_to_begin(browser: Client) -> None:
    assert "Nothing is remembered yet" in text_of(browser.get(address("memory_home")))


def came_back(user: User) -> None:
    """As if the portrait had been looked at five hours ago, and what is known a day before."""
    seen = timezone.now() - timedelta(hours=5)
    UserSettings.objects.filter(user=user).update(portrait_seen_at=seen)
    Memory.objects.update(created_at=seen - timedelta(days=1))
    MemoryVersion.objects.update(created_at=seen - timedelta(days=1))


def test_what_came_since_the_last_visit_is_marked(alice: User, browser: Client) -> None:
    make_memory(alice, "Known before")
    assert "portrait__new" not in text_of(browser.get(address("memory_home")))
    came_back(alice)
    make_memory(alice, "Came since")
    for _ in range(2):  # a look at it doesn't end the visit
        page = text_of(browser.get(address("memory_home")))
        assert page.count("portrait__new") == 1


def test_the_last_visit_outlives_a_sign_in(alice: User, browser: Client) -> None:
    make_memory(alice, "Known before")
    browser.get(address("memory_home"))
    came_back(alice)
    make_memory(alice, "Came since")
    assert text_of(signed_in(alice).get(address("memory_home"))).count("portrait__new") == 1


def test_what_changed_since_the_last_visit_is_marked_too(alice: User, browser: Client) -> None:
    memory = make_memory(alice, "Lives in Brno")
    make_memory(alice, "Keeps bees")
    browser.get(address("memory_home"))
    came_back(alice)
    edit = curation.prepare_edit({"content": "Lives in Vienna"}, memory=memory, actor=Origin.USER)
    curation.edit(edit, user=alice, memory=memory)
    page = text_of(browser.get(address("memory_home")))
    assert page.count("portrait__new") == 1
    assert '<span class="chip chip--accent portrait__new">Changed</span>' in page


def test_the_preview_asks_the_arbiter_that_the_chat_asks(
    alice: User, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Merging:
        name = "model"

        def arbitrate(
            self, candidate: Candidate, known: Sequence[KnownMemory], *, now: datetime
        ) -> Decision:
            return Decision(Verdict.MERGE, known[0].id, content="Lives in Brno and Vienna")

    make_memory(alice, "I live in Brno", tags=["home"])
    monkeypatch.setattr(language_steps, "arbiter", Merging)
    page = text_of(browser.post(address("memory_tell"), {"said": "I live in Vienna."}))
    assert "Lives in Brno and Vienna" in page
    (change,) = change_previews.preview_changes("I live in Vienna.", user=alice)
    browser.post(address("memory_keep_told"), {"keep": [change.id]})
    assert Memory.objects.get(user=alice).content == "Lives in Brno and Vienna"


def test_a_model_that_does_not_answer_is_told_at_the_field(
    alice: User, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(text: str, *, user: User, about: str) -> list[change_previews.PreviewedChange]:
        raise ProviderError("no answer", retryable=True)

    make_memory(alice, "Keeps bees")
    monkeypatch.setattr(change_previews, "preview_changes", unreachable)
    answer = browser.post(address("memory_tell"), {"said": "I play the oboe."})
    assert answer.status_code == 422
    assert "The model didn’t answer" in text_of(answer)


def test_a_sentence_is_shown_before_it_is_kept(alice: User, browser: Client) -> None:
    make_memory(alice, "I live in Brno", tags=["home"])
    page = text_of(
        browser.post(
            address("memory_tell"), {"said": "I moved to Vienna last month."}, headers=htmx("tell")
        )
    )
    assert "Vienna" in page
    assert list(Memory.objects.values_list("content", flat=True)) == ["I live in Brno"]


def test_what_was_shown_is_kept_with_the_words_that_said_it(alice: User, browser: Client) -> None:
    (change,) = change_previews.preview_changes("I play the oboe.", user=alice)
    answer = browser.post(address("memory_keep_told"), {"keep": [change.id]})
    assert answer.status_code == 302
    memory = Memory.objects.get(user=alice)
    assert "oboe" in memory.content
    assert "oboe" in memory.sources.get().quote


def test_a_saved_correction_is_used_although_it_may_contradict_a_memory(
    alice: User, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = make_memory(alice, "I play the cello.")
    unclear = Decision(Verdict.REVIEW, target_id=known.public_id, reasons=("contradicts",))
    monkeypatch.setattr(type(language_steps.arbiter()), "arbitrate", lambda *_, **__: unclear)
    (change,) = change_previews.preview_changes("I play the oboe.", user=alice)
    page = text_of(browser.post(address("memory_keep_told"), {"keep": [change.id]}, follow=True))
    assert Memory.objects.get(content__contains="oboe").status == MemoryStatus.ACTIVE
    assert "Remembered." in page


def test_a_candidate_of_somebody_else_is_refused(
    alice: User, mallory: User, browser: Client
) -> None:
    (change,) = change_previews.preview_changes("I play the oboe.", user=mallory)
    page = text_of(browser.post(address("memory_keep_told"), {"keep": [change.id]}, follow=True))
    assert not Memory.objects.exists()
    assert "This preview has expired" in page


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("", "Write your correction."),
        ("x" * 1_001, "1,000"),
        ("AKIAQX7VJ5MZR8WKPDNT", "This looks like a secret"),
    ],
)
def test_what_can_not_be_kept_is_told_at_the_field(
    browser: Client, alice: User, said: str, words: str
) -> None:
    make_memory(alice, "Keeps bees")
    answer = browser.post(address("memory_tell"), {"said": said})
    assert answer.status_code == 422
    assert words in text_of(answer).replace("1000", "1,000")


def test_while_memory_is_off_nothing_new_is_kept(alice: User, browser: Client) -> None:
    make_memory(alice, "Keeps bees")
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    answer = browser.post(address("memory_tell"), {"said": "I play the oboe."})
    assert answer.status_code == 422
    assert "Long-term memory is turned off" in text_of(answer)


@pytest.mark.parametrize("said", ["forget my age", "把我的年龄删了"])
def test_a_request_to_forget_leads_to_the_question_and_is_no_fact(
    alice: User, browser: Client, said: str
) -> None:
    memory = make_memory(alice, "My age is 34" if said.isascii() else "我的年龄是34岁")
    page = text_of(browser.post(address("memory_tell"), {"said": said}))
    assert address("memory_forget", memory.public_id) in page
    assert 'name="keep"' not in page
    assert list(Memory.objects.all()) == [memory]


def test_a_request_to_forget_what_is_not_known_says_so(browser: Client, alice: User) -> None:
    make_memory(alice, "Keeps bees")
    page = text_of(browser.post(address("memory_tell"), {"said": "forget my shoe size"}))
    assert 'name="keep"' not in page
    assert "nothing to forget" in page or address("memory_forget", "mem_")[:-10] in page


@pytest.mark.parametrize("said", ["asdfgh", "banana", "thanks", "好的"])
def test_noise_changes_nothing_and_says_so(browser: Client, alice: User, said: str) -> None:
    make_memory(alice, "Keeps bees")
    page = text_of(browser.post(address("memory_tell"), {"said": said}))
    assert "so nothing was saved" in page
    assert 'name="keep"' not in page


def test_what_is_already_known_offers_nothing_to_save(alice: User, browser: Client) -> None:
    make_memory(alice, "I play the oboe.")
    page = text_of(browser.post(address("memory_tell"), {"said": "I play the oboe."}))
    assert "So nothing needs to be changed." in page
    answer = browser.post(address("memory_keep_told"), {}, follow=True)
    assert "Nothing was selected, so nothing was changed." in text_of(answer)


@pytest.mark.parametrize(("kind", "is_chosen"), [(Kind.FACT, True), (Kind.CONSTRAINT, False)])
def test_a_constraint_is_not_overwritten_without_being_selected(
    alice: User, monkeypatch: pytest.MonkeyPatch, kind: str, is_chosen: bool
) -> None:
    make_memory(alice, "I live in Brno", kind=kind)
    monkeypatch.setattr(language_steps, "arbiter", Replacing)
    (change,) = change_previews.preview_changes("I live in Vienna.", user=alice)
    assert change.is_chosen is is_chosen
    both = change_previews.preview_changes("I live in Vienna. I live in Graz.", user=alice)
    assert not any(one.is_chosen for one in both) or len(both) == 1


@pytest.mark.parametrize(
    ("known", "said", "new"),
    [
        (
            "we're doing up a van, her [my sister] name is Doris",
            "Doris is the van, not my sister",
            "we're doing up a van, her [the van] name is Doris",
        ),
        ("she [Dan] can't eat nuts", "It’s Marta who can’t eat nuts", "Marta can't eat nuts"),
        ("she [dan] cant eat nuts", "its dans mum who cant eat nuts, not dan", "dans mum cant"),
        ("two kids (zuri 9 and theo 6)", "zuri is 10 not 9", "two kids (zuri 10 and theo 6)"),
        ("two kids (zuri 9 and theo 6)", "theo is 7 now", "two kids (zuri 9 and theo 7)"),
        ("dan hates mushrooms", "it's dan who hates mushrooms, no wait its theo", "theo hates"),
        ("zuri's a sheep in the play", "zuri is playing a goat, not a sheep", "zuri's a goat in"),
        ("我报的是星海小学", "报星海小学的是乐乐 不是我", "乐乐报的是星海小学"),
        ("下周四[2026-12-03]有家长会", "家长会是下周五 不是下周四", "下周五有家长会"),
    ],
)
def test_a_correction_changes_the_memory_that_has_the_wrong_words(
    alice: User, browser: Client, known: str, said: str, new: str
) -> None:
    memory = make_memory(alice, known)
    changes = change_previews.preview_changes(said, user=alice)
    assert [one.old for one in changes if one.overwrites] == [known]
    assert changes[0].is_chosen
    page = text_of(browser.post(address("memory_tell"), {"said": said}))
    assert "Already known" not in page
    browser.post(address("memory_keep_told"), {"keep": [changes[0].id]})
    memory.refresh_from_db()
    assert memory.content.startswith(new)
    assert memory.status == MemoryStatus.ACTIVE


@pytest.mark.parametrize(
    ("known", "said", "corrected", "added"),
    [
        (
            "Dan can't eat nuts",
            "no, Marta is the one who can't eat nuts, and she lives in Lyon now",
            "Marta can't eat nuts",
            "Lyon",
        ),
        ("Zuri is 9", "Zuri is 10, not 9, and she goes to Park school", "Zuri is 10", "Park"),
        ("I live in Brno", "I live in Vienna now and I work at a school", "Vienna", "school"),
        ("妹妹对花生过敏", "不对，是姐姐对花生过敏，她现在住在里昂", "姐姐对花生过敏", "里昂"),
        ("小雅三岁", "小雅四岁了，而且已经上幼儿园了", "小雅四岁", "幼儿园"),
    ],
)
def test_two_corrections_in_one_sentence_are_both_shown_and_made(
    alice: User, browser: Client, known: str, said: str, corrected: str, added: str
) -> None:
    memory = make_memory(alice, known)
    given = {"said": said, "about": memory.public_id}
    page = text_of(browser.post(address("memory_tell"), given))
    changes = change_previews.preview_changes(said, user=alice, about=memory.public_id)
    assert [one.old for one in changes] == [known, ""]
    assert page.count('name="keep"') == 2 and all(one.is_chosen for one in changes)
    browser.post(address("memory_keep_told"), given | {"keep": [one.id for one in changes]})
    memory.refresh_from_db()
    other = Memory.objects.exclude(pk=memory.pk).get(user=alice)
    assert corrected in memory.content and added not in memory.content
    assert added in other.content and other.status == MemoryStatus.ACTIVE


def test_a_correction_for_which_a_memory_changed_meanwhile_is_not_applied(
    alice: User, browser: Client
) -> None:
    memory = make_memory(alice, "Zuri is 9")
    (change,) = change_previews.preview_changes("Zuri is 10, not 9", user=alice)
    Memory.objects.update(content="Zuri is nearly 9")
    answer = browser.post(address("memory_keep_told"), {"keep": [change.id]}, follow=True)
    assert "preview the changes again" in text_of(answer)
    memory.refresh_from_db()
    assert memory.content == "Zuri is nearly 9"


def test_a_correction_of_somebody_else_is_refused(
    alice: User, mallory: User, browser: Client
) -> None:
    make_memory(mallory, "Zuri is 9")
    (change,) = change_previews.preview_changes("Zuri is 10, not 9", user=mallory)
    answer = browser.post(address("memory_keep_told"), {"keep": [change.id]}, follow=True)
    assert "This preview has expired" in text_of(answer)
    assert Memory.objects.get().content == "Zuri is 9"


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("off to Whitby in August", "the whitby trip is cancelled"),
        ("can't do Friday", "dan can't do fridays is wrong"),
        ("he [my partner] is a sparky", "dan is a site manager, not a sparky"),
    ],
)
def test_memories_that_share_a_name_or_value_are_offered_to_edit_or_forget(
    alice: User, browser: Client, known: str, said: str
) -> None:
    memory, other = make_memory(alice, known), make_memory(alice, "Keeps bees")
    page = text_of(browser.post(address("memory_tell"), {"said": said}))
    assert address("memory_edit", memory.public_id) in page
    assert address("memory_forget", memory.public_id) in page
    assert address("memory_forget", other.public_id) not in page


def test_with_nothing_selected_the_preview_stays(alice: User, browser: Client) -> None:
    make_memory(alice, "Zuri is 9")
    answer = browser.post(address("memory_keep_told"), {"said": "Zuri is 10, not 9"})
    assert answer.status_code == 422
    assert "Nothing was selected, so nothing was changed." in text_of(answer)
    assert "Zuri is 10" in text_of(answer)


def test_a_change_that_must_be_selected_says_why(
    alice: User, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_memory(alice, "I live in Brno", kind=Kind.CONSTRAINT)
    monkeypatch.setattr(language_steps, "arbiter", Replacing)
    page = text_of(browser.post(address("memory_tell"), {"said": "I live in Vienna."}))
    assert "something I always keep in mind" in page
    Memory.objects.update(kind=Kind.FACT, content="I live in Brno by the old mill pond bridge")
    page = text_of(browser.post(address("memory_tell"), {"said": "I live in Vienna."}))
    assert "The old text says more" in page


def known_as(known: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the arbiter say that every candidate is this known memory."""
    same = Decision(Verdict.SKIP, target_id=known.public_id)
    monkeypatch.setattr(type(language_steps.arbiter()), "arbitrate", lambda *_, **__: same)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("我现在一节课260", "钢琴课一节课260是豆豆的课"),
        ("Anna is my sister", "Anna isn't my sister, she's my cousin"),
    ],
)
def test_a_correction_is_not_taken_for_what_is_known(
    alice: User, browser: Client, monkeypatch: pytest.MonkeyPatch, known: str, said: str
) -> None:
    memory = make_memory(alice, known)
    known_as(memory, monkeypatch)
    page = text_of(browser.post(address("memory_tell"), {"said": said}))
    assert "Already known" not in page
    changes = change_previews.preview_changes(said, user=alice)
    exact = change_previews.exact_changes(said, changes, user=alice)
    assert [(one.old, one.new) for one in exact] == [(known, said), ("", said)]
    assert not any(one.is_chosen for one in [*changes, *exact])
    assert page.count('type="radio" name="exact"') == len(exact)
    browser.post(address("memory_keep_told"), {"keep": [exact[0].id], "said": said})
    memory.refresh_from_db()
    assert memory.content == said


def test_a_sentence_kept_as_typed_excludes_the_ticked_changes(
    alice: User, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, alone = make_memory(alice, "我住totem park宿舍"), make_memory(alice, "我现在一个人住")
    said = "搬家了 now在marine drive res"
    ticked = change_previews._exact(
        "now在marine drive", user=alice, memory=alone.public_id, old=alone.content
    )
    typed = change_previews._exact(said, user=alice, memory=room.public_id, old=room.content)
    browser.post(
        address("memory_keep_told"), {"keep": [ticked.id], "exact": [typed.id], "said": said}
    )
    room.refresh_from_db()
    alone.refresh_from_db()
    assert (room.content, alone.content) == (said, "我现在一个人住")


def test_under_a_memory_a_change_of_another_one_is_not_ticked(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    about, other = make_memory(alice, "Rents room 412"), make_memory(alice, "Lives alone")
    change = change_previews.PreviewedChange(
        "1", Verdict.REPLACE, "Lives by the sea", other.content, other.public_id
    )
    monkeypatch.setattr(change_previews, "_change", lambda candidate, *, user: change)
    for under, is_chosen in (("", True), (other.public_id, True), (about.public_id, False)):
        changes = change_previews.preview_changes("I live by the sea", user=alice, about=under)
        overwriting = [one for one in changes if one.new == change.new]
        assert [one.is_chosen for one in overwriting] == [is_chosen], under


def test_a_sentence_is_kept_as_typed_as_a_new_memory_too(alice: User, browser: Client) -> None:
    make_memory(alice, "Anna is my sister")
    said = "Anna isn't my sister"
    exact = change_previews.exact_changes(
        said, change_previews.preview_changes(said, user=alice), user=alice, about="none"
    )
    browser.post(address("memory_keep_told"), {"keep": [exact[-1].id], "said": said})
    assert set(Memory.objects.values_list("content", flat=True)) == {"Anna is my sister", said}


def test_the_memory_under_which_a_sentence_is_typed_is_offered_first(
    alice: User, browser: Client
) -> None:
    make_memory(alice, "Oboe lessons are on Mondays")
    about = make_memory(alice, "Keeps bees")
    page = text_of(browser.get(address("memory_home", about=about.public_id)))
    assert f'name="about" value="{about.public_id}"' in page
    said = "The oboe lessons belong to Theo"
    changes = change_previews.preview_changes(said, user=alice)
    exact = change_previews.exact_changes(said, changes, user=alice, about=about.public_id)
    assert exact[0].memory == about.public_id
    page = text_of(browser.post(address("memory_tell"), {"said": said, "about": about.public_id}))
    assert page.count('type="radio" name="exact"') == len(exact)


@pytest.mark.parametrize(
    ("known", "said", "new"),
    [
        (
            "retinal screening tuesday 15th december at 10am",
            "my retinal screening is wednesday 16th december at 10am not the 15th",
            "my retinal screening is wednesday 16th december at 10am",
        ),
        ("眼底复查在12月15号", "眼底复查是12月16号，不是15号", "眼底复查是12月16号"),
    ],
)
def test_a_sentence_under_a_memory_changes_that_memory(
    alice: User, browser: Client, known: str, said: str, new: str
) -> None:
    memory = make_memory(alice, known)
    make_memory(alice, "Keeps bees")
    (change,) = change_previews.preview_changes(said, user=alice, about=memory.public_id)
    assert (change.memory, change.old) == (memory.public_id, known)
    assert "15" not in change.new and change.is_chosen
    given = {"said": said, "about": memory.public_id}
    page = text_of(browser.post(address("memory_tell"), given))
    assert "not sure that I understood" not in page
    browser.post(address("memory_keep_told"), given | {"keep": [change.id]})
    memory.refresh_from_db()
    assert memory.content == change.new
    assert new[:4] in memory.content


@pytest.mark.parametrize(
    ("known", "said", "new"),
    [
        (
            "from february [2027-02] i close on mondays",
            "not february, march",
            "from march i close on mondays",
        ),
        (
            "he [monday] and his girlfriend amira are expecting",
            "its theo not monday!!",
            "he [theo] and his girlfriend amira are expecting",
        ),
        ("周四下午要去看牙", "不是周四，是周五", "周五下午要去看牙"),
        ("wife: has cmpa", "not wife, baby ottoline", "baby ottoline: has cmpa"),
        ("the dog gary is 3", "not gary, garry", "the dog garry is 3"),
        ("周琳对鸡蛋过敏", "不是周琳，周霖", "周霖对鸡蛋过敏"),
        ("乐乐今年四岁", "不是四岁 五岁了", "乐乐今年五岁"),
    ],
)
def test_a_corrected_value_under_a_memory_changes_only_the_value(
    alice: User, known: str, said: str, new: str
) -> None:
    memory = make_memory(alice, known)
    (change,) = change_previews.preview_changes(said, user=alice, about=memory.public_id)
    assert (change.memory, change.new, change.is_chosen) == (memory.public_id, new, True)


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        ("我女朋友叫小闵 不是小敏", "小敏", "小闵"),
        ("my girlfriend is called Martha, not Marta", "Marta", "Martha"),
    ],
)
def test_a_name_told_wrong_is_put_right_wherever_it_stands(
    alice: User, said: str, wrong: str, right: str
) -> None:
    nuts = make_memory(alice, f"{wrong} can’t eat nuts", kind=Kind.CONSTRAINT)
    other = make_memory(alice, f"We visit {wrong}’s parents in May")
    make_memory(alice, "Keeps bees")
    changes = change_previews.preview_changes(said, user=alice, about=nuts.public_id)
    assert {one.memory: one.new for one in changes if one.overwrites} == {
        one.public_id: one.content.replace(wrong, right) for one in (nuts, other)
    }


def test_a_sentence_under_a_memory_of_somebody_else_changes_nothing(
    alice: User, mallory: User
) -> None:
    theirs = make_memory(mallory, "Keeps bees")
    changes = change_previews.preview_changes(
        "I keep bees in Ulm.", user=alice, about=theirs.public_id
    )
    assert not any(one.overwrites for one in changes)


def test_a_short_sentence_under_a_long_memory_is_not_ticked(alice: User) -> None:
    long = "Type 2 diabetic since 2019, on metformin twice a day with breakfast and dinner"
    memory = make_memory(alice, long)
    changes = change_previews.preview_changes(
        "I am on gliclazide, diabetic", user=alice, about=memory.public_id
    )
    assert changes[0].memory == memory.public_id and not changes[0].is_chosen


def test_what_awaits_review_is_not_the_target_of_a_correction(alice: User) -> None:
    waiting = make_memory(alice, "I play the cello on Mondays", status=MemoryStatus.CANDIDATE)
    active = make_memory(alice, "I play the cello in Brno")
    changes = change_previews.preview_changes("I play the cello on Sundays.", user=alice)
    assert waiting.public_id not in {one.memory for one in changes}
    assert active.status == MemoryStatus.ACTIVE


def test_a_memory_of_somebody_else_is_not_offered(alice: User, mallory: User) -> None:
    theirs = make_memory(mallory, "Keeps bees")
    exact = change_previews.exact_changes("Keeps goats", (), user=alice, about=theirs.public_id)
    assert [one.memory for one in exact] == [""]


@pytest.mark.parametrize(
    ("known", "said", "new"),
    [
        ("我儿子小名豆豆七岁上二年级", "豆豆读一年级不是二年级", "我儿子小名豆豆七岁上一年级"),
        ("[老公]小雅不吃牛肉", "小雅不是我老公 是我闺密", "[闺密]小雅不吃牛肉"),
    ],
)
def test_only_a_value_is_put_in_the_place_of_the_wrong_one(
    alice: User, known: str, said: str, new: str
) -> None:
    make_memory(alice, known)
    changes = change_previews.preview_changes(said, user=alice)
    assert [one.new for one in changes if one.overwrites] == [new]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("她[我闺蜜小雅]老公在深圳上班", "小雅不是我老公 是我闺密"),
        ("豆豆钢琴课每周六", "豆豆在少年宫那边学钢琴不是每周六"),
    ],
)
def test_words_of_another_kind_or_place_are_not_exchanged(
    alice: User, known: str, said: str
) -> None:
    make_memory(alice, known)
    changes = change_previews.preview_changes(said, user=alice)
    assert not [one for one in changes if one.overwrites and one.new != said]
    assert change_previews.exact_changes(said, changes, user=alice)


def test_a_fragment_is_corrected_with_a_preview_like_every_phrase(
    alice: User, browser: Client
) -> None:
    fragment = make_memory(alice, "left one, not the right one", origin=Origin.EXTRACTED)
    assert portrait(alice) == {"fragments": [fragment.content]}
    page = text_of(browser.get(address("memory_home")))
    assert f"?about={fragment.public_id}#tell" in page
    assert address("memory_edit", fragment.public_id) not in page
    said = {"said": "My left knee hurts, not the right one", "about": fragment.public_id}
    assert "My left knee hurts" in text_of(browser.post(address("memory_tell"), said))
    fragment.refresh_from_db()
    assert fragment.content == "left one, not the right one"


def test_the_page_says_what_the_portrait_leaves_out(
    alice: User, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_memory(alice, "Keeps bees")
    url, rest = address("memory_home"), "See all memories"
    assert rest not in text_of(browser.get(url))
    work = find_or_create(user=alice, key="work")
    make_memory(alice, "Uses Postgres", project=work, status=MemoryStatus.DISABLED)
    assert rest not in text_of(browser.get(url))
    make_memory(alice, "Uses Redis", project=work)
    page = text_of(browser.get(url))
    assert "Memories of projects aren’t shown here." in page and rest in page
    assert "most important memories" not in page
    monkeypatch.setattr("memories.portrait.MOST", 1)
    monkeypatch.setattr("memories.pages.about_you.MOST", 1)
    page = text_of(browser.get(url))
    assert "Only the 1 most important memories are shown here." in page and rest in page
