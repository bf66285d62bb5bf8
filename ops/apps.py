from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class OpsConfig(AppConfig):
    name = "ops"
    verbose_name = gettext_lazy("People and operations")

    def ready(self) -> None:
        # These modules register their handlers when they are imported.
        import ops.accounts.access_decisions
        import ops.disk.disk_erasure
        import ops.forgetting.person_forgets
        import ops.transfer.exports
        import ops.user_data
        import ops.webhooks
        import ops.weekly_mail  # noqa: F401
