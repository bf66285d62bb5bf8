from memcenter.compat.openai_chat.completions import ChatCompletionsView
from memcenter.compat.openai_chat.other_endpoints import EmbeddingsView, ModelsView
from memcenter.rest.routing import routes

urlpatterns = routes(
    ("chat/completions", ChatCompletionsView),
    ("models", ModelsView),
    ("embeddings", EmbeddingsView),
)
