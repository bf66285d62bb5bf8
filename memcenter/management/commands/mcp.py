"""An MCP server on stdin and stdout, for agents that start their own server process."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from foundation import env
from memcenter.mcp import server
from memcenter.mcp.server import Trouble, key_of
from ops.models import ApiKey


class Command(BaseCommand):
    help = "Serve the MCP tools over stdio. The API key is read from MEMCENTER_API_KEY."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        text = env.text("MEMCENTER_API_KEY")
        if not text:
            raise CommandError("Set MEMCENTER_API_KEY to a key that begins with mc_.")
        if key_of(text) is None:
            raise CommandError("The key in MEMCENTER_API_KEY is not valid.")
        sys.stderr.write("Memory Center speaks MCP on stdin and stdout.\n")
        server.build(lambda request: _valid_key(text)).run("stdio")


def _valid_key(text: str) -> ApiKey:
    key = key_of(text)
    if key is None:
        raise Trouble("This API key is not valid any more.", code="unauthenticated")
    return key
