"""What is said in a game isn't learned, however long the game goes on."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from conversations.models import Conversation, Message, RolePlay
from conversations.recording import turns
from conversations.recording.turns import MessageInput
from memories import language_steps
from memories.extraction import types
from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import Extraction, TurnText, Utterance
from memories.learning.turn_context import RolePlays
from memories.models import Memory
from memories.reader import reader
from ops.models import User
from ops.queue import worker
from tests.factories import make_conversation
from tests.memories.extraction.readings import statement
from tests.memories.plain_reader import PlainReader

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
GAMES = {
    "en": (
        "let's do some roleplay, I'm Brother Aldous, a monk in 1327, and you're the abbot",
        "Good morrow, father abbot. The scriptorium is cold today",
        "I have copied three psalters this week",
        "I can't eat pork, it is Lent",
        "My brother Osric lives in the city and sends me honey",
        "I have been blind in one eye since I was a boy",
        "I work in the scriptorium every day until vespers",
        "ok stop the roleplay. btw my real sister Anna lives in Graz",
    ),
    "zh": (
        "我们来角色扮演吧，我是唐朝的一个书生，你是客栈老板",
        "老板，来一间上房",
        "我弟弟住在洛阳，明日要来看我",
        "我小时候右眼就瞎了",
        "我最爱吃桂花糕",
        "我的马叫踏雪",
        "好了不玩了。我其实是学设计的",
    ),
}
REAL = {"en": "Anna lives in Graz", "zh": "学设计"}


@pytest.mark.parametrize("language", GAMES)
def test_a_long_game_teaches_nothing_until_it_ends(language: str) -> None:
    extractor, role_play = BundledExtractor(reader()), RolePlays()
    before: list[Utterance] = []
    kept: list[str] = []
    for text in GAMES[language]:
        said = Utterance(text, NOW)
        turn = role_play.in_context(TurnText(said, Utterance("", NOW), before=tuple(before[-3:])))
        found = extractor.extract(turn)
        role_play.note(said, found.role_play)
        before.append(said)
        kept += [one.content for one in found.candidates]
    assert len(kept) == 1, kept
    assert REAL[language] in kept[0]


@pytest.mark.django_db
def test_the_beginning_of_a_game_is_kept_and_read_with_later_messages(
    alice: User, plain_reader: PlainReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[TurnText] = []

    class Watched(BundledExtractor):
        def extract(self, turn: TurnText) -> Extraction:
            read.append(turn)
            return super().extract(turn)

    monkeypatch.setattr(language_steps, "extractor", lambda: Watched(plain_reader))
    begin, end, real = "you are the abbot, I am a monk", "game over", "I work at a bank"
    plain_reader.hears(begin, flags=["role_begins", "role"])
    plain_reader.hears(end, flags=["role_ends"])
    plain_reader.hears(real, statement(real, real))
    talk = make_conversation(alice)
    said = [begin, *(f"the monk says {n}" for n in range(6)), end, real]
    for text in said:
        _told(talk, text)
    marked = Message.objects.filter(conversation=talk).exclude(role_play="").order_by("number")
    assert [(one.content, one.role_play) for one in marked] == [
        (begin, RolePlay.BEGINS),
        (end, RolePlay.ENDS),
    ]
    for turn in read[1:8]:
        assert turn.in_role_play and turn.before[0].text == begin, turn.user.text
    assert not read[8].in_role_play
    assert [one.text for one in read[8].before] == [*said[5:7], end]  # three messages before it
    assert [one.content for one in Memory.objects.filter(user=alice)] == [real]


def _told(talk: Conversation, text: str) -> None:
    turns.record_turn(
        user=talk.user,
        conversation=talk,
        user_message=MessageInput(text),
        assistant_message=MessageInput("Aye."),
    )
    worker.drain()


def test_messages_of_one_batch_know_of_a_game_that_began_within_it() -> None:
    role_play = RolePlays()
    texts = [TurnText(Utterance(text, NOW), Utterance("", NOW)) for text in ("begin", "a", "b")]
    assert role_play.in_context(texts[0]) is texts[0]
    role_play.note(texts[0].user, RolePlay.BEGINS)
    later = role_play.in_context(texts[1])
    assert later.in_role_play and [one.text for one in later.before] == ["begin"]
    role_play.note(texts[1].user, RolePlay.ENDS)
    assert role_play.in_context(texts[2]) is texts[2]
    assert types.PRECEDING == 3


def test_the_extractor_and_the_messages_have_the_same_states() -> None:
    assert [one.value for one in types.RolePlay] == RolePlay.values
