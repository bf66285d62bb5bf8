import django.contrib.postgres.fields
import django.db.models.deletion
import memcenter.lib.ids
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(blank=True, max_length=150, null=True, unique=True, verbose_name='login name')),
                ('external_id', models.CharField(blank=True, db_collation='C', max_length=64, null=True, unique=True)),
                ('subject', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('display_name', models.CharField(blank=True, max_length=150)),
                ('is_active', models.BooleanField(default=True)),
                ('is_staff', models.BooleanField(default=False)),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('external_id__isnull', True), ('is_staff', False), _connector='OR'), name='staff_has_no_external_id'), models.CheckConstraint(condition=models.Q(('external_id__isnull', True), models.Q(('external_id', ''), _negated=True), _connector='OR'), name='external_id_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('prefix', models.CharField(max_length=16)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('read', 'read'), ('write', 'write'), ('forget', 'forget'), ('export', 'export'), ('signin', 'make sign-in links'), ('admin', 'administer')], max_length=16), size=None)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='api_keys', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['user', 'created_at'], name='apikey_user')],
            },
        ),
        migrations.AddField(
            model_name='user',
            name='created_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='created_users', to='ops.apikey'),
        ),
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('actor', models.CharField(max_length=60)),
                ('surface', models.CharField(max_length=20)),
                ('action', models.CharField(max_length=60)),
                ('subject', models.UUIDField(null=True)),
                ('target', models.CharField(blank=True, max_length=60)),
                ('details', models.JSONField(default=dict)),
                ('previous_hash', models.CharField(blank=True, max_length=64)),
                ('hash', models.CharField(max_length=64, unique=True)),
            ],
            options={
                'indexes': [models.Index(fields=['subject', '-id'], name='audit_subject'), models.Index(fields=['action', '-id'], name='audit_action')],
            },
        ),
        migrations.CreateModel(
            name='IdempotencyRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('fingerprint', models.CharField(max_length=64)),
                ('status_code', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('body', models.JSONField(blank=True, null=True)),
                ('body_erased', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('api_key', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='ops.apikey')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['user'], name='idempotency_user'), models.Index(fields=['expires_at'], name='idempotency_expiry')],
                'constraints': [models.UniqueConstraint(fields=('api_key', 'key'), name='idempotency_key_once')],
            },
        ),
        migrations.CreateModel(
            name='ModelCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('subject', models.UUIDField(null=True)),
                ('operation_public_id', models.CharField(blank=True, max_length=40)),
                ('step', models.CharField(max_length=30)),
                ('provider', models.CharField(max_length=60)),
                ('model', models.CharField(max_length=100)),
                ('prompt_version', models.CharField(blank=True, max_length=20)),
                ('input_tokens', models.PositiveIntegerField(default=0)),
                ('output_tokens', models.PositiveIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=6, default=0, max_digits=12)),
                ('took_ms', models.PositiveIntegerField(default=0)),
                ('outcome', models.CharField(max_length=20)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'indexes': [models.Index(fields=['created_at'], name='modelcall_day')],
            },
        ),
        migrations.CreateModel(
            name='Operation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=memcenter.lib.ids.operation_id, max_length=40, unique=True)),
                ('kind', models.CharField(choices=[('extract_turn', 'Learn from a turn'), ('extract_conversation', 'Look at a conversation as a whole'), ('summarize', 'Summarize'), ('index_episode', 'Index an episode'), ('index_memory', 'Index a memory'), ('consolidate', 'Consolidate'), ('forget_memory', 'Forget a memory'), ('forget_message', 'Forget a message'), ('forget_conversation', 'Forget a conversation'), ('clear_conversation', 'Clear a conversation'), ('forget_project', 'Forget a project'), ('forget_user', 'Forget everything'), ('export_conversation', 'Export a conversation'), ('export_user', 'Export everything'), ('import', 'Import'), ('reindex', 'Reindex'), ('sync_files', 'Sync the memory files'), ('deliver_webhook', 'Deliver a webhook'), ('cleanup', 'Clean up')], max_length=32)),
                ('subject', models.UUIDField(blank=True, null=True)),
                ('status', models.CharField(choices=[('pending', 'Waiting'), ('running', 'Running'), ('succeeded', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='pending', max_length=16)),
                ('priority', models.SmallIntegerField(choices=[(0, 'forgetting'), (10, 'turns'), (20, 'indexing'), (30, 'bulk')], default=10)),
                ('attempt', models.PositiveSmallIntegerField(default=0)),
                ('max_attempts', models.PositiveSmallIntegerField(default=8)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('run_after', models.DateTimeField()),
                ('dedupe_key', models.CharField(blank=True, max_length=100, null=True)),
                ('serial_key', models.CharField(blank=True, max_length=64, null=True)),
                ('payload', models.JSONField(default=dict)),
                ('result', models.JSONField(default=dict)),
                ('steps_done', models.JSONField(default=list)),
                ('progress_done', models.PositiveIntegerField(default=0)),
                ('progress_total', models.PositiveIntegerField(default=0)),
                ('progress_step', models.CharField(blank=True, max_length=50)),
                ('last_error', models.CharField(blank=True, max_length=500)),
                ('requested_by_key', models.BigIntegerField(blank=True, null=True)),
                ('token_digest', models.CharField(blank=True, max_length=64, null=True, unique=True)),
                ('token_expires_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('status', 'pending')), fields=['priority', 'run_after'], name='operation_due'), models.Index(condition=models.Q(('status', 'running')), fields=['lease_until'], name='operation_leases'), models.Index(fields=['subject', '-id'], name='operation_subject')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['extract_turn', 'extract_conversation', 'summarize', 'index_episode', 'index_memory', 'consolidate', 'forget_memory', 'forget_message', 'forget_conversation', 'clear_conversation', 'forget_project', 'forget_user', 'export_conversation', 'export_user', 'import', 'reindex', 'sync_files', 'deliver_webhook', 'cleanup'])), name='operation_kind_known'), models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'running', 'succeeded', 'failed', 'cancelled'])), name='operation_status_known'), models.CheckConstraint(condition=models.Q(models.Q(('lease_until__isnull', False), ('status', 'running')), models.Q(models.Q(('status', 'running'), _negated=True), ('lease_until__isnull', True)), _connector='OR'), name='operation_running_has_lease'), models.CheckConstraint(condition=models.Q(('attempt__lte', models.F('max_attempts'))), name='operation_attempts_bounded'), models.UniqueConstraint(condition=models.Q(('status', 'pending')), fields=('dedupe_key',), name='operation_dedupe'), models.UniqueConstraint(condition=models.Q(('status', 'running')), fields=('serial_key',), name='operation_serial')],
            },
        ),
        migrations.CreateModel(
            name='Import',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('format', models.CharField(max_length=20)),
                ('path', models.CharField(blank=True, max_length=300)),
                ('position', models.BigIntegerField(default=0)),
                ('report', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to=settings.AUTH_USER_MODEL)),
                ('operation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, to='ops.operation')),
            ],
            options={
                'indexes': [models.Index(fields=['user', '-id'], name='import_user')],
            },
        ),
        migrations.CreateModel(
            name='Export',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('conversation_public_id', models.CharField(blank=True, max_length=40)),
                ('format', models.CharField(max_length=8)),
                ('path', models.CharField(blank=True, max_length=300)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('bytes', models.BigIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exports', to=settings.AUTH_USER_MODEL)),
                ('operation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, to='ops.operation')),
            ],
            options={
                'indexes': [models.Index(fields=['user', '-id'], name='export_user')],
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('started_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('outcome', models.CharField(blank=True, choices=[('succeeded', 'succeeded'), ('retried', 'will be retried'), ('failed', 'failed'), ('expired', 'the worker stopped responding')], max_length=16, null=True)),
                ('error', models.CharField(blank=True, max_length=500)),
                ('operation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='ops.operation')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('operation', 'number'), name='attempt_number')],
            },
        ),
        migrations.CreateModel(
            name='Receipt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=memcenter.lib.ids.receipt_id, max_length=40, unique=True)),
                ('subject', models.UUIDField(null=True)),
                ('scope', models.CharField(max_length=20)),
                ('requested_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField()),
                ('erased', models.JSONField(default=dict)),
                ('kept', models.JSONField(default=list)),
                ('scan', models.JSONField(default=dict)),
                ('previous_hash', models.CharField(blank=True, max_length=64)),
                ('hash', models.CharField(blank=True, max_length=64)),
                ('operation', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='receipt', to='ops.operation')),
            ],
            options={
                'indexes': [models.Index(fields=['subject', '-id'], name='receipt_subject')],
            },
        ),
        migrations.CreateModel(
            name='SignInLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('next', models.CharField(blank=True, max_length=500)),
                ('language', models.CharField(blank=True, max_length=16)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='signin_links', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['user', 'expires_at'], name='signinlink_user')],
            },
        ),
        migrations.CreateModel(
            name='UserSettings',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('summary_enabled', models.BooleanField(default=True)),
                ('episodic_enabled', models.BooleanField(default=True)),
                ('longterm_enabled', models.BooleanField(default=True)),
                ('confirm_before_remembering', models.BooleanField(default=False)),
                ('language', models.CharField(blank=True, max_length=16)),
                ('timezone', models.CharField(default='UTC', max_length=64)),
                ('theme', models.CharField(choices=[('auto', 'As the system'), ('light', 'Light'), ('dark', 'Dark')], default='auto', max_length=8)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='settings', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('theme__in', ['auto', 'light', 'dark'])), name='settings_theme_known')],
            },
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.URLField(max_length=500)),
                ('events', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None)),
                ('secret', models.CharField(max_length=200)),
                ('is_active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('api_key', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='ops.apikey')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['user'], name='webhook_user')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('event', models.CharField(max_length=40)),
                ('subject', models.UUIDField(null=True)),
                ('body', models.JSONField(default=dict)),
                ('status_code', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('error', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('delivered_at', models.DateTimeField(blank=True, null=True)),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='ops.webhook')),
            ],
        ),
    ]
