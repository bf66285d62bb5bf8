import pytest

from conversations.models import Conversation, Message
from conversations.recording import conversation_names
from memories.models import Memory, MemoryStatus, Origin, RecallTrace
from memories.writing import direct_writes
from memories.writing.direct_writes import MemoryInput
from ops.access import as_user
from ops.models import User
from ops.queue import worker
from tests.conversations.answers import exchange
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return conversation_names.create(user=alice, external_id=None)


def remember(user: User, content: str) -> Memory:
    prepared = direct_writes.prepare(MemoryInput(content), origin=Origin.USER)
    return direct_writes.remember(prepared, user=user).memory


def say(text: str, conversation: Conversation) -> str:
    done = exchange(text, user=conversation.user, conversation=conversation)
    return done.assistant_message.content


def test_the_demo_assistant_answers_from_what_is_remembered(
    alice: User, conversation: Conversation
) -> None:
    remember(alice, "Has a cat named Biscuit")
    assert "Biscuit" in say("What is my cat called?", conversation)


def test_what_does_not_fit_is_not_answered_with(alice: User, conversation: Conversation) -> None:
    prepared = direct_writes.prepare(
        MemoryInput("Allergic to peanuts", kind="constraint"), origin=Origin.USER
    )
    direct_writes.remember(prepared, user=alice)
    remember(alice, "Has a cat named Biscuit")
    answer = say("What is my cat called?", conversation)
    assert "Biscuit" in answer and "peanuts" not in answer


@pytest.mark.parametrize("question", ["What do you know about me?", "你都记得我什么？"])
def test_asked_what_it_knows_it_tells_everything(
    alice: User, conversation: Conversation, question: str
) -> None:
    for content in ("Has a cat named Biscuit", "喜欢喝绿茶", "Works as a nurse"):
        remember(alice, content)
    answer = say(question, conversation)
    assert all(text in answer for text in ("Biscuit", "喜欢喝绿茶", "nurse"))


@pytest.mark.parametrize("asked", ["what do you know about theo", "Tell me about Theo!"])
def test_asked_about_somebody_it_tells_everything_that_names_them(
    alice: User, conversation: Conversation, asked: str
) -> None:
    of_theo = ["two kids, mia whos 9 and theo 6", "theos allergy test was fine", "theo is dyslexic"]
    of_theo += ["theo broke his arm", "he [theo] had his birthday in october", "theo wants a dog"]
    for content in (*of_theo, "mia likes drawing", "i work at headingley physio"):
        remember(alice, content)
    said = say(asked, conversation)
    assert said.count("\n- ") == len(of_theo)
    assert "drawing" not in said and "headingley" not in said


def test_the_answer_knows_its_recall(alice: User, conversation: Conversation) -> None:
    remember(alice, "Has a cat named Biscuit")
    say("What is my cat called?", conversation)
    trace = RecallTrace.objects.get()
    assert trace.answer == Message.objects.get(role="assistant")


def test_a_conversation_is_called_by_how_it_began(conversation: Conversation) -> None:
    say("Planning a trip to Hangzhou", conversation)
    say("With my cat", conversation)
    conversation.refresh_from_db()
    assert conversation.title == "Planning a trip to Hangzhou"


@pytest.mark.parametrize(
    ("content", "other", "request_text"),
    [
        ("Has a cat", "Likes green tea", "Please forget that I have a cat."),
        ("养猫", "喜欢喝绿茶", "请忘掉我养猫的事"),
    ],
)
def test_asking_to_forget_forgets_and_does_not_repeat_it(
    alice: User,
    conversation: Conversation,
    pairs: FakePairs,
    content: str,
    other: str,
    request_text: str,
) -> None:
    pairs.means(content)
    remember(alice, content)
    kept = remember(alice, other)
    answer = say(request_text, conversation)
    assert content not in answer and "cat" not in answer and "猫" not in answer
    worker.drain()
    assert list(Memory.everything.all()) == [kept]
    conversation.refresh_from_db()
    assert conversation.title == ""


@pytest.mark.parametrize(
    ("content", "request_text"),
    [
        ("Likes coffee", "Forget that I like tea."),
        ("喜欢喝咖啡", "忘掉我喜欢喝茶这件事"),
        ("Sister is vegan", "Forget that I am a nurse."),
    ],
)
def test_what_is_merely_alike_is_not_forgotten(
    alice: User, conversation: Conversation, content: str, request_text: str
) -> None:
    memory = remember(alice, content)
    say(request_text, conversation)
    worker.drain()
    assert list(Memory.everything.all()) == [memory]


def test_asking_to_forget_what_is_not_known_forgets_nothing(
    alice: User, conversation: Conversation
) -> None:
    remember(alice, "Likes green tea")
    say("Forget that I have a motorbike.", conversation)
    worker.drain()
    assert Memory.objects.count() == 1


def test_told_in_one_conversation_known_in_the_next(
    alice: User, conversation: Conversation
) -> None:
    say("I'm a nurse and I live in Leeds.", conversation)
    worker.drain()
    with as_user(alice):
        other = conversation_names.create(user=alice, external_id=None)
    assert "Leeds" in say("Where do I live?", other)


@pytest.mark.parametrize(
    ("waiting", "other", "question", "said"),
    [
        ("Has a cat named Biscuit", "Likes green tea", "What is my cat called?", "your review"),
        ("养了一只叫豆豆的猫", "喜欢喝绿茶", "我的猫叫什么？", "等你确认"),
        ("Has a cat named Biscuit", "", "What do you know about me?", "your review"),
    ],
)
def test_what_waits_for_review_is_said_to_wait_and_not_told(
    alice: User, conversation: Conversation, waiting: str, other: str, question: str, said: str
) -> None:
    if other:
        remember(alice, other)
    memory = remember(alice, waiting)
    Memory.objects.filter(pk=memory.pk).update(status=MemoryStatus.CANDIDATE)
    answer = say(question, conversation)
    assert said in answer and waiting not in answer
    assert "don’t remember" not in answer and "没有记住" not in answer
    Memory.objects.filter(pk=memory.pk).delete()
    assert said not in say(question, conversation)


def test_nothing_is_said_of_a_waiting_memory_that_does_not_fit(
    alice: User, conversation: Conversation
) -> None:
    memory = remember(alice, "Has a cat named Biscuit")
    Memory.objects.filter(pk=memory.pk).update(status=MemoryStatus.CANDIDATE)
    assert "review" not in say("When is my piano lesson?", conversation)
