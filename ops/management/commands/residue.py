import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from foundation.errors import ApplicationError
from ops.access import as_system
from ops.accounts import users
from ops.models import ErasureKey, Operation, User
from ops.residue import erased_hashes, residue_scan
from ops.residue.erased_hashes import Erased
from ops.residue.fingerprints import Fingerprints, TextFingerprints
from ops.residue.residue_scan import Scan, ScannedPerson


class Command(BaseCommand):
    help = (
        "Search for residue: data that should have been erased. With texts, search for them in all "
        "stores, including messages. Otherwise, search for the data of unfinished forget "
        "operations. Prints 0 and exits with 0 if nothing is found."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", help="the external id of a user; default: all users")
        parser.add_argument("--operation", help="an unfinished forget operation (op_…)")
        parser.add_argument(
            "--text", action="append", default=[], help="a text to search for; can be repeated"
        )
        parser.add_argument("--text-file", type=Path, help="a file with one text per line")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        texts = [*options["text"]]
        if options["text_file"]:
            texts += options["text_file"].read_text(encoding="utf-8").splitlines()
        try:
            with as_system():
                user = users.find(options["user"]) if options["user"] else None
                found = _by_text(texts, user) if texts else _by_operation(user, options)
        except ApplicationError as error:
            raise CommandError(error.message) from error
        self._say(found, as_json=options["json"])
        if any(scan.found for scan in found):
            raise SystemExit(1)

    def _say(self, scans: list[Scan], *, as_json: bool) -> None:
        rows = [finding for scan in scans for finding in scan.found]
        if as_json:
            summary = {
                "residue": len(rows),
                "places": sum(scan.places for scan in scans),
                "found": [
                    {"place": finding.place, "row": finding.row, "why": finding.why}
                    for finding in rows
                ],
            }
            self.stdout.write(json.dumps(summary, ensure_ascii=False))
            return
        for finding in rows:
            self.stdout.write(f"{finding.place:<50} {finding.row:<40} {finding.why}")
        self.stdout.write(str(len(rows)))


def _by_text(texts: list[str], user: User | None) -> list[Scan]:
    wanted = Erased(TextFingerprints(texts), {}, ())
    person = ScannedPerson(user.pk if user else None, user.subject if user else None)
    return [residue_scan.scan(person, wanted, by_hand=True)]


def _by_operation(user: User | None, options: dict[str, Any]) -> list[Scan]:
    kept = Operation.objects.filter(pk__in=ErasureKey.objects.values("operation"))
    if options["operation"]:
        kept = kept.filter(public_id=options["operation"])
    if user is not None:
        kept = kept.filter(subject=user.subject)
    found = [_scan_operation(operation) for operation in kept.order_by("pk")]
    person = ScannedPerson(user.pk if user else None, user.subject if user else None)
    nothing = Erased(Fingerprints(b"", []), {}, ())
    return found or [residue_scan.scan(person, nothing)]


def _scan_operation(operation: Operation) -> Scan:
    subject = operation.subject
    user = User.objects.filter(subject=subject).first() if subject else None
    person = ScannedPerson(user.pk if user else None, operation.subject, since=operation.created_at)
    return residue_scan.scan(person, erased_hashes.erased_hashes_of(operation))
