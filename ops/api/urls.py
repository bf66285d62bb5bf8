from memcenter.rest.base import routes
from ops.api import views
from ops.api import views_operations as operations

urlpatterns = routes(
    ("signin-links", views.SignInLinksView),
    ("keys", views.KeysView),
    ("keys/<str:key_id>", views.KeyView),
    ("webhooks", views.WebhooksView),
    ("webhooks/<str:webhook_id>", views.WebhookView),
    ("webhooks/<str:webhook_id>/deliveries", views.DeliveriesView),
    ("webhooks/<str:webhook_id>/test", views.WebhookTestView),
    ("memory/settings", views.SettingsView),
    ("memory/ops", operations.OperationsView),
    ("memory/ops/<str:op_id>", operations.OperationView),
    ("memory/ops/<str:op_id>/events", operations.OperationEventsView),
    ("memory/ops/<str:op_id>/retry", operations.OperationRetryView),
    ("memory/ops/<str:op_id>/cancel", operations.OperationCancelView),
    ("memory/ops/<str:op_id>/receipt", operations.OperationReceiptView),
)
