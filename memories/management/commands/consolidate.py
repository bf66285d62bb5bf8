from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from foundation.errors import ApplicationError, ProviderError
from memories import language_steps, operations
from memories.writing import consolidation
from memories.writing.consolidation import Proposal
from ops.access import as_system, as_user
from ops.accounts import users
from ops.models import User


class Command(BaseCommand):
    help = "Learn from old notes and merge similar old memories, or list possible merges."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", help="the external id of a user; default: all users")
        parser.add_argument("--dry-run", action="store_true", help="only report, change nothing")
        parser.add_argument("--texts", action="store_true", help="with --dry-run: show the texts")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            people = self._people(options["user"])
            if options["dry_run"]:
                joined = sum(self._report(user, texts=options["texts"]) for user in people)
                print(f"{joined} memories would become fewer; nothing was changed")
                return
            for user in people:
                with as_user(user):
                    print(f"{user.subject} {consolidation.request(user=user).public_id}")
        except (ApplicationError, ProviderError) as error:
            raise CommandError(str(error)) from error

    def _people(self, name: str | None) -> Sequence[User]:
        with as_system():
            if name is not None:
                return [users.find(name)]
            return operations.people_to_consolidate(timezone.now())

    def _report(self, user: User, *, texts: bool) -> int:
        with as_user(user):
            groups = consolidation.groups_of(user, now=timezone.now())
        proposals = consolidation.propose(groups, consolidator=language_steps.consolidator())
        for proposal in proposals:
            self._print(user, proposal, texts=texts)
        return sum(len(proposal.memories) for proposal in proposals)

    def _print(self, user: User, proposal: Proposal, *, texts: bool) -> None:
        ids = " ".join(memory.public_id for memory in proposal.memories)
        print(f"{user.subject} {len(proposal.memories)} to 1: {ids}")
        if texts:
            for memory in proposal.memories:
                print(f"    - {memory.content}")
            print(f"    = {proposal.content}")
