import json
import secrets
from typing import Any

from django.core.management.base import BaseCommand

from ops.access import as_system
from ops.accounts import keys, users
from ops.models import Role, User, UserSettings

LOGIN = "demo"


class Command(BaseCommand):
    help = "Create the owner's login and an API key on an empty instance, and print them as JSON."

    def handle(self, *args: Any, **options: Any) -> None:
        with as_system():
            if User.objects.exists():
                print(json.dumps({}))
                return
            password = secrets.token_urlsafe(12)
            # An unbound key must not give access to staff, so the owner has no external id.
            user = User.objects.create_user(LOGIN, password, display_name="Demo")
            users.assign_role(user, Role.OWNER)
            UserSettings.objects.create(user=user)
            _, key = keys.create(
                name=keys.OF_FIRST_START,
                scopes=["read", "write", "forget", "export", "signin"],
            )
        print(json.dumps({"login": LOGIN, "password": password, "api_key": key}))
