"""Which implementation of each language step is in use; the settings decide."""

from functools import cache

from django.conf import settings

from memcenter.providers.openai_compatible import Endpoint, OpenAICompatibleModel
from memories.extraction.arbitrate import BundledArbiter
from memories.extraction.asking import Asker
from memories.extraction.bundled import BundledExtractor
from memories.extraction.consolidate import BundledConsolidator, Consolidator
from memories.extraction.joint.bundled import BundledJointReader
from memories.extraction.joint.model import ModelJointReader
from memories.extraction.joint.types import JointReader
from memories.extraction.model import ModelExtractor
from memories.extraction.model_arbiter import ModelArbiter
from memories.extraction.model_consolidator import ModelConsolidator
from memories.extraction.model_summarizer import ModelSummarizer
from memories.extraction.pairs import PairReader
from memories.extraction.standing_in import (
    StandInArbiter,
    StandInConsolidator,
    StandInExtractor,
    StandInJointReader,
    StandInSummarizer,
)
from memories.extraction.summarize import ExtractiveSummarizer
from memories.extraction.types import Arbiter, Extractor, Summarizer
from memories.reader import reader
from memories.services import indexing
from ops.services import model_calls


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
        return _bundled_summarizer()
    asked = ModelSummarizer(_asker())
    if settings.MODEL_FALLBACK:
        return StandInSummarizer(asked, bundled=_bundled_summarizer())
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
    """The learned reader, loaded with the first message that is read."""
    return BundledExtractor(reader())


@cache
def bundled_arbiter() -> BundledArbiter:
    """Decides where the caller waits for the answer: it needs no network."""
    return BundledArbiter(pair_reader())


def pair_reader() -> PairReader:
    """Compares two texts. The model is loaded with the first one that is used."""
    return reader()


@cache
def _bundled_summarizer() -> Summarizer:
    return ExtractiveSummarizer()


def all_here() -> bool:
    """Whether deciding and embedding take place in this process, without asking far away."""
    return arbiter() is bundled_arbiter() and indexing.is_here()


def _by_model() -> bool:
    return bool(settings.LANGUAGE_METHOD == "model")


def endpoint() -> Endpoint:
    """Where the settings say that the model is."""
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
    """One for each endpoint in a process: it keeps its connections and knows how it fared."""
    return OpenAICompatibleModel(endpoint)
