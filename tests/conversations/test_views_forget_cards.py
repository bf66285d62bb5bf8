"""The card in the chat that asks what of a request to forget shall go."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.models import Conversation, Message, Turn
from conversations.recording import turns
from conversations.recording.turns import MessageInput
from memories.models import Change, Memory
from ops.access import as_user
from ops.accounts import users
from ops.models import Operation, Receipt, User
from ops.queue import worker
from tests.conversations.answers import exchange
from tests.factories import make_conversation, make_episode, make_memory, make_turn, make_version
from tests.memories.pages import htmx, signed_in, text_of
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db

ASKED = "Forget that I live in Brno."


@pytest.fixture
def client(alice: User) -> Client:
    return signed_in(alice)


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return make_conversation(alice)


@pytest.fixture
def told(conversation: Conversation) -> Turn:
    return make_turn(conversation, "I live in Brno.", extracted_at=conversation.created_at)


@pytest.fixture
def memories(alice: User, told: Turn) -> list[Memory]:
    return [
        make_memory(alice, "Lives in Brno", turns=[told]),
        make_memory(alice, "Works in Brno at the hospital"),
        make_memory(alice, "Plays the cello"),
    ]


@pytest.fixture
def asking(conversation: Conversation, memories: list[Memory], pairs: FakePairs) -> Turn:
    """The turn that asks, with a question as its answer."""
    pairs.means("Lives in Brno", share=0.4)
    said = exchange(ASKED, user=conversation.user, conversation=conversation)
    return said.turn


def make_likely(*lines: Memory | Message) -> None:
    """Let the request of the only turn that asks mean these memories and messages."""
    for operation in Operation.objects.filter(payload__forget__isnull=False):
        operation.payload["forget"]["likely_ids"] = [one.public_id for one in lines]
        operation.save(update_fields=["payload"])


def page_of(client: Client, conversation: Conversation) -> str:
    return text_of(client.get(reverse("conversation", args=[conversation.public_id])))


def choose(client: Client, asking: Turn, **given: object) -> int:
    """Answer the card, and its second question with yes."""
    url = reverse("turn_forget", args=[asking.public_id])
    return client.post(url, {"sure": "1", **given}).status_code


def left() -> list[str]:
    return list(Memory.objects.order_by("pk").values_list("content", flat=True))


def test_the_card_lists_what_may_be_meant_and_the_messages(
    client: Client, conversation: Conversation, asking: Turn, memories: list[Memory]
) -> None:
    page = page_of(client, conversation)
    card = page[page.index(f'id="forget-{asking.public_id}"') :].split("</form>")[0]
    assert "Lives in Brno" in card and "Works in Brno at the hospital" in card
    assert "Plays the cello" not in card
    assert "I live in Brno." in card and ASKED in card
    ticked = re.findall(r'name="memory" value="(\w+)" checked', card)
    assert ticked == [memories[0].public_id]


def test_what_the_asking_message_teaches_is_not_ticked(
    client: Client, conversation: Conversation, asking: Turn, memories: list[Memory]
) -> None:
    operation = Operation.objects.get(payload__turn=asking.pk, kind="extract_turn")
    told = operation.payload["forget"]
    told["likely_ids"] = [one.public_id for one in memories[:2]]
    operation.save(update_fields=["payload"])
    assert page_of(client, conversation).count(" checked") == 2
    make_version(memories[0], "Lives in Rome", change=Change.REPLACED, turns=[asking])
    assert page_of(client, conversation).count(" checked") == 1


def test_no_message_title_or_operation_repeats_what_may_go(
    conversation: Conversation, asking: Turn
) -> None:
    conversation.refresh_from_db()
    assert conversation.title == ""
    assert "Brno" not in asking.assistant_message.content
    assert all("Brno" not in f"{one.payload}{one.result}" for one in Operation.objects.all())


def test_what_is_ticked_goes_with_one_receipt_and_the_rest_stays(
    client: Client, conversation: Conversation, asking: Turn, told: Turn, memories: list[Memory]
) -> None:
    home, work, cello = memories
    said = [told.user_message.public_id, asking.user_message.public_id]
    assert choose(client, asking, memory=[home.public_id], message=said) == 302
    assert left() == [work.content, cello.content]
    assert not Message.objects.exists()
    worker.drain()
    receipt = Receipt.objects.get()
    assert (receipt.scope, receipt.chosen, receipt.scan["residue"]) == ("choice", "person", 0)
    assert not Message.everything.exists() and not Turn.everything.exists()
    assert "forget-" not in page_of(client, conversation)


def test_with_memories_alone_the_receipt_says_that_the_messages_were_not_chosen(
    client: Client, asking: Turn, memories: list[Memory]
) -> None:
    choose(client, asking, memory=[memories[0].public_id])
    worker.drain()
    receipt = Receipt.objects.get()
    assert receipt.kept == ["messages"]
    page = text_of(client.get(reverse("receipt_page", args=[receipt.public_id])))
    assert "Kept, as you didn’t choose it" in page and "as you chose" not in page
    assert "you, from a list" in page
    assert "What you chose was forgotten" in page


def test_all_go_only_after_a_second_question(
    client: Client, conversation: Conversation, asking: Turn, told: Turn, memories: list[Memory]
) -> None:
    make_likely(*memories[:2], told.user_message, asking.user_message)
    assert "Forget all: 2 memories, 2 messages and 2 replies…" in page_of(client, conversation)
    url = reverse("turn_forget", args=[asking.public_id])
    for headers in ({}, htmx("bubbles")):
        question = client.post(url, {"all": "1"}, headers=headers)
        assert (
            question.status_code == 200
            and "Forget 2 memories, 2 messages and 2 replies for good" in text_of(question)
        )
        assert "Lives in Brno" in text_of(question) and "I live in Brno." in text_of(question)
    assert "What should be forgotten?" in text_of(client.post(url, {"again": "1"}))
    assert len(left()) == 3 and Message.objects.count() == 4
    assert choose(client, asking, all="1", sure="1") == 302
    assert left() == ["Plays the cello"] and not Message.objects.exists()
    worker.drain()
    receipt = text_of(client.get(reverse("receipt_page", args=[Receipt.objects.get().public_id])))
    assert "<dt>Messages and replies</dt><dd>4</dd>" in receipt
    assert "4 messages and replies" in text_of(client.get(reverse("data_management")))


def test_what_is_ticked_goes_with_one_tap(
    client: Client, conversation: Conversation, asking: Turn, memories: list[Memory]
) -> None:
    url = reverse("turn_forget", args=[asking.public_id])
    ids = [one.public_id for one in memories[:2]]
    client.post(url, {"memory": ids})
    assert len(left()) == 1 and Operation.objects.filter(kind="forget_choice").exists()


def test_the_question_about_all_counts_what_goes_and_leads_back(
    client: Client, conversation: Conversation, asking: Turn, memories: list[Memory]
) -> None:
    url = reverse("turn_forget", args=[asking.public_id])
    question = text_of(client.post(url, {"all": "1"}))
    assert "for good?" in question and 'name="everything"' in question
    assert len(left()) == 3 and not Operation.objects.filter(kind="forget_choice").exists()
    ids = [one.public_id for one in memories[:2]]
    again = text_of(client.post(url, {"memory": ids, "again": "1"}))
    assert re.findall(r'value="(\w+)" checked', again) == ids
    with as_user(conversation.user):
        users.change_settings(user=conversation.user, changes={"language": "zh-hans"})
    assert "要彻底忘记" in text_of(client.post(url, {"all": "1"}))


def test_all_takes_nothing_doubtful_along(
    client: Client, conversation: Conversation, asking: Turn, told: Turn, memories: list[Memory]
) -> None:
    home, work, cello = memories
    make_likely(home, told.user_message)
    page = page_of(client, conversation)
    assert (
        "Others, less likely (2)" in page and "Forget all: 1 memory, 1 message and 1 reply…" in page
    )
    url = reverse("turn_forget", args=[asking.public_id])
    question = text_of(client.post(url, {"all": "1"}))
    assert "Forget 1 memory, 1 message and 1 reply for good" in question
    assert "Works in Brno" not in question and ASKED not in question
    assert choose(client, asking, all="1", sure="1") == 302
    assert left() == [work.content, cello.content]
    assert Message.objects.filter(pk=asking.user_message_id).exists()


def test_where_nothing_is_likely_no_button_takes_all(
    client: Client, conversation: Conversation, asking: Turn, memories: list[Memory]
) -> None:
    make_likely()
    assert 'name="all"' not in page_of(client, conversation)
    assert choose(client, asking, all="1", sure="1") == 422
    assert len(left()) == len(memories)


@pytest.fixture
def quoting(
    conversation: Conversation, alice: User, memories: list[Memory], pairs: FakePairs
) -> Turn:
    """An exchange whose answer quotes the memory, and whose question taught two others."""
    pairs.means(memories[0].content)
    make_memory(alice, "Lived in Brno as a child")  # so that the person is asked
    memories[0].versions.update(content="I live in Brno")
    turn = make_turn(conversation, "We marry in June 2027!", "As you say, I live in Brno.")
    make_memory(alice, "Marries in June 2027", turns=[turn])
    make_memory(alice, "Learns the tango for the wedding", turns=[turn])
    elsewhere = make_turn(conversation, "As I said, June 2027.")
    make_memory(alice, "Likes June", turns=[turn, elsewhere])
    return turn


def test_an_exchange_that_taught_other_memories_is_not_part_of_everything(
    client: Client, conversation: Conversation, quoting: Turn, alice: User
) -> None:
    asking = exchange(ASKED, user=alice, conversation=conversation).turn
    card = page_of(client, conversation).split('<form class="card forget"')[1].split("</form>")[0]
    line = card[card.index(quoting.assistant_message.public_id) :].split("</label>")[0]
    assert "We marry in June 2027!" in line and "As you say" not in line
    assert "Marries in June 2027" in line and "tango" in line and "Likes June" not in line
    url = reverse("turn_forget", args=[asking.public_id])
    question = text_of(client.post(url, {"all": "1"}))
    assert "1 message stays, because more was learned" in question
    assert "Marries in June" not in question and "We marry" not in question
    named = dict(re.findall(r'name="(memory|message)" value="(\w+)"', question))
    assert set(named) == {"memory", "message"}
    assert choose(client, asking, all="1", sure="1") == 302
    worker.drain()
    assert {"Marries in June 2027", "Learns the tango for the wedding"} <= set(left())
    assert Message.objects.filter(pk=quoting.user_message_id).exists()


def test_chosen_alone_it_goes_after_a_question_that_names_every_memory(
    client: Client, conversation: Conversation, quoting: Turn, alice: User
) -> None:
    asking = exchange(ASKED, user=alice, conversation=conversation).turn
    chosen = {"message": [quoting.assistant_message.public_id]}
    url = reverse("turn_forget", args=[asking.public_id])
    question = client.post(url, chosen)
    assert question.status_code == 200
    assert "Forget 2 memories, 1 message and 1 reply for good" in text_of(question)
    for text in ("Learned only from those messages", "Marries in June 2027", "Learns the tango"):
        assert text in text_of(question)
    assert "Likes June" not in text_of(question)
    assert choose(client, asking, sure="1", **chosen) == 302
    worker.drain()
    assert "Marries in June 2027" not in left() and len(left()) == 5


def test_a_failed_forget_stays_in_view_where_it_was_asked(
    client: Client, conversation: Conversation, asking: Turn
) -> None:
    choose(client, asking, all="1", sure="1")
    operation = Operation.objects.get(kind="forget_choice")
    error = "1 traces are left: conversations_summary.text 2 (text)"
    state = {"status": "failed", "finished_at": timezone.now(), "last_error": error}
    Operation.objects.filter(pk=operation.pk).update(**state)
    page = page_of(client, conversation)
    assert "Not erased yet" in page and "in 1 place. Found in: Summaries." in page
    assert "conversations_summary" not in page
    other = make_conversation(conversation.user)
    assert "Not erased yet" not in page_of(client, other)
    Operation.objects.filter(pk=operation.pk).update(status="succeeded")
    assert "Not erased yet" not in page_of(client, conversation)


def test_the_receipt_of_a_forgotten_exchange_stays_until_something_is_said(
    client: Client, conversation: Conversation, quoting: Turn
) -> None:
    message = quoting.user_message.public_id
    client.post(reverse("message_forget", args=[message]), {"cascade": "on"})
    assert "Erasing every trace" in page_of(client, conversation)
    worker.drain()
    assert "Forgotten: show the receipt" in page_of(client, conversation)
    other = make_conversation(conversation.user)
    assert "Forgotten: show the receipt" not in page_of(client, other)
    make_turn(conversation, "Hello again.", "Hello.")
    assert "Forgotten: show the receipt" not in page_of(client, conversation)


def test_a_card_with_nothing_likely_says_so_and_ticks_nothing(
    client: Client, conversation: Conversation, asking: Turn
) -> None:
    make_likely()
    page = page_of(client, conversation)
    assert "I’m not sure which memory you mean" in page and "checked" not in page


def test_where_nothing_is_likely_only_the_nearest_are_open(
    client: Client, alice: User, conversation: Conversation, asking: Turn
) -> None:
    """A weak match of many memories is no reason to read through all of them."""
    many = [make_memory(alice, f"Has been to Brno in {year}") for year in range(2001, 2013)]
    operation = Operation.objects.get(payload__turn=asking.pk, kind="extract_turn")
    told = operation.payload["forget"]
    told |= {"memory_ids": [one.public_id for one in many], "likely_ids": []}
    operation.save(update_fields=["payload"])
    card = page_of(client, conversation).split('<form class="card forget"')[1].split("</form>")[0]
    shown, folded = card.split("<details")
    assert "Closest matches" in shown and shown.count('type="checkbox"') == 3
    others = len(many) - 3 + len(told["message_ids"])
    assert f"Others, less likely ({others})" in folded
    assert folded.count('type="checkbox"') == others and 'name="all"' not in card


@pytest.mark.usefixtures("learned_pairs")
def test_what_was_never_told_ticks_nothing_and_the_answer_says_so(
    client: Client, alice: User, conversation: Conversation
) -> None:
    """No other memory of the same person is taken for what was never told."""
    for text in ("Dan's mum is coming for Christmas", "Dan is a site manager"):
        make_memory(alice, text)
    asked = "Forget Dan's birthday."
    said = exchange(asked, user=alice, conversation=conversation)
    assert said.assistant_message.content.startswith("Nothing was forgotten yet")
    page = page_of(client, conversation)
    card = page.split('<form class="card forget"')[1].split("</form>")[0]
    assert "Dan is a site manager" in card and "checked" not in card
    assert len(left()) == 2


@pytest.mark.usefixtures("learned_pairs")
def test_the_likely_memory_is_ticked_and_the_doubtful_stand_below(
    client: Client, alice: User, conversation: Conversation, memories: list[Memory]
) -> None:
    home, work, _cello = memories
    child = make_memory(alice, "Lived in Brno as a child")
    exchange(ASKED, user=alice, conversation=conversation)
    card = page_of(client, conversation).split('<form class="card forget"')[1].split("</form>")[0]
    likely, doubtful = card.split("Others, less likely")
    assert f'value="{home.public_id}" checked' in likely and "I live in Brno." in likely
    assert work.content in doubtful and child.content in doubtful and "checked" not in doubtful
    assert card.count("checked") == 1 and "not sure which memory" not in card


def test_an_answer_that_repeats_it_is_offered_and_goes_with_its_question(
    client: Client, alice: User, conversation: Conversation, told: Turn, memories: list[Memory]
) -> None:
    memories[0].versions.update(content="I live in Brno")
    said = make_turn(conversation, "Where should I eat?", "As you say, I live in Brno. Try Lokál.")
    make_turn(conversation, "And in Vienna?", "I live in Brnox street.")
    asking = exchange(ASKED, user=alice, conversation=conversation).turn
    page = page_of(client, conversation)
    card = page[page.index(f'id="forget-{asking.public_id}"') :].split("</form>")[0]
    assert said.assistant_message.public_id in card and "street" not in card
    assert told.assistant_message.public_id not in card  # it goes with its question
    repeated = [told.user_message.public_id, said.assistant_message.public_id]
    choose(client, asking, memory=[memories[0].public_id], message=repeated)
    assert not Message.objects.filter(content__icontains="eat?").exists()


def test_the_toast_and_the_receipt_say_that_messages_stay(
    client: Client,
    alice: User,
    conversation: Conversation,
    memories: list[Memory],
    pairs: FakePairs,
) -> None:
    pairs.means(memories[0].content)
    make_memory(alice, "Lived in Brno as a child")  # so that the person is asked
    memories[0].versions.update(content="I live in Brno")
    make_turn(conversation, "Where should I eat?", "As you say, I live in Brno.")
    asking = exchange(ASKED, user=alice, conversation=conversation).turn
    url = reverse("turn_forget", args=[asking.public_id])
    chosen = {"memory": [memories[0].public_id], "message": [asking.user_message.public_id]}
    chosen["sure"] = ["1"]
    page = text_of(client.post(url, chosen, follow=True))
    assert (
        "Some of what you kept still mentions it: 2 messages." in page
        and "no longer shown" not in page
    )
    worker.drain()
    receipt = Receipt.objects.get()
    assert receipt.kept == ["messages"]
    url = reverse("receipt_page", args=[receipt.public_id])
    assert "No trace left, except what was kept: 2 messages" in text_of(client.get(url))


def test_everything_stays_and_it_is_not_asked_again(
    client: Client, conversation: Conversation, asking: Turn
) -> None:
    assert choose(client, asking, keep="1") == 302
    assert len(left()) == 3 and not Operation.objects.filter(kind="forget_choice").exists()
    assert "forget-" not in page_of(client, conversation)
    url = reverse("turn_forget", args=[asking.public_id])
    assert choose(client, asking, all="1") == 302  # as from another tab
    page = text_of(client.post(url, {"all": "1"}, headers=htmx("bubbles")))
    assert "You have answered this already" in page and 'id="bubbles"' in page
    assert len(left()) == 3


@pytest.mark.parametrize(
    ("given", "words"),
    [("memory", "You chose what to forget."), ("keep", "You chose to keep everything.")],
)
def test_once_chosen_the_answer_no_longer_says_that_nothing_was_forgotten(
    client: Client,
    conversation: Conversation,
    asking: Turn,
    memories: list[Memory],
    given: str,
    words: str,
) -> None:
    answered = asking.assistant_message.content
    before = page_of(client, conversation)
    assert answered in before and words not in before
    choose(client, asking, **{given: memories[0].public_id})
    worker.drain()
    after = page_of(client, conversation)
    shown, folded = after[after.index(words) :].split("<details", 1)
    assert answered not in shown and answered in folded.split("</details>")[0]


def test_nothing_ticked_forgets_nothing_and_says_so(client: Client, asking: Turn) -> None:
    url = reverse("turn_forget", args=[asking.public_id])
    response = client.post(url)
    assert response.status_code == 422 and "Nothing was selected" in text_of(response)
    part = client.post(url, headers=htmx("bubbles"))
    assert part.status_code == 422 and text_of(part).strip().startswith('<form class="card forget"')
    assert len(left()) == 3


def test_only_what_was_asked_about_can_be_chosen(
    client: Client, asking: Turn, memories: list[Memory]
) -> None:
    assert choose(client, asking, memory=[memories[2].public_id]) == 422
    assert len(left()) == 3


def test_a_stranger_can_choose_nothing(mallory: User, asking: Turn) -> None:
    assert choose(signed_in(mallory), asking, all="1") == 404
    assert len(left()) == 3


def test_with_htmx_the_messages_are_shown_without_what_went(
    client: Client, asking: Turn, memories: list[Memory]
) -> None:
    url = reverse("turn_forget", args=[asking.public_id])
    chosen = {"memory": [memories[0].public_id], "sure": "1"}
    response = client.post(url, chosen, headers=htmx("bubbles"))
    assert response.headers["HX-Retarget"] == "#bubbles"
    assert 'id="bubbles"' in text_of(response)


def test_a_plain_match_has_gone_and_the_messages_that_say_it_are_offered(
    client: Client, alice: User, conversation: Conversation, told: Turn, pairs: FakePairs
) -> None:
    pairs.means("Lives in Brno")
    make_memory(alice, "Lives in Brno", turns=[told])
    said = exchange(ASKED, user=alice, conversation=conversation)
    assert said.assistant_message.content.startswith("Forgotten.")
    page = page_of(client, conversation)
    assert "Forget the messages that mention it too?" in page
    assert not left()
    assert choose(client, said.turn, all="1", sure="1") == 302
    assert not Message.objects.exists()
    worker.drain()
    receipts = Receipt.objects.order_by("pk")
    assert [(one.scope, one.chosen) for one in receipts] == [
        ("memory", "only_match"),
        ("choice", "person"),
    ]


def test_what_was_learned_beside_a_plain_match_is_offered_and_not_ticked(
    client: Client, alice: User, conversation: Conversation, told: Turn, pairs: FakePairs
) -> None:
    pairs.means("Lives in Brno")
    make_memory(alice, "Lives in Brno", turns=[told])
    interview = make_memory(alice, "Interview on the 3rd of December", turns=[told])
    said = exchange(ASKED, user=alice, conversation=conversation)
    page = page_of(client, conversation)
    assert "Also forget what was said along with it?" in page and "Learned at the same time" in page
    assert f'name="memory" value="{interview.public_id}">' in page
    assert left() == ["Interview on the 3rd of December"]
    assert choose(client, said.turn, memory=interview.public_id) == 302
    assert not left()


def test_the_receipt_unfolds_where_the_choice_was_made(
    client: Client, conversation: Conversation, asking: Turn, memories: list[Memory]
) -> None:
    url = reverse("turn_forget", args=[asking.public_id])
    chosen = {"memory": [memories[0].public_id], "sure": "1"}
    part = client.post(url, chosen, headers=htmx("bubbles"))
    operation = Operation.objects.get(kind="forget_choice")
    look = reverse("forget_receipt", args=[operation.public_id])
    assert f'id="receipt-{operation.public_id}" hx-get="{look}"' in text_of(part)
    assert "Erasing every trace" in text_of(part) and "forget-" not in text_of(part)
    assert re.search(r'<a class="button[^>]* no-js-only" href="">.*Refresh</a>', text_of(part))
    worker.drain()
    receipt = text_of(client.get(look, headers=htmx("x")))
    assert "except what was kept: 2 messages" in receipt and "hx-get" not in receipt
    assert "Brno" not in receipt
    page = page_of(client, conversation)
    assert "Forgotten: show the receipt" in page and "what was kept: 2" not in page


def test_where_the_asking_message_went_too_the_receipt_stands_below_the_others(
    client: Client, conversation: Conversation, asking: Turn, told: Turn, memories: list[Memory]
) -> None:
    make_likely(*memories[:2], told.user_message, asking.user_message)
    url = reverse("turn_forget", args=[asking.public_id])
    response = client.post(url, {"all": "1", "sure": "1"})
    operation = Operation.objects.get(kind="forget_choice")
    assert response.headers["Location"].endswith(f"#receipt-{operation.public_id}")
    worker.drain()
    page = text_of(client.get(response.headers["Location"]))
    assert page.count("0 traces left") == 1 and "Brno" not in page
    assert "0 traces left" not in page_of(client, conversation)


def test_a_plain_match_shows_its_receipt_with_the_question_about_the_messages(
    client: Client, alice: User, conversation: Conversation, told: Turn, pairs: FakePairs
) -> None:
    pairs.means("Lives in Brno")
    make_memory(alice, "Lives in Brno", turns=[told])
    said = exchange(ASKED, user=alice, conversation=conversation)
    worker.drain()
    page = page_of(client, conversation)
    assert "Forgotten: show the receipt" in page
    assert "Forget the messages that mention it too?" in page
    choose(client, said.turn, keep="1")
    page = page_of(client, conversation)
    assert "Forgotten: show the receipt" in page and "Also forget" not in page


def test_a_receipt_of_the_chat_leads_to_its_page_and_is_nobody_elses(
    client: Client, mallory: User, asking: Turn
) -> None:
    choose(client, asking, all="1", sure="1")
    operation = Operation.objects.get(kind="forget_choice")
    look = reverse("forget_receipt", args=[operation.public_id])
    assert client.get(look).headers["Location"] == reverse("data_management")
    worker.drain()
    receipt = Receipt.objects.get()
    assert client.get(look).headers["Location"] == reverse("receipt_page", args=[receipt.public_id])
    assert signed_in(mallory).get(look, headers=htmx("x")).status_code == 404
    other = Operation.objects.exclude(kind="forget_choice").earliest("pk")
    look = reverse("forget_receipt", args=[other.public_id])
    assert client.get(look, headers=htmx("x")).status_code == 404


def test_asking_is_possible_while_memory_is_off(
    client: Client, alice: User, conversation: Conversation, memories: list[Memory]
) -> None:
    with as_user(alice):
        users.change_settings(user=alice, changes={"longterm_enabled": False})
    said = exchange(ASKED, user=alice, conversation=conversation)
    worker.drain()
    assert f'id="forget-{said.turn.public_id}"' in page_of(client, conversation)
    assert choose(client, said.turn, memory=[memories[0].public_id]) == 302
    assert len(left()) == 2


def test_what_a_turn_of_the_api_asks_is_asked_in_the_chat_too(
    client: Client, alice: User, conversation: Conversation, memories: list[Memory]
) -> None:
    with as_user(alice):
        said = turns.record_turn(
            user=alice,
            conversation=conversation,
            user_message=MessageInput(ASKED),
            assistant_message=MessageInput("I will."),
        )
    worker.drain()
    operation = Operation.objects.get(kind="extract_turn", payload__turn=said.turn.pk)
    assert operation.forget_outcome["status"] == "needs_choice"
    assert operation.forget_outcome["memory_ids"] == [one.public_id for one in memories[:2]]
    assert f'id="forget-{said.turn.public_id}"' in page_of(client, conversation)


@pytest.fixture
def beside(alice: User, told: Turn, memories: list[Memory]) -> Memory:
    """A memory that was learned only from the message that also told another."""
    return make_memory(alice, "Can’t take ibuprofen", turns=[told])


def test_a_memory_that_is_kept_stays_when_its_message_goes(
    client: Client, asking: Turn, told: Turn, memories: list[Memory], beside: Memory
) -> None:
    operation = Operation.objects.get(payload__turn=asking.pk, kind="extract_turn")
    operation.payload["forget"]["memory_ids"] = [memories[0].public_id, beside.public_id]
    operation.save(update_fields=["payload"])
    message = told.user_message.public_id
    assert choose(client, asking, memory=[memories[0].public_id], message=[message]) == 302
    assert beside.content in left() and memories[0].content not in left()
    worker.drain()
    beside.refresh_from_db()
    assert beside.hidden_at is None and beside.origin == "user"
    assert [one.quote for one in beside.sources.all()] == [""]
    page = text_of(client.get(reverse("memory_page", args=[beside.public_id])))
    assert "You kept it when its message was forgotten" in page
    receipt = Receipt.objects.get()
    assert receipt.scan["residue"] == 0 and "memories" in receipt.kept
    page = text_of(client.get(reverse("receipt_page", args=[receipt.public_id])))
    assert "you, from a list" in page and "what was learned from it" in page


def test_the_second_question_names_what_stays_without_its_message(
    client: Client, asking: Turn, told: Turn, memories: list[Memory], beside: Memory
) -> None:
    operation = Operation.objects.get(payload__turn=asking.pk, kind="extract_turn")
    operation.payload["forget"]["memory_ids"] = [memories[0].public_id, beside.public_id]
    operation.save(update_fields=["payload"])
    make_likely(memories[0], told.user_message)
    url = reverse("turn_forget", args=[asking.public_id])
    page = text_of(client.post(url, {"all": "1"}, headers=htmx("x")))
    assert "Stays, but no longer quotes you" in page
    assert beside.content in page.split("Stays, but no longer quotes you")[1]
    assert "Learned only from those messages" not in page


def test_a_kept_memory_stays_too_when_a_backup_is_forgotten_again(
    client: Client, alice: User, asking: Turn, told: Turn, memories: list[Memory], beside: Memory
) -> None:
    operation = Operation.objects.get(payload__turn=asking.pk, kind="extract_turn")
    operation.payload["forget"]["memory_ids"] = [memories[0].public_id, beside.public_id]
    operation.save(update_fields=["payload"])
    choose(client, asking, message=[told.user_message.public_id])
    target = Operation.objects.get(kind="forget_choice").payload["ledger"]
    assert beside.public_id in target["kept"]


def test_a_receipt_names_what_was_kept_for_as_long_as_it_is_there(
    client: Client, alice: User, conversation: Conversation, told: Turn, pairs: FakePairs
) -> None:
    pairs.means("Lives in Brno")
    make_memory(alice, "Lives in Brno", turns=[told])
    make_episode(told)
    said = exchange(ASKED, user=alice, conversation=conversation)
    worker.drain()
    url = reverse("receipt_page", args=[Receipt.objects.get().public_id])
    kept = "No trace left, except what was kept: 2 messages, 2 earlier moments"
    page = text_of(client.get(url))
    assert kept in page and "0 traces left" not in page
    week = text_of(client.get(reverse("memory_week")))
    assert "The receipt says what was erased and what was kept." in week
    both = [told.user_message.public_id, said.user_message.public_id]
    choose(client, said.turn, message=both)
    worker.drain()
    page = text_of(client.get(url))
    assert "0 traces left" in page and "Kept, as" not in page


def test_what_went_without_a_question_is_named_by_kind_and_date(
    client: Client, alice: User, conversation: Conversation, told: Turn, pairs: FakePairs
) -> None:
    pairs.means("Lives in Brno")
    make_memory(alice, "Lives in Brno", turns=[told], kind="constraint")
    exchange(ASKED, user=alice, conversation=conversation)
    page = page_of(client, conversation)
    went = re.search(r"Forgotten: ([^<]*)", page)
    assert went and "must know, from " in went[1] and "Brno" not in went[1]
    assert "Erasing every trace" in page and "Forgotten, for good" not in page


def test_no_label_of_learning_stands_under_a_request_to_forget(
    client: Client, conversation: Conversation, asking: Turn
) -> None:
    assert "Learning…" not in page_of(client, conversation)
    worker.drain()
    Message.objects.filter(pk=asking.user_message_id).update(withheld="asked")
    assert "Not kept, as you asked" not in page_of(client, conversation)
