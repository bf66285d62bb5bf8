from memcenter.rest.base import routes
from memories.api import views_agents as agents
from memories.api import views_files as files
from memories.api import views_files as notes
from memories.api import views_flush as flush
from memories.api import views_memories as history
from memories.api import views_memories as memories
from memories.api import views_memories as review
from memories.api import views_search as search

urlpatterns = routes(
    ("search", search.SearchView),
    ("debug/<str:request_id>", search.DebugView),
    ("memory/metrics", search.MetricsView),
    ("memories", agents.AgentMemoriesView),
    ("memories/search", agents.AgentSearchView),
    ("memories/timeline", agents.TimelineView),
    ("projects", agents.ProjectsView),
    ("ingest/memory", agents.IngestView),
    ("memory/append", notes.AppendView),
    ("memory/flush", flush.FlushView),
    ("memory/files", files.FilesView),
    ("memory/files/tool", files.FileToolView),
    ("memory/files/<with_slashes:file_path>/versions", files.FileVersionsView),
    ("memory/files/<with_slashes:file_path>/restore", files.FileRestoreView),
    ("memory/files/<with_slashes:file_path>", files.FileView),
    ("memory/portrait", memories.PortraitView),
    ("memory/week", memories.WeekView),
    ("memory/long_term", memories.LongTermView),
    ("memory/long_term/batch", memories.LongTermBatchView),
    ("memory/long_term/confirm", review.ConfirmView),
    ("memory/long_term/bulk", review.BulkView),
    ("memory/long_term/<str:memory_id>", memories.LongTermMemoryView),
    ("memory/long_term/<str:memory_id>/restore", history.MemoryRestoreView),
    ("memory/long_term/<str:memory_id>/versions", history.MemoryVersionsView),
    ("memory/long_term/<str:memory_id>/sources", history.MemorySourcesView),
    ("memory/long_term/<str:memory_id>/recalls", history.MemoryRecallsView),
    ("memory/long_term/<str:memory_id>/relations", history.MemoryRelationsView),
)
