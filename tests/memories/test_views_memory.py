import pytest
from django.utils.html import strip_tags

from conversations.models import Conversation
from memories.models import (
    Change,
    Memory,
    MemoryStatus,
    MemoryVersion,
    Origin,
    RecallHit,
    Relation,
    RelationKind,
    Source,
)
from ops.models import User
from tests.factories import make_conversation, make_memory, make_trace, make_turn, make_version
from tests.memories.pages import (
    address,
    htmx,
    make_binned,
    make_candidate,
    queries_of,
    signed_in,
    text_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return make_conversation(alice, title="Trip to Hangzhou")


def shown(user: User, memory: Memory, **query: str) -> str:
    response = signed_in(user).get(address("memory_page", memory.public_id, **query))
    assert response.status_code == 200
    return text_of(response)


def test_why_quotes_the_turn_with_the_words_marked(alice: User, conversation: Conversation) -> None:
    turn = make_turn(conversation, "By the way, I am allergic to peanuts, so no satay.")
    memory = make_memory(alice, "Allergic to peanuts", turns=[turn])
    source = Source.objects.get(memory=memory)
    source.quote, source.quote_start = "I am allergic to peanuts", 12
    source.save()
    page = shown(alice, memory)
    assert "You said so." in page
    assert "In a conversation on" in page and "Trip to Hangzhou" not in page
    assert "By the way, <mark>I am allergic to peanuts</mark>, so no satay." in page
    assert conversation.public_id in page


def test_a_quote_is_found_where_its_place_is_wrong(alice: User, conversation: Conversation) -> None:
    memory = make_memory(alice, "Sails", turns=[make_turn(conversation, "Well, I sail a lot")])
    Source.objects.filter(memory=memory).update(quote="I sail", quote_start=2)
    assert "Well, <mark>I sail</mark> a lot" in shown(alice, memory)


def test_a_long_message_is_cut_around_the_quote(alice: User, conversation: Conversation) -> None:
    turn = make_turn(conversation, "a" * 900 + " I sail " + "b" * 900)
    memory = make_memory(alice, "Sails", turns=[turn])
    Source.objects.filter(memory=memory).update(quote="I sail", quote_start=901)
    page = shown(alice, memory)
    assert "<mark>I sail</mark>" in page
    assert "a" * 300 not in page
    assert "…" in page


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        (Origin.USER, "You wrote it here yourself."),
        (Origin.API, "A program wrote it through the API."),
        (Origin.AGENT, "An agent wrote it."),
        (Origin.FILE, "It is in a memory file."),
        (Origin.IMPORT, "It was imported."),
    ],
)
def test_why_says_in_words_who_wrote_it(alice: User, origin: Origin, words: str) -> None:
    assert words in shown(alice, make_memory(alice, "Sails", origin=origin))


def test_why_says_when_its_source_was_forgotten(alice: User) -> None:
    memory = make_memory(alice, "Sails")
    Source.objects.filter(memory=memory).delete()
    assert "Only the memory is left" in shown(alice, memory)


def test_why_counts_how_often_it_was_said(alice: User, conversation: Conversation) -> None:
    turns = [make_turn(conversation, f"I sail, {number}") for number in range(7)]
    memory = make_memory(alice, "Sails", turns=turns)
    assert "And you said so 2 more times." in shown(alice, memory)


def test_history_shows_what_changed_in_words(alice: User) -> None:
    memory = make_memory(alice, "更喜欢简洁的回答")
    make_version(memory, "更喜欢详细的回答", change=Change.EDITED, actor=Origin.USER)
    page = shown(alice, memory)
    assert "更喜欢<del>简洁</del><ins>详细</ins>的回答" in page
    assert "You changed it" in page
    assert address("memory_restore_version", memory.public_id, 1) in page
    assert address("memory_restore_version", memory.public_id, 2) not in page


def test_history_says_where_a_text_was_forgotten(alice: User) -> None:
    memory = make_memory(alice, "Sails")
    make_version(memory, "Sails and rows", change=Change.EDITED)
    memory.versions.filter(number=1).update(content="", erased_at=memory.created_at)
    page = shown(alice, memory)
    assert "This text was forgotten." in page
    assert address("memory_restore_version", memory.public_id, 1) not in page


def test_used_shows_the_answer_and_how_the_score_adds_up(
    alice: User, conversation: Conversation
) -> None:
    turn = make_turn(conversation, "What do I do at sea?", "You sail.")
    memory = make_memory(alice, "Sails")
    trace = make_trace(
        alice,
        "What do I do at sea?",
        hits=[memory.public_id],
        conversation=conversation,
        answer=turn.assistant_message,
    )
    components = {"relevance": 0.44, "recency": 0.19, "importance": 0.1}
    components["raw_relevance"] = 0.9
    RecallHit.objects.filter(trace=trace).update(score=0.73, components=components, in_block=True)
    page = shown(alice, memory, show="used")
    assert "What do I do at sea?" in page
    assert "You sail." in page
    for figure in ("0.44", "+ 0.19", "+ 0.10", "= 0.73"):
        assert figure in page


