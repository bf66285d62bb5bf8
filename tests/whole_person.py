"""Somebody with at least one row in every table of personal data."""

from __future__ import annotations

from django.utils import timezone

from memories.models import DailyNote, Fragment, Memory, MemoryFile, PortraitPhrase
from ops.models import SignIn, User
from tests.ops.test_forgetting import give_everything as give_accounts
from tests.transfer.rich import give_everything


def give_all(user: User) -> None:
    give_accounts(user)
    MemoryFile.objects.filter(user=user).delete()  # both give one of this name
    DailyNote.objects.filter(user=user).delete()
    give_everything(user)
    memory = Memory.objects.filter(user=user)[0]
    Fragment.objects.create(user=user, memory=memory, number=1, text="tea", token_count=1)
    Fragment.objects.create(
        user=user,
        memory=memory,
        version=memory.versions.first(),
        number=2,
        text="tea before",
        token_count=2,
    )
    PortraitPhrase.objects.create(user=user, version=memory.versions.get(number=1), text="tea")
    now = timezone.now()
    SignIn.objects.create(
        user=user, session_key=f"s{user.pk}", device="d", began_at=now, seen_at=now
    )
