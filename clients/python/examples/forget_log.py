"""Forget memories and keep the receipts, even if this program is restarted.

    python forget_log.py log.db http://127.0.0.1:8000 mc_... ana mem_... mem_...

Three rules keep requests and receipts safe:

- A request is stored with its idempotency key before it is sent. If the answer is lost, the request
  is sent again and executed only once.
- The id of the operation is stored before its events are read.
- A stream of events begins with the current state of the operation, so a restarted program needs no
  earlier events.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import uuid

from memcenter_client import MemoryCenter

SCHEMA = """
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS request (
    key TEXT PRIMARY KEY, memory_ids TEXT NOT NULL, op_id TEXT, status TEXT, receipt TEXT);
"""


class ForgetLog:
    def __init__(self, path: str, *, center: MemoryCenter) -> None:
        self.database = sqlite3.connect(path)
        self.database.executescript(SCHEMA)
        self.center = center

    def ask(self, memory_ids: list[str]) -> None:
        """Store a request; `work` sends it."""
        row = (str(uuid.uuid4()), json.dumps(memory_ids))
        self._write("INSERT INTO request (key, memory_ids) VALUES (?, ?)", row)

    def work(self) -> None:
        """Send all unanswered requests, and follow each operation to its end."""
        unsent = "SELECT key, memory_ids FROM request WHERE op_id IS NULL"
        for key, memory_ids in self.database.execute(unsent).fetchall():
            body = {"scope": "memory", "memory_ids": json.loads(memory_ids)}
            headers = {"Idempotency-Key": key}
            answer = self.center.request("POST", "/memory/forget", body=body, headers=headers)
            values = (answer["op_id"], answer["status"], key)
            self._write("UPDATE request SET op_id = ?, status = ? WHERE key = ?", values)
        unfinished = "SELECT op_id FROM request WHERE op_id IS NOT NULL AND receipt IS NULL"
        for (op_id,) in self.database.execute(unfinished).fetchall():
            self._follow(op_id)

    def _follow(self, op_id: str) -> None:
        for operation in self.center.events(op_id):
            values = (operation["status"], op_id)
            self._write("UPDATE request SET status = ? WHERE op_id = ?", values)
            if operation["status"] == "succeeded":
                receipt = json.dumps(self.center.receipt(op_id))
                self._write("UPDATE request SET receipt = ? WHERE op_id = ?", (receipt, op_id))

    def _write(self, statement: str, values: tuple[str, ...]) -> None:
        with self.database:
            self.database.execute(statement, values)


if __name__ == "__main__":
    path, address, api_key, user_id, *asked = sys.argv[1:]
    with MemoryCenter(address, api_key, user_id) as center:
        log = ForgetLog(path, center=center)
        if asked:
            log.ask(asked)
        log.work()
        for row in log.database.execute("SELECT op_id, status, receipt FROM request"):
            sys.stdout.write(f"{row}\n")
