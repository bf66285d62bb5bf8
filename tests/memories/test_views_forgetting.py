import pytest

from conversations.models import Message, Turn
from memories.models import Memory
from ops.models import Kind, Operation, User
from ops.queue import worker
from tests.factories import make_conversation, make_memory, make_trace, make_turn
from tests.memories.pages import address, htmx, make_binned, signed_in, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def turn(alice: User) -> Turn:
    return make_turn(make_conversation(alice, title="At sea"), "I sail a dinghy named Otter")


@pytest.fixture
def memory(alice: User, turn: Turn) -> Memory:
    memory = make_memory(alice, "Sails a dinghy named Otter", turns=[turn])
    make_trace(alice, "boat?", hits=[memory.public_id])
    return memory


def url_of(memory: Memory, **query: str) -> str:
    return address("memory_forget", memory.public_id, **query)


def test_the_page_says_exactly_what_goes_and_what_stays(alice: User, memory: Memory) -> None:
    page = text_of(signed_in(alice).get(url_of(memory)))
    goes, stays = page.split("Will be kept")
    assert "Sails a dinghy named Otter" in goes
    assert "the exchange it came from, in “At sea”" in stays
    assert "Also delete this exchange" in stays


def test_htmx_gets_the_dialog_alone(alice: User, memory: Memory) -> None:
    response = signed_in(alice).get(url_of(memory), headers=htmx("dialogs"))
    assert text_of(response).strip().startswith('<dialog class="dialog" id="forget"')


def test_forgetting_hides_it_at_once_and_leaves_its_messages(
    alice: User, memory: Memory, turn: Turn
) -> None:
    response = signed_in(alice).post(url_of(memory), {"next": "/memory/long-term/"}, follow=True)
    assert "Forgotten" in text_of(response)
    assert "Otter" not in text_of(response)
    assert not Memory.visible.filter(pk=memory.pk).exists()
    assert Operation.objects.get().kind == Kind.FORGET_MEMORY
    assert Message.objects.filter(pk=turn.user_message_id).exists()


def test_its_page_is_gone_when_it_was_forgotten_from_there(alice: User, memory: Memory) -> None:
    page = address("memory_page", memory.public_id)
    client = signed_in(alice)
    form = text_of(client.get(url_of(memory, next=page)))
    assert 'name="next" value="/memory/long-term/"' in form
    client.post(url_of(memory), {"next": "/memory/long-term/"})
    assert client.get(page).status_code == 404


def test_the_turn_goes_too_when_that_is_asked(alice: User, memory: Memory, turn: Turn) -> None:
    signed_in(alice).post(url_of(memory), {"turns": "on"})
    assert not Memory.visible.filter(pk=memory.pk).exists()
    assert not Message.objects.filter(conversation=turn.conversation_id).exists()
    worker.drain()
    assert not Memory.everything.filter(pk=memory.pk).exists()
    assert not Message.everything.filter(conversation=turn.conversation_id).exists()


def test_an_answer_elsewhere_that_repeats_it_is_offered_too(
    alice: User, memory: Memory, turn: Turn
) -> None:
    memory.versions.update(content="I sail a dinghy")
    other = make_turn(turn.conversation, "What do I do at weekends?", "You said: I sail a dinghy!")
    page = text_of(signed_in(alice).get(url_of(memory)))
    assert "1 other message that repeats it word for word" in page
    assert "Also delete these 2 exchanges" in page
    response = signed_in(alice).post(url_of(memory), follow=True)
    assert "Some of what you kept still mentions it: 2 messages" in text_of(response)
    again = make_memory(alice, "I sail a dinghy")
    signed_in(alice).post(url_of(again), {"turns": "on"})
    assert not Message.objects.filter(pk=other.assistant_message_id).exists()


def test_without_sources_in_conversations_no_turn_is_offered(alice: User) -> None:
    page = text_of(signed_in(alice).get(url_of(make_memory(alice, "Sails"))))
    assert "Also delete this exchange" not in page


def test_what_lies_in_the_bin_can_be_forgotten_at_once(alice: User) -> None:
    memory = make_binned(alice, "Sails")
    assert signed_in(alice).post(url_of(memory)).status_code == 302
    assert not Memory.visible.filter(pk=memory.pk).exists()


def test_the_bin_is_emptied_and_nothing_else(alice: User, mallory: User, memory: Memory) -> None:
    binned = [make_binned(alice, f"Had boat {number}") for number in range(2)]
    theirs = make_binned(mallory, "Had a yacht")
    client = signed_in(alice)
    assert "2 memories in the recycle bin" in text_of(client.get(address("bin_empty")))
    client.post(address("bin_empty"))
    left = set(Memory.visible.values_list("pk", flat=True))
    assert left == {memory.pk, theirs.pk}
    assert not left & {one.pk for one in binned}


def test_an_empty_bin_leads_back(alice: User) -> None:
    assert signed_in(alice).get(address("bin_empty"))["Location"] == address("memory_bin")


def test_memories_that_go_with_the_messages_are_named(
    alice: User, memory: Memory, turn: Turn
) -> None:
    gone = make_memory(alice, "[I] get a check every six months", turns=[turn])
    other = make_turn(make_conversation(alice), "I keep bees")
    make_memory(alice, "Keeps bees", turns=[turn, other])
    page = text_of(signed_in(alice).get(url_of(memory)))
    assert "These memories were learned only there and go too:" in page
    assert "I get a check every six months" in page and gone.content not in page
    assert "Keeps bees" not in page
