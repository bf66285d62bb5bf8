"""Select the implementation of each language step, as the settings say."""

from functools import cache

from django.conf import settings

from memcenter.providers.openai_compatible import Endpoint, OpenAICompatibleModel
from memories.extraction.arbitration.consolidation import BundledConsolidator, Consolidator
from memories.extraction.arbitration.pairs import PairReader
from memories.extraction.arbitration.verdicts import BundledArbiter
from memories.extraction.bundled import BundledExtractor
from memories.extraction.chat_model.arbiter import ModelArbiter
from memories.extraction.chat_model.consolidator import ModelConsolidator
from memories.extraction.chat_model.extractor import ModelExtractor
from memories.extraction.chat_model.fallback import (
    StandInArbiter,
    StandInConsolidator,
    StandInExtractor,
    StandInJointReader,
    StandInSummarizer,
)
from memories.extraction.chat_model.joint_reader import ModelJointReader
from memories.extraction.chat_model.questions import Asker
from memories.extraction.chat_model.summarizer import ModelSummarizer
from memories.extraction.habits import BundledJointReader
from memories.extraction.joint_types import JointReader
from memories.extraction.summary import ExtractiveSummarizer
from memories.extraction.types import Arbiter, Extractor, Summarizer
from memories.indexing import search_index
from memories.reader import reader
from ops.queue import model_calls


def extractor() -> Extractor:
    if not _by_model():
        return bundled_extractor()
    asked = ModelExtractor(_asker(), rules=bundled_extractor())
    if settings.MODEL_FALLBACK:
        return StandInExtractor(asked, bundled=bundled_extractor())
    return asked


def arbiter() -> Arbiter:
    if not _by_model():
        return bundled_arbiter()
    asked = ModelArbiter(_asker(), bundled=bundled_arbiter())
    return StandInArbiter(asked, bundled=bundled_arbiter()) if settings.MODEL_FALLBACK else asked


def summarizer() -> Summarizer:
    if not _by_model():
        return bundled_summarizer()
    asked = ModelSummarizer(_asker())
    if settings.MODEL_FALLBACK:
        return StandInSummarizer(asked, bundled=bundled_summarizer())
    return asked


def joint_reader() -> JointReader:
    bundled = BundledJointReader()
    if not _by_model():
        return bundled
    asked = ModelJointReader(_asker())
    return StandInJointReader(asked, bundled=bundled) if settings.MODEL_FALLBACK else asked


def consolidator() -> Consolidator:
    if not _by_model():
        return BundledConsolidator(pair_reader())
    asked = ModelConsolidator(_asker())
    if settings.MODEL_FALLBACK:
        return StandInConsolidator(asked, bundled=BundledConsolidator(pair_reader()))
    return asked


@cache
def bundled_extractor() -> BundledExtractor:
    """The learned reader; it is loaded when the first message is read."""
    return BundledExtractor(reader())


@cache
def bundled_arbiter() -> BundledArbiter:
    """The arbiter for calls whose caller waits for the answer: it needs no network."""
    return BundledArbiter(pair_reader())


def pair_reader() -> PairReader:
    """Return the model that compares two texts; it is loaded on first use."""
    return reader()


@cache
def bundled_summarizer() -> Summarizer:
    return ExtractiveSummarizer()


def all_here() -> bool:
    """Whether arbitration and embedding run in this process, without network calls."""
    return arbiter() is bundled_arbiter() and search_index.is_here()


def _by_model() -> bool:
    return bool(settings.LANGUAGE_METHOD == "model")


def endpoint() -> Endpoint:
    """Return the model's endpoint of the settings."""
    return Endpoint(
        base_url=settings.MODEL_BASE_URL,
        model=settings.MODEL_NAME,
        api_key=settings.MODEL_API_KEY,
        timeout=settings.MODEL_TIMEOUT,
        retries=settings.MODEL_RETRIES,
    )


def _asker() -> Asker:
    return Asker(chat_model(endpoint()), account=model_calls.record)


@cache
def chat_model(endpoint: Endpoint) -> OpenAICompatibleModel:
    """Return the endpoint's model, shared per process: it keeps connections and health state."""
    return OpenAICompatibleModel(endpoint)