def test_what_was_recalled_but_did_not_fit_is_no_use(alice: User) -> None:
    memory = make_memory(alice, "Sails")
    make_trace(alice, "Sea?", hits=[memory.public_id])
    assert "Not used yet" in shown(alice, memory, show="used")


def test_related_says_how_each_bears_on_the_other(alice: User) -> None:
    memory = make_memory(alice, "Sails")
    for kind, content in ((RelationKind.SUPPORTS, "Owns a boat"), ("refines", "Sails a dinghy")):
        other = make_memory(alice, content)
        Relation.objects.create(user=alice, memory=other, other=memory, kind=kind, strength=0.8)
    page = shown(alice, memory, show="related")
    assert "Owns a boat" in page
    assert "Both memories agree." in page
    assert "This memory says it more precisely." in page
    assert "strongly linked" in page
    assert "80%" not in strip_tags(page)  # the ids in addresses are random


def test_related_shows_what_it_conflicts_with(alice: User) -> None:
    known = make_memory(alice, "Hates the sea")
    candidate = make_candidate(alice, "Loves the sea", against=known)
    page = shown(alice, candidate, show="related")
    assert "Hates the sea" in page
    assert "This memory may contradict the other one." in page


def test_what_is_being_forgotten_is_not_among_the_related(alice: User) -> None:
    memory = make_memory(alice, "Sails")
    other = make_memory(alice, "Owns a boat", hidden_at=memory.created_at)
    Relation.objects.create(user=alice, memory=memory, other=other, kind="supports")
    assert "Owns a boat" not in shown(alice, memory, show="related")


def test_a_hidden_memory_is_not_there(alice: User) -> None:
    memory = make_memory(alice, "Sails")
    Memory.everything.filter(pk=memory.pk).update(hidden_at=memory.created_at)
    url = address("memory_page", memory.public_id)
    assert signed_in(alice).get(url).status_code == 404


def test_a_binned_memory_can_be_put_back_and_nothing_else(alice: User) -> None:
    memory = make_binned(alice, "Sails")
    page = shown(alice, memory)
    assert "7 days left" in page
    assert address("memory_restore", memory.public_id) in page
    assert address("memory_delete", memory.public_id) not in page


def test_a_candidate_leads_to_its_review_and_can_not_be_switched(alice: User) -> None:
    memory = make_candidate(alice, "Wants a boat")
    page = shown(alice, memory)
    assert address("memory_review") in page
    assert address("memory_disable", memory.public_id) not in page


@pytest.mark.parametrize("show", ["history", "used", "related"])
def test_each_section_asks_as_often_however_much_there_is(
    alice: User, conversation: Conversation, show: str
) -> None:
    memory = make_memory(alice, "Sails", turns=[make_turn(conversation, "I sail")])
    url = address("memory_page", memory.public_id, show=show)

    def fill() -> None:
        for _ in range(3):
            turn = make_turn(conversation, "I sail more")
            make_version(memory, "Sails more", change=Change.EDITED, turns=[turn])
            other = make_memory(alice, "Owns a boat", turns=[turn])
            Relation.objects.create(user=alice, memory=memory, other=other, kind="supports")
            make_trace(alice, "Sea?", hits=[memory.public_id], conversation=conversation)
            RecallHit.objects.update(in_block=True, components={"raw_relevance": 0.9})

    fill()
    few = queries_of(alice, url)
    fill()
    assert queries_of(alice, url) == few


def test_a_section_asked_by_htmx_stands_in_the_page_it_selects_from(alice: User) -> None:
    memory = make_memory(alice, "Sails", status=MemoryStatus.DISABLED)
    url = address("memory_page", memory.public_id, show="related")
    page = text_of(signed_in(alice).get(url, headers=htmx("details")))
    assert 'id="details"' in page


def test_why_says_how_it_was_heard_and_decided(alice: User) -> None:
    memory = make_memory(alice, "Allergic to peanuts")
    MemoryVersion.objects.filter(memory=memory).update(
        reason="newer_value, self.lasting, en.allergy"
    )
    page = shown(alice, memory)
    assert "You said something newer about the same subject." in page
    assert "You told me this about yourself." in page
    assert "Learned by an earlier version of Memory Center." in page
    assert not [code for code in ("newer_value", "self.lasting", "en.allergy") if code in page]


def test_the_history_says_why_each_text_came(alice: User) -> None:
    memory = make_memory(alice, "Lives in Bremen")
    MemoryVersion.objects.filter(memory=memory).update(reason="nothing_like_it")
    make_version(memory, "Lives in Leeds", change=Change.REPLACED)
    MemoryVersion.objects.filter(memory=memory, number=2).update(reason="newer_value, hedged")
    page = shown(alice, memory, show="history")
    assert "I didn’t know anything like it." in page
    assert "You said something newer about the same subject." in page
    assert "You weren’t sure when you said it." in page
