import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.manager
import memcenter.lib.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('ops', '__first__'),
    ]

    operations = [
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=memcenter.lib.ids.conversation_id, max_length=40, unique=True)),
                ('external_id', models.CharField(blank=True, db_collation='C', max_length=200, null=True)),
                ('title', models.CharField(blank=True, max_length=200)),
                ('kind', models.CharField(choices=[('main', 'private'), ('group', 'group')], default='main', max_length=8)),
                ('speakers', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, default=list, size=None)),
                ('last_number', models.PositiveIntegerField(default=0)),
                ('message_count', models.PositiveIntegerField(default=0)),
                ('last_message_at', models.DateTimeField(blank=True, null=True)),
                ('extracted_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'base_manager_name': 'everything',
                'indexes': [models.Index(fields=['user', '-last_message_at', '-id'], name='conversation_recent')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['main', 'group'])), name='conversation_kind_known'), models.UniqueConstraint(condition=models.Q(('hidden_at__isnull', True)), fields=('user', 'external_id'), name='conversation_external_id')],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('everything', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=memcenter.lib.ids.message_id, max_length=40, unique=True)),
                ('external_id', models.CharField(blank=True, db_collation='C', max_length=200, null=True)),
                ('number', models.PositiveIntegerField()),
                ('role', models.CharField(choices=[('user', 'user'), ('assistant', 'assistant'), ('system', 'system'), ('tool', 'tool')], max_length=12)),
                ('speaker', models.CharField(blank=True, max_length=100)),
                ('content', models.TextField(blank=True)),
                ('completed', models.BooleanField(default=True)),
                ('token_count', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField()),
                ('recorded_at', models.DateTimeField(auto_now_add=True)),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='conversations.conversation')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'base_manager_name': 'everything',
                'indexes': [models.Index(fields=['user', '-created_at', '-id'], name='message_user')],
                'constraints': [models.CheckConstraint(condition=models.Q(('role__in', ['user', 'assistant', 'system', 'tool'])), name='message_role_known'), models.UniqueConstraint(fields=('conversation', 'number'), name='message_number'), models.UniqueConstraint(condition=models.Q(('hidden_at__isnull', True)), fields=('conversation', 'external_id'), name='message_external_id')],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('everything', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Feedback',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rating', models.CharField(choices=[('positive', 'good'), ('negative', 'bad'), ('very_negative', 'very bad')], max_length=16)),
                ('comment', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('message', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='feedback', to='conversations.message')),
            ],
            options={
                'verbose_name_plural': 'feedback',
                'indexes': [models.Index(fields=['user'], name='feedback_user')],
                'constraints': [models.CheckConstraint(condition=models.Q(('rating__in', ['positive', 'negative', 'very_negative'])), name='feedback_rating_known')],
            },
        ),
        migrations.CreateModel(
            name='Summary',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=memcenter.lib.ids.summary_id, max_length=40, unique=True)),
                ('version', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('token_count', models.PositiveIntegerField(default=0)),
                ('covered_message_count', models.PositiveIntegerField()),
                ('from_number', models.PositiveIntegerField()),
                ('through_number', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='summaries', to='conversations.conversation')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'summaries',
                'base_manager_name': 'everything',
                'indexes': [models.Index(fields=['user', 'conversation', '-version'], name='summary_user')],
                'constraints': [models.UniqueConstraint(fields=('conversation', 'version'), name='summary_version'), models.CheckConstraint(condition=models.Q(('from_number__lte', models.F('through_number'))), name='summary_range')],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('everything', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Turn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=memcenter.lib.ids.turn_id, max_length=40, unique=True)),
                ('project_key', models.CharField(blank=True, max_length=100)),
                ('tools', models.JSONField(blank=True, default=list)),
                ('extracted_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('assistant_message', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='turn_as_reply', to='conversations.message')),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='conversations.conversation')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('user_message', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='turn_as_question', to='conversations.message')),
            ],
            options={
                'base_manager_name': 'everything',
                'indexes': [models.Index(fields=['user', 'conversation', '-id'], name='turn_user')],
                'constraints': [models.CheckConstraint(condition=models.Q(('user_message', models.F('assistant_message')), _negated=True), name='turn_two_messages')],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('everything', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Episode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=memcenter.lib.ids.episode_id, max_length=40, unique=True)),
                ('created_at', models.DateTimeField()),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='episodes', to='conversations.conversation')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('turn', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='episode', to='conversations.turn')),
            ],
            options={
                'base_manager_name': 'everything',
                'indexes': [models.Index(fields=['user', 'conversation', '-id'], name='episode_user')],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('everything', django.db.models.manager.Manager()),
            ],
        ),
    ]
