"""Accounts, webhooks, the queue of operations, forgetting and the audit log.

A database that earlier versions made also has the columns `number`, `previous_hash` and `hash` of
`ops_auditevent`. They are optional, and nothing reads or fills them.
"""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.models import F, Q

from foundation import telemetry
from foundation import ids
from foundation.database.schema import (
    ID_FUNCTIONS, index_of_mentions, one_of, row_id, rows_of_one_person, uncompressed, user_key,
    without_statistics,
)

# Migrations of earlier versions; `0002_admin_and_sessions` replaces the last one.
_REPLACED = (
    "0001_initial", "0002_residue_scan", "0003_audit_is_append_only", "0004_revise_memory",
    "0005_build_index_kind", "0006_sign_ins", "0007_no_statistics_of_words", "0008_mentions_of_ids",
    "0009_sign_ins_are_looked_through", "0010_count_dropped_items",
    "0011_operations_waiting_of_a_person", "0012_webhooks_have_ids", "0013_count_forgets",
    "0014_row_security", "0015_failed_operations_are_counted", "0016_second_factors_and_identities",
    "0017_operations_know_their_request", "0018_audit_is_searched", "0019_kinds_of_vectors",
    "0020_decisions_outlive_a_restore", "0021_audit_is_sealed_in_batches",
    "0022_seals_of_older_events", "0023_keys_that_require_a_user", "0024_chosen_is_forgotten",
    "0025_erase_disk", "0026_words_are_stored_plainly", "0027_plural_names", "0028_portrait_visits",
    "0029_operators_are_auditors", "0030_invitations_and_registration",
)

_THEMES = [("auto", "System"), ("light", "Light"), ("dark", "Dark")]
_SCOPES = [
    ("read", "read"), ("write", "write"), ("forget", "forget"), ("export", "export"),
    ("signin", "make sign-in links"), ("admin", "administer"),
]
_ROLES = [("owner", "Owner"), ("auditor", "Auditor"), ("member", "Member")]
_KINDS = [
    ("extract_turn", "Learn from an exchange"),
    ("extract_conversation", "Look at a conversation as a whole"), ("summarize", "Summarize"),
    ("index_episode", "Index an earlier moment"), ("index_memory", "Index a memory"),
    ("revise_memory", "Compare a new memory with the others"), ("consolidate", "Consolidate"),
    ("forget_memory", "Forget a memory"), ("forget_message", "Forget a message"),
    ("forget_conversation", "Forget a conversation"),
    ("clear_conversation", "Clear a conversation"), ("forget_choice", "Forget what was chosen"),
    ("forget_project", "Forget a project"), ("forget_layer", "Delete summaries or earlier moments"),
    ("forget_user", "Forget everything"), ("export_conversation", "Export a conversation"),
    ("export_user", "Export everything"), ("import", "Import"), ("reindex", "Reindex"),
    ("sync_files", "Sync the memory files"), ("deliver_webhook", "Deliver a webhook"),
    ("build_index", "Build an index"), ("move_vectors", "Move the vectors"),
    ("sync_vectors", "Sync the vectors"), ("cleanup", "Clean up"),
    ("erase_disk", "Erase from the disk"),
]
_STATUSES = [
    ("pending", "Waiting"), ("running", "Running"), ("succeeded", "Done"), ("failed", "Failed"),
    ("cancelled", "Cancelled"),
]
_PRIORITIES = [(0, "forgetting"), (10, "turns"), (20, "indexing"), (30, "bulk")]
_OUTCOMES = [
    ("succeeded", "succeeded"), ("retried", "will be retried"), ("failed", "failed"),
    ("expired", "the worker stopped responding"),
]

