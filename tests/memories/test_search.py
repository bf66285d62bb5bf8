import pytest

from conversations.models import Conversation
from conversations.recording import conversation_names, turns
from conversations.recording.turns import MessageInput
from foundation.errors import Invalid
from memories import selectors
from memories.forgetting import memory_forgets
from memories.models import Origin, RecallTrace
from memories.recall import search
from memories.recall.searchable_texts import TYPES, Filters
from memories.writing import curation, direct_writes
from memories.writing.direct_writes import MemoryInput
from ops.accounts import users
from ops.models import User
from ops.queue import worker

pytestmark = pytest.mark.django_db

FILLER = ("The weather is fine", "I went for a walk", "Thanks a lot", "What time is it?")


@pytest.fixture
def conversation(alice: User) -> Conversation:
    conversation = conversation_names.find_or_create(user=alice, reference="c1")
    for said in (*FILLER, "My desk lamp is a model QX77", "我在杭州的一家书店工作"):
        turns.record_turn(
            user=alice,
            conversation=conversation,
            user_message=MessageInput(said),
            assistant_message=MessageInput("I see."),
        )
    worker.drain()
    return conversation


def find(user: User, text: str, *types: str, **filters: object) -> list[search.SearchHit]:
    return search.search(
        search.prepare_query(text),
        user=user,
        types=types or ("message",),
        filters=Filters(**filters),  # type: ignore[arg-type]
    ).results


def test_a_rare_word_finds_its_message_with_its_turn(
    alice: User, conversation: Conversation
) -> None:
    best = find(alice, "Where did I write QX77?")[0]
    assert "QX77" in best.text
    assert best.conversation_id == conversation.public_id
    assert best.user_message_id == best.id
    assert best.assistant_message_id is not None


def test_chinese_is_found_by_chinese_and_by_english(
    alice: User, conversation: Conversation
) -> None:
    assert "书店" in find(alice, "我在哪里工作？")[0].text
    assert "书店" in find(alice, "Which bookshop do I work in?")[0].text


def test_results_are_between_0_and_1_best_first(alice: User, conversation: Conversation) -> None:
    scores = [hit.score for hit in find(alice, "passport")]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_a_longer_list_begins_with_the_shorter_one_and_is_cut_nowhere_else(alice: User) -> None:
    long = conversation_names.find_or_create(user=alice, reference="long")
    for number in range(30):
        turns.record_turn(
            user=alice,
            conversation=long,
            user_message=MessageInput(f"Passport matter number {number}"),
            assistant_message=MessageInput(f"Noted the {number}th."),
        )
    worker.drain()
    ready = search.prepare_query("Which passport matter was number 7?")

    def found(limit: int) -> list[tuple[str, float]]:
        hits = search.search(ready, user=alice, types=("message",), limit=limit).results
        return [(hit.id, hit.score) for hit in hits]

    assert len(found(50)) == 50 and len(found(100)) == 60
    assert found(10) == found(50)[:10] == found(100)[:10]


def test_the_same_question_gives_the_same_answer_to_the_last_digit(
    alice: User, conversation: Conversation
) -> None:
    direct_writes.remember(
        direct_writes.prepare(MemoryInput("Works in a bookshop"), origin=Origin.USER), user=alice
    )
    first, again = (find(alice, "Which bookshop do I work in?", *TYPES) for _ in range(2))
    assert first == again and first


def test_a_switched_off_layer_gives_nothing(alice: User, conversation: Conversation) -> None:
    assert find(alice, "passport", "episode")
    users.change_settings(
        user=alice, changes={"episodic_enabled": False, "longterm_enabled": False}
    )
    assert find(alice, "passport", "episode", "memory", "note") == []
    assert find(alice, "passport", "message")


def test_nothing_of_another_person_is_found(mallory: User, conversation: Conversation) -> None:
    assert find(mallory, "lamp QX77", *TYPES) == []


def test_filters_narrow_memories(alice: User) -> None:
    for content, kind in (("Likes tea", "preference"), ("Tea makes her sleepy", "fact")):
        given = MemoryInput(content, kind=kind, tags=(kind,))
        direct_writes.remember(direct_writes.prepare(given, origin=Origin.USER), user=alice)
    found = {hit.text for hit in find(alice, "tea", "memory")}
    assert found == {"Likes tea", "Tea makes her sleepy"}
    assert [hit.text for hit in find(alice, "tea", "memory", kinds=["fact"])] == [
        "Tea makes her sleepy"
    ]
    assert [hit.text for hit in find(alice, "tea", "memory", tag="preference")] == ["Likes tea"]


def test_the_bin_is_not_searched(alice: User) -> None:
    prepared = direct_writes.prepare(MemoryInput("Likes tea"), origin=Origin.USER)
    memory = direct_writes.remember(prepared, user=alice).memory
    curation.recycle(user=alice, memory=memory)
    assert find(alice, "tea", "memory") == []


def test_a_search_leaves_a_trace(alice: User, conversation: Conversation) -> None:
    result = search.search(search.prepare_query("passport"), user=alice, types=("message",))
    trace = RecallTrace.objects.get(request_id=result.request_id)
    assert trace.query == "passport"
    assert [hit.target_public_id for hit in trace.hits.order_by("rank")] == [
        hit.id for hit in result.results
    ]


def test_a_trace_does_not_show_what_is_being_forgotten(alice: User) -> None:
    prepared = direct_writes.prepare(MemoryInput("Likes tea"), origin=Origin.USER)
    memory = direct_writes.remember(prepared, user=alice).memory
    result = search.search(search.prepare_query("tea"), user=alice, types=("memory",))
    trace = selectors.trace_of(alice, result.request_id)
    assert [hit.target_public_id for hit in selectors.hits_of(trace)] == [memory.public_id]
    memory_forgets.forget_memory(user=alice, memory=memory)
    assert selectors.hits_of(trace) == []


def test_an_unknown_type_is_named(alice: User) -> None:
    with pytest.raises(Invalid) as caught:
        find(alice, "tea", "dreams")
    assert list(caught.value.fields) == ["types"]
