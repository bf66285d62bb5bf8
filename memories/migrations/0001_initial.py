import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.operations
import django.db.models.deletion
import django.db.models.manager
import memcenter.lib.ids
import pgvector.django.extensions
import pgvector.django.halfvec
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('conversations', '0001_initial'),
        ('ops', '__first__'),
    ]

    operations = [
        pgvector.django.extensions.VectorExtension(
        ),
        django.contrib.postgres.operations.BtreeGinExtension(
        ),
        migrations.CreateModel(
            name='EmbeddingSpace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('embedder', models.CharField(max_length=60)),
                ('model', models.CharField(max_length=100)),
                ('dimensions', models.PositiveIntegerField()),
                ('version', models.PositiveIntegerField(default=1)),
                ('active', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('embedder', 'model', 'dimensions', 'version'), name='space_once'), models.UniqueConstraint(condition=models.Q(('active', True)), fields=('active',), name='space_one_active')],
            },
        ),
        migrations.CreateModel(
            name='Memory',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=memcenter.lib.ids.memory_id, max_length=40, unique=True)),
                ('kind', models.CharField(choices=[('preference', 'preference'), ('fact', 'fact'), ('constraint', 'constraint'), ('task', 'task'), ('pattern', 'pattern'), ('skill', 'skill'), ('event', 'event'), ('requirement', 'requirement'), ('plan', 'plan'), ('development', 'development'), ('testing', 'testing'), ('insight', 'insight')], max_length=16)),
                ('content', models.TextField()),
                ('summary', models.TextField(blank=True)),
                ('data', models.JSONField(blank=True, default=dict)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=50), blank=True, default=list, size=None)),
                ('importance', models.FloatField(default=0.5)),
                ('confidence', models.FloatField(default=0.8)),
                ('status', models.CharField(choices=[('candidate', 'waiting for review'), ('active', 'active'), ('disabled', 'disabled'), ('superseded', 'superseded'), ('archived', 'archived')], default='active', max_length=12)),
                ('pinned', models.BooleanField(default=False)),
                ('origin', models.CharField(choices=[('extracted', 'learned from a conversation'), ('user', 'written by you'), ('api', 'written through the API'), ('agent', 'written by an agent'), ('file', 'from a memory file'), ('import', 'imported')], max_length=12)),
                ('content_hash', models.CharField(blank=True, max_length=64)),
                ('occurred_at', models.DateTimeField(blank=True, null=True)),
                ('valid_from', models.DateTimeField(blank=True, null=True)),
                ('valid_until', models.DateTimeField(blank=True, null=True)),
                ('access_count', models.PositiveIntegerField(default=0)),
                ('last_accessed_at', models.DateTimeField(blank=True, null=True)),
                ('feedback', models.CharField(blank=True, choices=[('positive', 'good'), ('negative', 'bad'), ('very_negative', 'very bad')], max_length=16)),
                ('feedback_reason', models.TextField(blank=True)),
                ('agent_id', models.CharField(blank=True, max_length=200)),
                ('app_id', models.CharField(blank=True, max_length=200)),
                ('run_id', models.CharField(blank=True, max_length=200)),
                ('metadata', models.JSONField(blank=True, default=dict)),
                ('current_version', models.PositiveIntegerField(default=1)),
                ('chunk_count', models.PositiveIntegerField(default=0)),
                ('indexed_at', models.DateTimeField(blank=True, null=True)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('purge_at', models.DateTimeField(blank=True, null=True)),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('conflicts_with', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='contested_by', to='memories.memory')),
                ('superseded_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='supersedes', to='memories.memory')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'memories',
                'base_manager_name': 'everything',
                'indexes': [models.Index(fields=['user', 'status', '-updated_at', '-id'], name='memory_list'), models.Index(fields=['user', '-access_count'], name='memory_hot'), models.Index(condition=models.Q(('purge_at__isnull', False)), fields=['purge_at'], name='memory_purge')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['preference', 'fact', 'constraint', 'task', 'pattern', 'skill', 'event', 'requirement', 'plan', 'development', 'testing', 'insight'])), name='memory_kind_known'), models.CheckConstraint(condition=models.Q(('status__in', ['candidate', 'active', 'disabled', 'superseded', 'archived'])), name='memory_status_known'), models.CheckConstraint(condition=models.Q(('origin__in', ['extracted', 'user', 'api', 'agent', 'file', 'import'])), name='memory_origin_known'), models.CheckConstraint(condition=models.Q(('importance__range', (0, 1))), name='memory_importance_0_1'), models.CheckConstraint(condition=models.Q(('confidence__range', (0, 1))), name='memory_confidence_0_1'), models.CheckConstraint(condition=models.Q(models.Q(('deleted_at__isnull', True), ('purge_at__isnull', True)), models.Q(('deleted_at__isnull', False), ('purge_at__isnull', False)), _connector='OR'), name='memory_bin_has_date'), models.CheckConstraint(condition=models.Q(('valid_from__isnull', True), ('valid_until__isnull', True), ('valid_from__lte', models.F('valid_until')), _connector='OR'), name='memory_validity_order')],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('everything', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='MemoryFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(max_length=200)),
                ('content', models.TextField(blank=True)),
                ('version', models.PositiveIntegerField(default=1)),
                ('synced_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'base_manager_name': 'everything',
                'constraints': [models.UniqueConstraint(fields=('user', 'path'), name='file_path')],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('everything', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='FileVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('content', models.TextField(blank=True)),
                ('actor', models.CharField(max_length=12)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('file', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='memories.memoryfile')),
            ],
            options={
                'base_manager_name': 'everything',
                'indexes': [models.Index(fields=['user'], name='file_version_user')],
                'constraints': [models.UniqueConstraint(fields=('file', 'number'), name='file_version')],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('everything', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='MemoryVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('preference', 'preference'), ('fact', 'fact'), ('constraint', 'constraint'), ('task', 'task'), ('pattern', 'pattern'), ('skill', 'skill'), ('event', 'event'), ('requirement', 'requirement'), ('plan', 'plan'), ('development', 'development'), ('testing', 'testing'), ('insight', 'insight')], max_length=16)),
                ('content', models.TextField(blank=True)),
                ('summary', models.TextField(blank=True)),
                ('candidate_text', models.TextField(blank=True)),
                ('change', models.CharField(choices=[('created', 'learned'), ('edited', 'edited'), ('replaced', 'replaced by something newer'), ('merged', 'merged'), ('restored', 'restored'), ('consolidated', 'consolidated'), ('derived', 'derived again after forgetting')], max_length=16)),
                ('actor', models.CharField(choices=[('extracted', 'learned from a conversation'), ('user', 'written by you'), ('api', 'written through the API'), ('agent', 'written by an agent'), ('file', 'from a memory file'), ('import', 'imported')], max_length=12)),
                ('reason', models.CharField(blank=True, max_length=300)),
                ('created_at', models.DateTimeField()),
                ('erased_at', models.DateTimeField(blank=True, null=True)),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='memories.memory')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'base_manager_name': 'everything',
                'indexes': [models.Index(fields=['user', 'memory'], name='version_user')],
                'constraints': [models.CheckConstraint(condition=models.Q(('change__in', ['created', 'edited', 'replaced', 'merged', 'restored', 'consolidated', 'derived'])), name='version_change_known'), models.UniqueConstraint(fields=('memory', 'number'), name='version_number'), models.CheckConstraint(condition=models.Q(('erased_at__isnull', True), models.Q(('candidate_text', ''), ('content', ''), ('summary', '')), _connector='OR'), name='version_erased_is_empty')],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('everything', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=100)),
                ('name', models.CharField(blank=True, max_length=200)),
                ('machines', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, default=list, size=None)),
                ('path', models.CharField(blank=True, max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'base_manager_name': 'everything',
                'constraints': [models.UniqueConstraint(condition=models.Q(('hidden_at__isnull', True)), fields=('user', 'key'), name='project_key')],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('everything', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddField(
            model_name='memory',
            name='project',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='memories', to='memories.project'),
        ),
        migrations.CreateModel(
            name='RecallTrace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('request_id', models.CharField(default=memcenter.lib.ids.request_id, max_length=40, unique=True)),
                ('kind', models.CharField(choices=[('recall', 'recall'), ('search', 'search')], default='recall', max_length=8)),
                ('query', models.TextField()),
                ('stages', models.JSONField(default=list)),
                ('took_ms', models.FloatField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('answer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='recalls', to='conversations.message')),
                ('conversation', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='conversations.conversation')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['user', '-id'], name='trace_user'), models.Index(fields=['created_at'], name='trace_age')],
            },
        ),
        migrations.CreateModel(
            name='RecallHit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('type', models.CharField(max_length=10)),
                ('target_public_id', models.CharField(max_length=40)),
                ('rank', models.PositiveIntegerField()),
                ('score', models.FloatField()),
                ('components', models.JSONField(default=dict)),
                ('in_block', models.BooleanField(default=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('trace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='hits', to='memories.recalltrace')),
            ],
            options={
                'indexes': [models.Index(fields=['user', 'target_public_id'], name='hit_target')],
                'constraints': [models.UniqueConstraint(fields=('trace', 'rank'), name='hit_rank')],
            },
        ),
        migrations.CreateModel(
            name='Refusal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('category', models.CharField(choices=[('password', 'password'), ('api_key', 'key or token'), ('card', 'card number'), ('bank_account', 'bank account'), ('identity_number', 'identity number'), ('address', 'precise address')], max_length=20)),
                ('redacted', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('turn', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='conversations.turn')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['user', '-id'], name='refusal_user')],
                'constraints': [models.CheckConstraint(condition=models.Q(('category__in', ['password', 'api_key', 'card', 'bank_account', 'identity_number', 'address'])), name='refusal_category_known')],
            },
        ),
        migrations.CreateModel(
            name='Relation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('supports', 'supports'), ('contradicts', 'contradicts'), ('refines', 'refines')], max_length=12)),
                ('strength', models.FloatField(default=0.5)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='relations', to='memories.memory')),
                ('other', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='related_by', to='memories.memory')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['user'], name='relation_user')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['supports', 'contradicts', 'refines'])), name='relation_kind_known'), models.UniqueConstraint(fields=('memory', 'other', 'kind'), name='relation_once'), models.CheckConstraint(condition=models.Q(('memory', models.F('other')), _negated=True), name='relation_two_memories'), models.CheckConstraint(condition=models.Q(('strength__range', (0, 1))), name='relation_strength_0_1')],
            },
        ),
        migrations.CreateModel(
            name='Source',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('origin', models.CharField(choices=[('extracted', 'learned from a conversation'), ('user', 'written by you'), ('api', 'written through the API'), ('agent', 'written by an agent'), ('file', 'from a memory file'), ('import', 'imported')], max_length=12)),
                ('quote', models.TextField(blank=True)),
                ('quote_start', models.PositiveIntegerField(default=0)),
                ('reference', models.CharField(blank=True, max_length=300)),
                ('comment', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField()),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='memories.memory')),
                ('message', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='conversations.message')),
                ('turn', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='conversations.turn')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='memories.memoryversion')),
            ],
            options={
                'base_manager_name': 'everything',
                'indexes': [models.Index(fields=['user', 'memory'], name='source_memory'), models.Index(fields=['user', 'turn'], name='source_turn')],
                'constraints': [models.CheckConstraint(condition=models.Q(('origin__in', ['extracted', 'user', 'api', 'agent', 'file', 'import'])), name='source_origin_known')],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('everything', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Tombstone',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('memory_public_id', models.CharField(max_length=40)),
                ('text_hash', models.CharField(max_length=64)),
                ('about_hash', models.CharField(blank=True, max_length=64)),
                ('message_ids', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), blank=True, default=list, size=None)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['user', 'text_hash'], name='tombstone_text')],
            },
        ),
        migrations.CreateModel(
            name='Vector',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('target_kind', models.CharField(choices=[('memory', 'memory'), ('fragment', 'fragment'), ('message', 'message'), ('episode', 'episode'), ('summary', 'summary'), ('note', 'note')], max_length=10)),
                ('target_id', models.BigIntegerField()),
                ('embedding', pgvector.django.halfvec.HalfVectorField()),
                ('conversation', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, to='conversations.conversation')),
                ('space', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='memories.embeddingspace')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('conversation__isnull', False)), fields=['conversation', 'target_kind'], name='vector_conversation')],
                'constraints': [models.CheckConstraint(condition=models.Q(('target_kind__in', ['memory', 'fragment', 'message', 'episode', 'summary', 'note'])), name='vector_target_known'), models.UniqueConstraint(fields=('user', 'space', 'target_kind', 'target_id'), name='vector_once')],
            },
        ),
        migrations.CreateModel(
            name='VersionInput',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('input', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='output_links', to='memories.memoryversion')),
                ('output', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='input_links', to='memories.memoryversion')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['user'], name='version_input_user')],
                'constraints': [models.UniqueConstraint(fields=('output', 'input'), name='version_input_once')],
            },
        ),
        migrations.AddField(
            model_name='memoryversion',
            name='inputs',
            field=models.ManyToManyField(related_name='outputs', through='memories.VersionInput', to='memories.memoryversion'),
        ),
        migrations.CreateModel(
            name='DailyNote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=memcenter.lib.ids.note_id, max_length=40, unique=True)),
                ('day', models.DateField()),
                ('number', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('source', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField()),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'base_manager_name': 'everything',
                'constraints': [models.UniqueConstraint(fields=('user', 'day', 'number'), name='note_line_number')],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('everything', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='LexicalEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('target_kind', models.CharField(choices=[('memory', 'memory'), ('fragment', 'fragment'), ('message', 'message'), ('episode', 'episode'), ('summary', 'summary'), ('note', 'note')], max_length=10)),
                ('target_id', models.BigIntegerField()),
                ('terms', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                ('length', models.PositiveIntegerField()),
                ('conversation', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, to='conversations.conversation')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'lexical entries',
                'indexes': [django.contrib.postgres.indexes.GinIndex(fields=['user', 'terms'], name='lexical_terms'), models.Index(condition=models.Q(('conversation__isnull', False)), fields=['conversation', 'target_kind'], name='lexical_conversation')],
                'constraints': [models.CheckConstraint(condition=models.Q(('target_kind__in', ['memory', 'fragment', 'message', 'episode', 'summary', 'note'])), name='lexical_target_known'), models.UniqueConstraint(fields=('user', 'target_kind', 'target_id'), name='lexical_once')],
            },
        ),
        migrations.CreateModel(
            name='Fragment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('token_count', models.PositiveIntegerField()),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='fragments', to='memories.memory')),
            ],
            options={
                'indexes': [models.Index(fields=['user', 'memory'], name='fragment_user')],
                'constraints': [models.UniqueConstraint(fields=('memory', 'number'), name='fragment_number')],
            },
        ),
        migrations.CreateModel(
            name='Arbitration',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('verdict', models.CharField(max_length=12)),
                ('candidate_text', models.TextField()),
                ('target_text', models.TextField(blank=True)),
                ('similarity', models.FloatField(blank=True, null=True)),
                ('decided_by', models.CharField(max_length=60)),
                ('reasons', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), blank=True, default=list, size=None)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('turn', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='conversations.turn')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('memory', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='arbitrations', to='memories.memory')),
                ('target', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='met_in', to='memories.memory')),
            ],
            options={
                'indexes': [models.Index(fields=['user', '-id'], name='arbitration_user')],
            },
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(fields=['user', 'project'], name='memory_project'),
        ),
    ]