_PERSONAL = (
    "ops_usersettings", "ops_signinlink", "ops_signin", "ops_secondfactor", "ops_identity",
    "ops_invitation", "ops_export", "ops_import",
)
_PERSONAL_OR_OF_THE_PRODUCT = ("ops_apikey", "ops_webhook", "ops_idempotencyrecord")
_WITHOUT_STATISTICS = {
    "ops_user": ("password", "username", "external_id", "display_name"),
    "ops_usersettings": ("language", "timezone"),
    "ops_apikey": ("name", "prefix", "digest", "scopes"),
    "ops_signinlink": ("digest", "next", "language"),
    "ops_signin": ("session_key", "device"),
    "ops_secondfactor": ("secret", "recovery"),
    "ops_identity": ("issuer", "sub"),
    "ops_invitation": ("digest", "name"),
    "ops_webhook": ("public_id", "url", "events", "secret"),
    "ops_delivery": ("public_id", "event", "body", "error"),
    "ops_idempotencyrecord": ("key", "fingerprint", "body"),
    "ops_export": ("conversation_public_id", "format", "path", "sha256"),
    "ops_import": ("format", "path", "report"),
}
_UNCOMPRESSED = {
    "ops_user": ("display_name",),
    "ops_apikey": ("name",),
    "ops_invitation": ("name",),
    "ops_webhook": ("url",),
    "ops_idempotencyrecord": ("body",),
    "ops_import": ("report",),
}
_MENTIONS = {
    "ops_user": {"password": "text", "display_name": "text"},
    "ops_usersettings": {"timezone": "text"},
    "ops_apikey": {"name": "text"},
    "ops_signinlink": {"next": "text"},
    "ops_signin": {"device": "text"},
    "ops_secondfactor": {"secret": "text", "recovery": "list"},
    "ops_identity": {"issuer": "text"},
    "ops_invitation": {"name": "text"},
    "ops_webhook": {"url": "text", "events": "list", "secret": "text"},
    "ops_delivery": {"event": "text", "body": "json", "error": "text"},
    "ops_attempt": {"error": "text"},
    "ops_idempotencyrecord": {"key": "text", "fingerprint": "text", "body": "json"},
    "ops_modelcall": {
        "operation_public_id": "text", "step": "text", "provider": "text", "model": "text",
    },
    "ops_export": {"conversation_public_id": "text", "path": "text", "sha256": "text"},
    "ops_import": {"path": "text", "report": "json"},
}

# Row security hides the users whom a key has created from the user who deletes the key. So the
# database itself removes the key from their rows.
_KEY_OF_CREATED_USERS = """
ALTER TABLE ops_user
  DROP CONSTRAINT ops_user_created_by_id_c8c2870d_fk_ops_apikey_id,
  ADD CONSTRAINT ops_user_created_by_id_c8c2870d_fk_ops_apikey_id
    FOREIGN KEY (created_by_id) REFERENCES ops_apikey (id)
    ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED
"""

# Nobody changes or deletes events, seals and receipts: the app's roles lack the rights, and
# triggers refuse everybody else. The head of the chain only goes forward.
_APPEND_ONLY = """
CREATE FUNCTION memcenter_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE FUNCTION memcenter_only_forward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'UPDATE' OR NEW.id <> OLD.id OR NEW.number <= OLD.number THEN
    RAISE EXCEPTION '% only goes forward', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER only_forward BEFORE UPDATE OR DELETE ON ops_audithead
  FOR EACH ROW EXECUTE FUNCTION memcenter_only_forward();
DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['ops_auditevent', 'ops_auditseal', 'ops_receipt'] LOOP
    EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON %I'
      ' FOR EACH ROW EXECUTE FUNCTION memcenter_append_only()', name);
    EXECUTE format('CREATE TRIGGER never_truncated BEFORE TRUNCATE ON %I'
      ' FOR EACH STATEMENT EXECUTE FUNCTION memcenter_append_only()', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['memcenter_app', 'memcenter_system'] LOOP
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE'
        ' ON ops_auditevent, ops_auditseal, ops_receipt FROM %I', name);
      EXECUTE format('REVOKE DELETE, TRUNCATE ON ops_audithead FROM %I', name);
      EXECUTE format('REVOKE UPDATE, TRUNCATE ON ops_unsealedevent FROM %I', name);
    END IF;
  END LOOP;
END $$;
"""
_NOT_APPEND_ONLY = """
DROP FUNCTION memcenter_append_only() CASCADE;
DROP FUNCTION memcenter_only_forward() CASCADE;
"""

# Each new event waits to be sealed.
_SEAL_LATER = """
CREATE FUNCTION memcenter_seal_later() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ops_unsealedevent (event_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER seal_later AFTER INSERT ON ops_auditevent
  FOR EACH ROW EXECUTE FUNCTION memcenter_seal_later();
"""
_DO_NOT_SEAL = "DROP FUNCTION memcenter_seal_later() CASCADE"


