from memcenter.rest.routing import routes
from ops.api import views_keys, views_settings, views_signin_links
from ops.api import views_operations as operations
from ops.api import views_webhooks as webhooks

urlpatterns = routes(
    ("signin-links", views_signin_links.SignInLinksView),
    ("keys", views_keys.KeysView),
    ("keys/<str:key_id>", views_keys.KeyView),
    ("webhooks", webhooks.WebhooksView),
    ("webhooks/<str:webhook_id>", webhooks.WebhookView),
    ("webhooks/<str:webhook_id>/deliveries", webhooks.DeliveriesView),
    ("webhooks/<str:webhook_id>/test", webhooks.WebhookTestView),
    ("memory/settings", views_settings.SettingsView),
    ("memory/ops", operations.OperationsView),
    ("memory/ops/<str:op_id>", operations.OperationView),
    ("memory/ops/<str:op_id>/events", operations.OperationEventsView),
    ("memory/ops/<str:op_id>/retry", operations.OperationRetryView),
    ("memory/ops/<str:op_id>/cancel", operations.OperationCancelView),
    ("memory/ops/<str:op_id>/receipt", operations.OperationReceiptView),
)
