from django.apps import AppConfig


class MemcenterConfig(AppConfig):
    name = "memcenter"

    def ready(self) -> None:
        from memcenter import logs

        logs.watch_slow_queries()
