import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from memories.models import Memory
from ops.models import User
from tests.factories import make_memory

pytestmark = pytest.mark.django_db


def test_a_user_is_exported_and_imported_at_the_terminal(
    alice: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_memory(alice, "Plays chess")
    file = tmp_path / "alice.json"
    call_command("exportuser", "alice", str(file))
    assert json.loads(file.read_bytes())["format"] == "memory_center"
    assert file.stat().st_mode & 0o777 == 0o600
    call_command("importuser", "bob", str(file))
    assert "memories: 1" in capsys.readouterr().out
    assert Memory.objects.get(user__external_id="bob").content == "Plays chess"


def test_what_goes_wrong_is_said(alice: User, tmp_path: Path) -> None:
    file = tmp_path / "there"
    file.write_text("just words")
    with pytest.raises(CommandError, match="is there already"):
        call_command("exportuser", "alice", str(file))
    with pytest.raises(CommandError, match="none of the formats"):
        call_command("importuser", "alice", str(file))
    with pytest.raises(CommandError, match="This user doesn’t exist"):
        call_command("exportuser", "nobody", str(tmp_path / "new"))