class Migration(migrations.Migration):
    initial = True
    replaces = [("ops", name) for name in _REPLACED]
    dependencies = [("auth", "0012_alter_user_first_name_max_length")]
    operations = [
        # Accounts
        migrations.CreateModel("User", [
            row_id(),
            ("password", models.CharField(verbose_name="password", max_length=128)),
            ("last_login", models.DateTimeField(verbose_name="last login", blank=True, null=True)),
            ("is_superuser", models.BooleanField(
                verbose_name="superuser status", default=False,
                help_text="Designates that this user has all permissions without "
                "explicitly assigning them.",
            )),
            ("username", models.CharField(
                verbose_name="login name", max_length=150, unique=True, blank=True, null=True
            )),
            ("external_id", models.CharField(
                max_length=64, unique=True, blank=True, null=True, db_collation="C"
            )),
            ("subject", models.UUIDField(unique=True, default=uuid.uuid4, editable=False)),
            ("display_name", models.CharField(max_length=150, blank=True)),
            ("is_active", models.BooleanField(default=True)),
            ("is_staff", models.BooleanField(default=False)),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
            ("session_epoch", models.UUIDField(null=True, editable=False)),
            ("password_version", models.PositiveIntegerField(
                default=0, db_default=0, editable=False
            )),
            ("forgets", models.PositiveIntegerField(default=0, editable=False)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("updated_at", models.DateTimeField(auto_now=True)),
            ("groups", models.ManyToManyField(
                "auth.group", verbose_name="groups", blank=True,
                help_text="The groups this user belongs to. A user will get all permissions "
                "granted to each of their groups.",
                related_name="user_set", related_query_name="user"
            )),
            ("user_permissions", models.ManyToManyField(
                "auth.permission", verbose_name="user permissions", blank=True,
                help_text="Specific permissions for this user.", related_name="user_set",
                related_query_name="user"
            )),
        ], {
            "constraints": [
                models.CheckConstraint(
                    condition=Q(external_id__isnull=True) | Q(is_staff=False),
                    name="staff_has_no_external_id"
                ),
                models.CheckConstraint(
                    condition=Q(external_id__isnull=True) | ~Q(external_id=""),
                    name="external_id_not_empty"
                ),
            ],
        }),
        migrations.CreateModel("UserSettings", [
            row_id(),
            ("user", models.OneToOneField(
                settings.AUTH_USER_MODEL, models.CASCADE, related_name="settings"
            )),
            ("summary_enabled", models.BooleanField(default=True)),
            ("episodic_enabled", models.BooleanField(default=True)),
            ("longterm_enabled", models.BooleanField(default=True)),
            ("confirm_before_remembering", models.BooleanField(default=False)),
            ("language", models.CharField(max_length=16, blank=True)),
            ("timezone", models.CharField(max_length=64, default="UTC")),
            ("theme", models.CharField(max_length=8, default="auto", choices=_THEMES)),
            ("portrait_seen_at", models.DateTimeField(blank=True, null=True)),
            ("portrait_visited_at", models.DateTimeField(blank=True, null=True)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("updated_at", models.DateTimeField(auto_now=True)),
        ], {
            "verbose_name_plural": "user settings",
            "constraints": [one_of("theme", _THEMES, name="settings_theme_known")],
        }),
        migrations.CreateModel("ApiKey", [
            row_id(),
            ("user", user_key(blank=True, null=True, related_name="api_keys")),
            ("name", models.CharField(max_length=100)),
            ("prefix", models.CharField(max_length=16)),
            ("digest", models.CharField(max_length=64, unique=True)),
            ("scopes", ArrayField(models.CharField(max_length=16, choices=_SCOPES))),
            ("requires_user", models.BooleanField(default=False, db_default=False)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("last_used_at", models.DateTimeField(blank=True, null=True)),
            ("expires_at", models.DateTimeField(blank=True, null=True)),
            ("revoked_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "indexes": [models.Index(fields=["user", "created_at"], name="apikey_user")],
        }),
        # Users and keys refer to each other.
        migrations.AddField("user", "created_by", models.ForeignKey(
            "ops.apikey", models.SET_NULL, blank=True, null=True, related_name="created_users"
        )),
        migrations.CreateModel("SignInLink", [
            row_id(),
            ("user", user_key(related_name="signin_links")),
            ("digest", models.CharField(max_length=64, unique=True)),
            ("next", models.CharField(max_length=500, blank=True)),
            ("language", models.CharField(max_length=16, blank=True)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("expires_at", models.DateTimeField()),
            ("used_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "indexes": [models.Index(fields=["user", "expires_at"], name="signinlink_user")],
        }),
        migrations.CreateModel("SignIn", [
            row_id(),
            ("user", user_key(related_name="sign_ins")),
            ("session_key", models.CharField(max_length=40, unique=True)),
            ("device", models.CharField(max_length=40, blank=True)),
            ("began_at", models.DateTimeField()),
            ("seen_at", models.DateTimeField()),
        ], {
            "indexes": [models.Index(fields=["user", "-seen_at"], name="sign_in_user")],
        }),
        migrations.CreateModel("SecondFactor", [
            row_id(),
            ("user", models.OneToOneField(
                settings.AUTH_USER_MODEL, models.CASCADE, related_name="second_factor"
            )),
            ("secret", models.CharField(max_length=64)),
            ("last_step", models.BigIntegerField(default=0)),
            ("recovery", ArrayField(models.CharField(max_length=64), default=list)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
        ]),
        migrations.CreateModel("Identity", [
            row_id(),
            ("user", user_key(related_name="identities")),
            ("issuer", models.CharField(max_length=255)),
            ("sub", models.CharField(max_length=255, db_collation="C")),
            ("created_at", models.DateTimeField(auto_now_add=True)),
        ], {
            "verbose_name_plural": "identities",
            "constraints": [
                models.UniqueConstraint(fields=("sub", "issuer"), name="identity_once"),
                models.UniqueConstraint(fields=("user", "issuer"), name="identity_of_user"),
            ],
        }),
        migrations.CreateModel("Invitation", [
            row_id(),
            ("user", user_key(related_name="invitations")),
            ("digest", models.CharField(max_length=64, unique=True)),
            ("name", models.CharField(max_length=100, blank=True)),
            ("role", models.CharField(max_length=16, choices=_ROLES)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("expires_at", models.DateTimeField()),
        ], {
            "indexes": [models.Index(fields=["user", "expires_at"], name="invitation_user")],
            "constraints": [one_of("role", _ROLES, name="invitation_role_known")],
        }),
        migrations.CreateModel("Instance", [
            row_id(),
            ("deliveries_held_at", models.DateTimeField(blank=True, null=True)),
            ("registration_open", models.BooleanField(null=True)),
        ], {
            "constraints": [
                models.CheckConstraint(condition=Q(pk=1), name="instance_is_one"),
            ],
        }),

        # Webhooks
        migrations.CreateModel("Webhook", [
            row_id(),
            ("public_id", models.CharField(max_length=40, unique=True, default=ids.webhook_id)),
            ("user", user_key(blank=True, null=True)),
            ("api_key", models.ForeignKey("ops.apikey", models.CASCADE, blank=True, null=True)),
            ("url", models.URLField(max_length=500)),
            ("events", ArrayField(models.CharField(max_length=40))),
            ("secret", models.CharField(max_length=200)),
            ("is_active", models.BooleanField(default=True)),
            ("version", models.PositiveIntegerField(default=1, db_default=1)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
        ], {
            "indexes": [models.Index(fields=["user"], name="webhook_user")],
        }),
        migrations.CreateModel("Delivery", [
            row_id(),
            ("public_id", models.CharField(max_length=40, unique=True, default=ids.delivery_id)),
            ("webhook", models.ForeignKey(
                "ops.webhook", models.CASCADE, related_name="deliveries"
            )),
            ("event", models.CharField(max_length=40)),
            ("subject", models.UUIDField(null=True)),
            ("body", models.JSONField(default=dict)),
            ("status_code", models.PositiveSmallIntegerField(blank=True, null=True)),
            ("error", models.CharField(max_length=200, blank=True)),
            ("attempts", models.PositiveSmallIntegerField(default=0)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("delivered_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "verbose_name_plural": "deliveries",
        }),

        # Operations and requests
        migrations.CreateModel("Operation", [
            row_id(),
            ("public_id", models.CharField(max_length=40, unique=True, default=ids.operation_id)),
            ("kind", models.CharField(max_length=32, choices=_KINDS)),
            ("subject", models.UUIDField(blank=True, null=True)),
            ("status", models.CharField(max_length=16, default="pending", choices=_STATUSES)),
            ("priority", models.SmallIntegerField(default=10, choices=_PRIORITIES)),
            ("attempt", models.PositiveSmallIntegerField(default=0)),
            ("max_attempts", models.PositiveSmallIntegerField(default=8)),
            ("lease_until", models.DateTimeField(blank=True, null=True)),
            ("run_after", models.DateTimeField()),
            ("dedupe_key", models.CharField(max_length=100, blank=True, null=True)),
            ("serial_key", models.CharField(max_length=64, blank=True, null=True)),
            ("payload", models.JSONField(default=dict)),
            ("result", models.JSONField(default=dict)),
            ("steps_done", models.JSONField(default=list)),
            ("progress_done", models.PositiveIntegerField(default=0)),
            ("progress_total", models.PositiveIntegerField(default=0)),
            ("progress_step", models.CharField(max_length=50, blank=True)),
            ("last_error", models.CharField(max_length=500, blank=True)),
            ("requested_by_key", models.BigIntegerField(blank=True, null=True)),
            ("request_id", models.CharField(
                max_length=64, blank=True, default=telemetry.request_id, db_default=""
            )),
            ("token_digest", models.CharField(max_length=64, unique=True, blank=True, null=True)),
            ("token_expires_at", models.DateTimeField(blank=True, null=True)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("updated_at", models.DateTimeField(auto_now=True)),
            ("finished_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "indexes": [
                models.Index(
                    fields=["priority", "run_after"], condition=Q(status="pending"),
                    name="operation_due"
                ),
                models.Index(
                    fields=["lease_until"], condition=Q(status="running"), name="operation_leases"
                ),
                models.Index(
                    fields=["kind", "-id"], condition=Q(status="failed"), name="operation_failed"
                ),
                models.Index(fields=["subject", "-id"], name="operation_subject"),
                models.Index(
                    fields=["subject", "priority", "run_after"], condition=Q(status="pending"),
                    name="operation_waiting"
                ),
            ],
            "constraints": [
                one_of("kind", _KINDS, name="operation_kind_known"),
                one_of("status", _STATUSES, name="operation_status_known"),
                models.CheckConstraint(
                    condition=(
                        Q(lease_until__isnull=False, status="running")
                        | ~Q(status="running") & Q(lease_until__isnull=True)
                    ),
                    name="operation_running_has_lease"
                ),
                models.CheckConstraint(
                    condition=Q(attempt__lte=F("max_attempts")), name="operation_attempts_bounded"
                ),
                models.UniqueConstraint(
                    fields=("dedupe_key",), condition=Q(status="pending"), name="operation_dedupe"
                ),
                models.UniqueConstraint(
                    fields=("serial_key",), condition=Q(status="running"), name="operation_serial"
                ),
            ],
        }),
        migrations.CreateModel("Attempt", [
            row_id(),
            ("operation", models.ForeignKey(
                "ops.operation", models.CASCADE, related_name="attempts"
            )),
            ("number", models.PositiveSmallIntegerField()),
            ("started_at", models.DateTimeField(auto_now_add=True)),
            ("finished_at", models.DateTimeField(blank=True, null=True)),
            ("outcome", models.CharField(max_length=16, blank=True, null=True, choices=_OUTCOMES)),
            ("error", models.CharField(max_length=500, blank=True)),
        ], {
            "constraints": [
                models.UniqueConstraint(fields=("operation", "number"), name="attempt_number"),
            ],
        }),
        migrations.CreateModel("IdempotencyRecord", [
            row_id(),
            ("user", user_key(null=True)),
            ("api_key", models.ForeignKey("ops.apikey", models.CASCADE)),
            ("key", models.CharField(max_length=200)),
            ("fingerprint", models.CharField(max_length=64)),
            ("status_code", models.PositiveSmallIntegerField(blank=True, null=True)),
            ("body", models.JSONField(blank=True, null=True)),
            ("body_erased", models.BooleanField(default=False)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("expires_at", models.DateTimeField()),
        ], {
            "indexes": [
                models.Index(fields=["user"], name="idempotency_user"),
                models.Index(fields=["expires_at"], name="idempotency_expiry"),
            ],
            "constraints": [
                models.UniqueConstraint(fields=("api_key", "key"), name="idempotency_key_once"),
            ],
        }),
        migrations.CreateModel("ModelCall", [
            row_id(),
            ("subject", models.UUIDField(null=True)),
            ("operation_public_id", models.CharField(max_length=40, blank=True)),
            ("step", models.CharField(max_length=30)),
            ("provider", models.CharField(max_length=60)),
            ("model", models.CharField(max_length=100)),
            ("prompt_version", models.CharField(max_length=20, blank=True)),
            ("input_tokens", models.PositiveIntegerField(default=0)),
            ("output_tokens", models.PositiveIntegerField(default=0)),
            ("cost", models.DecimalField(default=0, max_digits=12, decimal_places=6)),
            ("took_ms", models.PositiveIntegerField(default=0)),
            ("outcome", models.CharField(max_length=20)),
            ("dropped", models.PositiveIntegerField(default=0, db_default=0)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
        ], {
            "indexes": [models.Index(fields=["created_at"], name="modelcall_day")],
        }),

        # Exports and imports
        migrations.CreateModel("Export", [
            row_id(),
            ("user", user_key(related_name="exports")),
            ("operation", models.OneToOneField("ops.operation", models.CASCADE)),
            ("conversation_public_id", models.CharField(max_length=40, blank=True)),
            ("format", models.CharField(max_length=8)),
            ("path", models.CharField(max_length=300, blank=True)),
            ("sha256", models.CharField(max_length=64, blank=True)),
            ("bytes", models.BigIntegerField(default=0)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("expires_at", models.DateTimeField(blank=True, null=True)),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "indexes": [models.Index(fields=["user", "-id"], name="export_user")],
        }),
        migrations.CreateModel("Import", [
            row_id(),
            ("user", user_key(related_name="imports")),
            ("operation", models.OneToOneField("ops.operation", models.CASCADE)),
            ("format", models.CharField(max_length=20)),
            ("path", models.CharField(max_length=300, blank=True)),
            ("position", models.BigIntegerField(default=0)),
            ("report", models.JSONField(default=dict)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("finished_at", models.DateTimeField(blank=True, null=True)),
            ("hidden_at", models.DateTimeField(blank=True, null=True)),
        ], {
            "indexes": [models.Index(fields=["user", "-id"], name="import_user")],
        }),

        # Forgetting
        migrations.CreateModel("ErasureKey", [
            ("operation", models.OneToOneField(
                "ops.operation", models.CASCADE, primary_key=True, serialize=False,
                related_name="erasure_key"
            )),
            ("key", models.BinaryField(max_length=32)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
        ]),
        migrations.CreateModel("ErasedText", [
            row_id(),
            ("operation", models.ForeignKey(
                "ops.operation", models.CASCADE, related_name="erased_texts", db_index=False
            )),
            ("digest", models.BigIntegerField()),
            ("size", models.PositiveSmallIntegerField()),
            ("hashes", ArrayField(models.BigIntegerField())),
        ], {
            "constraints": [
                models.UniqueConstraint(fields=("operation", "digest"), name="erased_text_once"),
            ],
        }),
        migrations.CreateModel("ErasedRows", [
            row_id(),
            ("operation", models.ForeignKey(
                "ops.operation", models.CASCADE, related_name="erased_rows"
            )),
            ("place", models.CharField(max_length=63)),
            ("row_ids", ArrayField(models.BigIntegerField(), default=list)),
            ("public_ids", ArrayField(models.CharField(max_length=64), default=list)),
        ]),
        migrations.CreateModel("DiskKey", [
            row_id(),
            ("key", models.BinaryField(max_length=32)),
            ("created_at", models.DateTimeField(auto_now_add=True)),
            ("closed_at", models.DateTimeField(blank=True, null=True)),
        ]),
        migrations.CreateModel("DiskTrace", [
            row_id(),
            ("operation", models.ForeignKey(
                "ops.operation", models.CASCADE, related_name="disk_traces"
            )),
            ("key", models.ForeignKey("ops.diskkey", models.PROTECT, related_name="traces")),
            ("hashes", models.BinaryField(default=bytes)),
            ("counts", models.BinaryField(default=bytes)),
            ("lengths", ArrayField(models.PositiveSmallIntegerField(), default=list)),
            ("left_out", models.PositiveIntegerField(default=0)),
        ]),
        migrations.CreateModel("Receipt", [
            row_id(),
            ("public_id", models.CharField(max_length=40, unique=True, default=ids.receipt_id)),
            ("operation", models.OneToOneField(
                "ops.operation", models.PROTECT, related_name="receipt"
            )),
            ("subject", models.UUIDField(null=True)),
            ("scope", models.CharField(max_length=20)),
            ("requested_at", models.DateTimeField()),
            ("finished_at", models.DateTimeField()),
            ("erased", models.JSONField(default=dict)),
            ("kept", models.JSONField(default=list)),
            ("scan", models.JSONField(default=dict)),
            ("disk", models.JSONField(default=dict)),
            ("chosen", models.CharField(max_length=12, blank=True, default="", db_default="")),
            ("previous_hash", models.CharField(max_length=64, blank=True)),
            ("hash", models.CharField(max_length=64, blank=True)),
        ], {
            "indexes": [models.Index(fields=["subject", "-id"], name="receipt_subject")],
        }),

        # The audit log
        migrations.CreateModel("AuditEvent", [
            row_id(),
            ("at", models.DateTimeField()),
            ("actor", models.CharField(max_length=60)),
            ("surface", models.CharField(max_length=20)),
            ("action", models.CharField(max_length=60)),
            ("subject", models.UUIDField(null=True)),
            ("target", models.CharField(max_length=60, blank=True)),
            ("details", models.JSONField(default=dict)),
        ], {
            "indexes": [
                models.Index(fields=["subject", "-id"], name="audit_subject"),
                models.Index(fields=["action", "-id"], name="audit_action"),
                models.Index(fields=["actor", "-id"], name="audit_actor"),
                models.Index(fields=["target"], name="audit_target"),
            ],
        }),
        migrations.CreateModel("AuditSeal", [
            ("number", models.BigIntegerField(primary_key=True, serialize=False)),
            ("event", models.OneToOneField(
                "ops.auditevent", models.PROTECT, related_name="seal", db_constraint=False
            )),
            ("previous_hash", models.BinaryField(max_length=32)),
            ("hash", models.BinaryField(max_length=32)),
        ]),
        migrations.CreateModel("UnsealedEvent", [
            ("event", models.OneToOneField(
                "ops.auditevent", models.PROTECT, primary_key=True, serialize=False,
                related_name="unsealed", db_constraint=False
            )),
        ]),
        migrations.CreateModel("AuditHead", [
            row_id(),
            ("number", models.BigIntegerField(default=0)),
            ("hash", models.CharField(max_length=64, blank=True)),
        ], {
            "constraints": [
                models.CheckConstraint(condition=Q(pk=1), name="audit_head_is_one"),
            ],
        }),

        # What the database itself enforces and stores
        migrations.RunSQL(_KEY_OF_CREATED_USERS, migrations.RunSQL.noop),
        migrations.RunSQL(_APPEND_ONLY, _NOT_APPEND_ONLY),
        migrations.RunSQL(_SEAL_LATER, _DO_NOT_SEAL),
        rows_of_one_person("ops_user", owner="id"),
        *(rows_of_one_person(table) for table in _PERSONAL),
        *(rows_of_one_person(table, or_nobodys=True) for table in _PERSONAL_OR_OF_THE_PRODUCT),
        *(without_statistics(table, *columns) for table, columns in _WITHOUT_STATISTICS.items()),
        *(uncompressed(table, *columns) for table, columns in _UNCOMPRESSED.items()),
        ID_FUNCTIONS,
        *(index_of_mentions(table, columns) for table, columns in _MENTIONS.items()),
    ]
