"""A copy of the data folder put back in its place: what was forgotten since is forgotten again."""

from __future__ import annotations

import shutil
import subprocess

from tests.live import Server, server
from tests.scenarios.caller import Caller, until
from tests.scenarios.planted import Words


def copy(source: str, target: str) -> None:
    """As a backup does it, with owners and modes."""
    subprocess.run(["cp", "-a", source, target], check=True)


def test_forgets_are_applied_again_to_a_restored_copy_of_the_data_folder() -> None:
    with server() as one:
        word = Words()
        product = one.start()
        ana, bob = Caller(product, "ana"), Caller(product, "bob")
        ana.tell(f"I'm allergic to {word('turn')}.", conversation="c")
        kept = ana.post("/memory/long_term", content="Likes green tea")
        gone = ana.post("/memory/long_term", content=f"Keeps {word('memory')} in the cellar")
        bob.tell(f"I live in {word('another person')}.")
        one.stop()
        backup = f"{one.data}-backup"
        copy(str(one.data), backup)
        one.start()
        later = ana.post("/memory/long_term", content="Plays chess since yesterday")
        forget_all(ana, bob, memory_id=gone["id"])
        assert word.left(product) == {}
        restore(one, backup)
        done = product.manage("reapply_forgets")
        assert done.stdout.endswith("3 forgotten again\n"), done.stdout + done.stderr
        one.start()
        assert word.left(product) == {}
        found = {row["id"] for row in ana.get("/memory/long_term")["results"]}
        assert found == {kept["id"]} and later["id"] not in found


def forget_all(ana: Caller, bob: Caller, *, memory_id: str) -> None:
    """A memory, a conversation, and a whole person."""
    asked = [
        ana.post("/memory/forget", scope="memory", memory_id=memory_id),
        ana.post("/memory/forget", scope="conversation", conversation_id="c"),
    ]
    ana.finished([one["op_id"] for one in asked])
    accepted = bob.post("/memory/forget", scope="user")
    path, query = f"/memory/ops/{accepted['op_id']}", {"receipt_token": accepted["receipt_token"]}
    anyone = Caller(bob.product, "", headers={"Authorization": ""})
    until(
        lambda: anyone.ask("GET", path, query=query).body["status"] == "succeeded",
        what="the person to be forgotten",
    )


def restore(one: Server, backup: str) -> None:
    """The ledger lies beside the folder: it stays as it is."""
    one.stop()
    shutil.rmtree(one.data)
    copy(backup, str(one.data))
    shutil.rmtree(backup)
