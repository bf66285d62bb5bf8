"""A memory's versions under whatever is done to it, in any order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from conversations.forgetting import message_forgets as forgetting_messages
from conversations.models import Message, Turn
from foundation.errors import Conflict
from memories.forgetting import memory_forgets
from memories.models import Change, Memory, MemoryStatus, MemoryVersion, Origin, Source
from memories.writing import curation, memory_writes
from memories.writing.curation import Edit
from memories.writing.direct_writes import MemoryInput, Prepared
from memories.writing.memory_writes import Draft, SourceInput
from ops.access import as_user
from ops.accounts import users
from ops.queue import worker
from tests.factories import make_conversation, make_turn

pytestmark = pytest.mark.django_db

VECTOR = np.full((1, 512), 512**-0.5, dtype=np.float32)
_names = itertools.count(1)
_facts = itertools.count(100)
picks = st.integers(0, 9)


class Versions(RuleBasedStateMachine):
    """One memory of one person; `told` holds what each turn that is still there said."""

    def __init__(self) -> None:
        super().__init__()
        self.user = users.find_or_create(f"machine-{next(_names)}")
        self.conversation = make_conversation(self.user)
        self.told: dict[int, str] = {}
        self.forgotten: set[str] = set()
        self.written: set[str] = set()
        self.memory_id = 0
        self._learn(self._statement())

    def _statement(self) -> str:
        return f"Keeps fact number {next(_facts)} in mind"

    def _draft(self, text: str, origin: Origin = Origin.EXTRACTED) -> Draft:
        return Draft(text, "fact", VECTOR, origin=origin)

    def _source(self, text: str) -> SourceInput:
        turn = make_turn(self.conversation, text)
        self.told[turn.pk] = text
        return SourceInput(Origin.EXTRACTED, turn=turn, message=turn.user_message, quote=text)

    def _learn(self, text: str) -> None:
        source = self._source(text)
        with as_user(self.user):
            made = memory_writes.create(self._draft(text), user=self.user, source=source)
        self.memory_id = made.pk

    def _rewrite(self, text: str, *, told: str, change: Change) -> None:
        source = self._source(told)
        candidate = told if change == Change.MERGED else ""
        with as_user(self.user):
            draft = self._draft(text)
            memory_writes.rewrite(
                self.memory, draft, source=source, change=change, candidate_text=candidate
            )

    @property
    def memory(self) -> Memory:
        return Memory.everything.select_related("user").get(pk=self.memory_id)

    def there(self) -> bool:
        return Memory.objects.filter(pk=self.memory_id).exists()

    def gone(self) -> bool:
        return not Memory.everything.filter(pk=self.memory_id).exists()

    def binned(self) -> bool:
        return Memory.visible.filter(pk=self.memory_id, deleted_at__isnull=False).exists()

    @rule()
    @precondition(gone)
    def tell_anew(self) -> None:
        self._learn(self._statement())

    @rule(pick=picks)
    @precondition(lambda self: self.gone() and bool(self.forgotten))
    def tell_again(self, pick: int) -> None:
        text = sorted(self.forgotten)[pick % len(self.forgotten)]
        self.forgotten.discard(text)
        self._learn(text)

    @rule()
    @precondition(there)
    def replace(self) -> None:
        text = self._statement()
        self._rewrite(text, told=text, change=Change.REPLACED)

    @rule()
    @precondition(there)
    def merge(self) -> None:
        text = self._statement()
        self._rewrite(f"{self.memory.content}; {text}", told=text, change=Change.MERGED)

    @rule()
    @precondition(there)
    def reinforce(self) -> None:
        text = self.memory.content
        if "; " not in text and text in self.told.values():
            source = self._source(text)
            with as_user(self.user):
                memory_writes.reinforce(self.memory, source=source)

    @rule()
    @precondition(there)
    def edit(self) -> None:
        text = self._statement()
        self.written.add(text)
        prepared = Prepared(
            MemoryInput(text), self._draft(text, Origin.USER), VECTOR[0], redacted=False
        )
        with as_user(self.user):
            curation.edit(Edit({"content": text}, prepared), user=self.user, memory=self.memory)

    @rule(pick=picks)
    @precondition(there)
    def restore(self, pick: int) -> None:
        versions = list(MemoryVersion.everything.filter(memory=self.memory_id).order_by("number"))
        old = versions[pick % len(versions)]
        with as_user(self.user):
            if old.erased_at is None:
                self._restore(old)
            else:
                with pytest.raises(Conflict):
                    self._restore(old)

    def _restore(self, old: MemoryVersion) -> None:
        memory_writes.restore_version(
            self.memory, number=old.number, text=old.content, vectors=VECTOR, pieces=[]
        )

    @rule()
    @precondition(there)
    def recycle(self) -> None:
        with as_user(self.user):
            curation.recycle(user=self.user, memory=self.memory)

    @rule()
    @precondition(binned)
    def undo(self) -> None:
        with as_user(self.user):
            curation.restore_from_bin(user=self.user, memory=self.memory)

    @rule()
    @precondition(there)
    def switch(self) -> None:
        act = curation.enable if self.memory.status == MemoryStatus.DISABLED else curation.disable
        with as_user(self.user):
            act(user=self.user, memory=self.memory)

    @rule(pick=picks)
    @precondition(lambda self: bool(self.told))
    def forget_a_message(self, pick: int) -> None:
        turn = Turn.objects.get(pk=sorted(self.told)[pick % len(self.told)])
        with as_user(self.user):
            forgetting_messages.forget_message(user=self.user, message=turn.user_message)
        self.forgotten.add(self.told.pop(turn.pk))
        worker.drain()

    @rule()
    @precondition(there)
    def forget_the_memory(self) -> None:
        with as_user(self.user):
            memory_forgets.forget_memory(user=self.user, memory=self.memory)
        worker.drain()
        assert self.gone()

    @invariant()
    def numbers_are_dense(self) -> None:
        rows = MemoryVersion.everything.filter(memory=self.memory_id).order_by("number")
        numbers = list(rows.values_list("number", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))

    @invariant()
    def what_is_shown_is_its_version(self) -> None:
        for memory in Memory.visible.filter(user=self.user):
            version = memory_writes.current_version(memory)
            assert (version.content, version.erased_at) == (memory.content, None)

    @invariant()
    def sources_are_there(self) -> None:
        sources = Source.everything.filter(user=self.user)
        messages = sources.exclude(message=None).values_list("message", flat=True)
        assert set(messages) <= set(Message.objects.values_list("pk", flat=True))
        assert not sources.filter(version__erased_at__isnull=False).exists()
        for version in MemoryVersion.objects.filter(user=self.user, erased_at__isnull=True):
            assert version.sources.exists()

    @invariant()
    def nothing_forgotten_is_said(self) -> None:
        alive = set(self.told.values()) | self.written
        rows = MemoryVersion.everything.filter(user=self.user)
        said = [
            *rows.values_list("content", flat=True),
            *rows.values_list("candidate_text", flat=True),
        ]
        said += Memory.everything.filter(user=self.user).values_list("content", flat=True)
        for text in self.forgotten - alive:
            assert not any(text in one for one in said)


def test_a_memory_and_its_versions_stay_in_order_whatever_is_done() -> None:
    run_machine(
        Versions,
        settings=settings(
            max_examples=4,
            stateful_step_count=8,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],  # a failure is told at once, and not made shorter
            suppress_health_check=list(HealthCheck),
        ),
    )


SCRIPT: list[tuple[str, dict[str, int]]] = [
    ("reinforce", {}),
    ("replace", {}),
    ("merge", {}),
    ("edit", {}),
    ("switch", {}),
    ("switch", {}),
    ("restore", {"pick": 0}),
    ("recycle", {}),
    ("undo", {}),
    ("forget_a_message", {"pick": 0}),
    ("restore", {"pick": 0}),  # erased: it is refused
    ("forget_the_memory", {}),
    ("tell_again", {"pick": 0}),
    ("forget_the_memory", {}),
    ("tell_anew", {}),
]


def test_everything_that_can_be_done_is_done_once() -> None:
    machine = Versions()
    rules = {one.function.__name__: one for one in machine.setup_state().rules}
    assert {name for name, _ in SCRIPT} == set(rules)
    for name, given in SCRIPT:
        assert all(holds(machine) for holds in rules[name].preconditions), name
        rules[name].function(machine, **given)
        for one in machine.setup_state().invariants:
            one.function(machine)
