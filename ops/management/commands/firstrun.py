import json
import secrets
from typing import Any

from django.core.management.base import BaseCommand

from ops.access import as_system
from ops.models import User, UserSettings
from ops.services import keys

LOGIN = "demo"


class Command(BaseCommand):
    help = "Make the first login and API key on an empty instance; print them as one JSON line."

    def handle(self, *args: Any, **options: Any) -> None:
        with as_system():
            if User.objects.exists():
                print(json.dumps({}))
                return
            password = secrets.token_urlsafe(12)
            user = User.objects.create_user(LOGIN, password, external_id=LOGIN, display_name="Demo")
            UserSettings.objects.create(user=user)
            _, key = keys.create(
                name="first run",
                scopes=["read", "write", "forget", "export", "signin"],
            )
        print(json.dumps({"login": LOGIN, "password": password, "api_key": key}))
