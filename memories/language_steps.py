"""Select the implementation of each language step (extraction, arbitration, …) from the settings.

The bundled models run in this process; a chat model can be configured instead. The module can also
load the bundled models in advance.
"""

import gc
from functools import cache

from django.conf import settings
from django.utils import timezone

from foundation import process
from foundation.providers.embedders import BundledEmbedder
from foundation.providers.openai_compatible import Endpoint, OpenAICompatibleModel
from foundation.text import tokens
from memories.extraction.arbitration.pairs import BundledConsolidator, Consolidator, PairReader
from memories.extraction.arbitration.verdicts import BundledArbiter
from memories.extraction.bundled import BundledExtractor
from memories.extraction.chat_model.arbiter import ModelArbiter, ModelConsolidator
from memories.extraction.chat_model.extractor import ModelExtractor, ModelJointReader
from memories.extraction.chat_model.fallback import (
    StandInArbiter,
    StandInConsolidator,
    StandInExtractor,
    StandInJointReader,
    StandInSummarizer,
)
from memories.extraction.chat_model.model_calls import Asker
from memories.extraction.chat_model.phraser import ModelPhraser
from memories.extraction.chat_model.summarizer import ModelSummarizer
from memories.extraction.message_reading.foreign_texts import own_parts
from memories.extraction.message_reading.habits import BundledJointReader
from memories.extraction.summary import ExtractiveSummarizer
from memories.extraction.types import (
    Arbiter,
    Extractor,
    JointReader,
    Summarizer,
    TurnText,
    Utterance,
)
from memories.indexing import search_index
from memories.reader import reader
from memories.retrieval.query import analyse
from ops.queue.run import record_model_call

# Pairs of texts to compare while a caller waits; each takes about 8 ms on one processor core.
_MOST_PAIRS_AT_ONCE = 3


def extractor() -> Extractor:
    if not _by_model():
        return bundled_extractor()
    step = ModelExtractor(_asker(), rules=bundled_extractor())
    if settings.MODEL_FALLBACK:
        return StandInExtractor(step, bundled=bundled_extractor())
    return step


def arbiter() -> Arbiter:
    if not _by_model():
        return bundled_arbiter()
    step = ModelArbiter(_asker(), bundled=bundled_arbiter())
    return StandInArbiter(step, bundled=bundled_arbiter()) if settings.MODEL_FALLBACK else step


def summarizer() -> Summarizer:
    if not _by_model():
        return bundled_summarizer()
    step = ModelSummarizer(_asker())
    if settings.MODEL_FALLBACK:
        return StandInSummarizer(step, bundled=bundled_summarizer())
    return step


def joint_reader() -> JointReader:
    bundled = BundledJointReader()
    if not _by_model():
        return bundled
    step = ModelJointReader(_asker())
    return StandInJointReader(step, bundled=bundled) if settings.MODEL_FALLBACK else step


def consolidator() -> Consolidator:
    if not _by_model():
        return BundledConsolidator(pair_reader())
    step = ModelConsolidator(_asker())
    if settings.MODEL_FALLBACK:
        return StandInConsolidator(step, bundled=BundledConsolidator(pair_reader()))
    return step


def phraser() -> ModelPhraser | None:
    """Return the step that writes phrases for the portrait page, or None without a chat model.

    Without phrases, the portrait shows the user's own words.
    """
    return ModelPhraser(_asker(), reader=pair_reader()) if _by_model() else None


@cache
def bundled_extractor() -> BundledExtractor:
    """Return the extractor with the bundled reader model, which is loaded on first use.

    The extractor also uses the bundled embedder if the settings select it, since then the embedder
    is in memory anyway.
    """
    embedder = BundledEmbedder() if settings.EMBEDDER == "bundled" else None
    return BundledExtractor(reader(), embedder=embedder)


@cache
def bundled_arbiter() -> BundledArbiter:
    """Return the arbiter that runs in this process and needs no network."""
    return BundledArbiter(pair_reader())


def quick_arbiter() -> BundledArbiter:
    """Return the bundled arbiter with few comparisons, for calls whose caller is waiting."""
    return BundledArbiter(pair_reader(), most_pairs=_MOST_PAIRS_AT_ONCE)


def pair_reader() -> PairReader:
    """Return the bundled model that compares two texts. It is loaded on first use."""
    return reader()


@cache
def bundled_summarizer() -> Summarizer:
    return ExtractiveSummarizer(own=lambda text: own_parts(text, reader().read))


def are_steps_local() -> bool:
    """Return True if arbitration and embedding run in this process, without network calls."""
    return arbiter() is bundled_arbiter() and search_index.is_local()


def _by_model() -> bool:
    return bool(settings.LANGUAGE_METHOD == "model")


def endpoint() -> Endpoint:
    """Return the configured endpoint of the chat model."""
    return Endpoint(
        base_url=settings.MODEL_BASE_URL,
        model=settings.MODEL_NAME,
        api_key=settings.MODEL_API_KEY,
        timeout=settings.MODEL_TIMEOUT,
        retries=settings.MODEL_RETRIES,
    )


def _asker() -> Asker:
    return Asker(chat_model(endpoint()), account=record_model_call)


@cache
def chat_model(endpoint: Endpoint) -> OpenAICompatibleModel:
    """Return the chat model at this endpoint.

    The object is shared within the process, so that its connections and health state are kept.
    """
    return OpenAICompatibleModel(endpoint)


# A sample turn that exercises each step of learning: date, name, secret, and two languages.
_SAMPLE = (
    "My aunt Zofia moved to Gdynia last May. 我对花生过敏，密码是 hunter2。",
    "I see. 好的。",
)


@cache
def preload() -> None:
    """Load the reader model and a local embedder, so that forked processes share their memory.

    No connection is opened and no thread started. A second call does nothing, even in a forked
    process.
    """
    user, assistant = (Utterance(text, timezone.now()) for text in _SAMPLE)
    bundled_extractor().extract(TurnText(user, assistant))
    analyse("warm 热身")
    tokens.count("warm")
    if settings.EMBEDDER != "openai_compatible":
        search_index.configured_embedder().embed(["."])
    # The garbage collector writes to objects; a memory page that is written to is no longer shared.
    gc.collect()
    gc.freeze()
    process.return_free_memory()
