"""Vector search: Milvus finds near vectors, and PostgreSQL then filters and ranks them."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from foundation.database import statements
from foundation.errors import ProviderError
from foundation.providers.openai_compatible import CircuitBreaker
from memories.retrieval.stores.base import NearestQuery, UnitVector, VectorStore

if TYPE_CHECKING:
    from pymilvus import MilvusClient


logger = logging.getLogger(__name__)
_OVERFETCH = 2  # ids requested per result, since some may not be eligible

# Vectors whose changes aren't in Milvus yet are compared here, so that no result is outdated.
_COMPARED = """
SELECT v.target_id, v.embedding <#> %s::halfvec AS distance FROM memories_vector v
 WHERE v.user_id = %s AND v.space_id = %s AND v.target_kind = %s
   AND v.target_id = ANY(%s::bigint[] || ARRAY(
         SELECT c.target_id FROM memories_vectorchange c
          WHERE c.user_id = %s AND c.space_id = %s AND c.target_kind = %s))
   AND (v.target_id IN ({eligible})) IS TRUE
 ORDER BY distance, v.target_id LIMIT %s
"""


@dataclass(frozen=True)
class MilvusStore:
    """A store that searches in Milvus and checks the results in PostgreSQL.

    The store `instead` is searched if Milvus fails, or if too few results of Milvus are eligible.
    """

    server: MilvusServer
    breaker: CircuitBreaker
    instead: VectorStore

    def nearest(self, query: NearestQuery) -> Mapping[int, float]:
        wanted = min(_OVERFETCH * query.limit, MOST)
        try:
            ids = self._near(query, limit=wanted)
        except ProviderError as error:
            logger.warning("searching in PostgreSQL instead: %s", error)
        else:
            scope = (query.user_id, query.space_id, query.kind)
            eligible = query.eligible
            values = [query.vector_json, *scope, ids, *scope, *eligible.values, query.limit]
            rows = statements.rows(_COMPARED.format(eligible=eligible.text), values)
            found = {target_id: -distance for target_id, distance in rows}
            if len(found) >= query.limit or len(ids) < wanted:
                return found
        return self.instead.nearest(query)

    def _near(self, query: NearestQuery, *, limit: int) -> list[int]:
        self.breaker.check()
        try:
            found = self.server.near(
                query.vector,
                space_id=query.space_id,
                user_id=query.user_id,
                kind=query.kind,
                limit=limit,
            )
        except ProviderError:
            self.breaker.note(failed=True)
            raise
        self.breaker.note(failed=False)
        return found


AT_ONCE = 500
MOST = 16_384  # the most results that Milvus returns for a request
_ID = 40  # maximum length of an id; "fragment:" and a bigint have at most 28 characters
_NOT_LOADED = 101
# Reconnect quickly after an outage; by default gRPC waits for up to two minutes.
_GRPC_OPTIONS = {
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.min_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
    "grpc.use_local_subchannel_pool": 1,
}


@dataclass(frozen=True)
class Entity:
    """A vector in Milvus; `name` is the target's kind and id, as in `memory:12`."""

    name: str
    user_id: int
    kind: str
    vector: Sequence[float]


def name_of(kind: str, target_id: int) -> str:
    return f"{kind}:{target_id}"


@dataclass(frozen=True)
class MilvusServer:
    """A Milvus server; calls raise a retryable `ProviderError` if it fails or can't be reached.

    The names of this installation's collections begin with `prefix`, so that several installations
    may share a server. `timeout` is in seconds, per request.
    """

    uri: str
    token: str
    prefix: str
    timeout: float

    def spaces(self) -> set[int]:
        """Return the ids of the embedding spaces that have a collection."""
        names = self._ask(lambda client: client.list_collections(timeout=self.timeout))
        start = f"{self.prefix}_space_"
        numbers = (name.removeprefix(start) for name in names if name.startswith(start))
        return {int(number) for number in numbers if number.isdigit()}

    def make(self, space_id: int, *, dimensions: int) -> None:
        """Create the collection for an embedding space, unless it exists.

        Reads from the collection see all earlier writes.
        """
        if space_id in self.spaces():
            return

        def made(client: MilvusClient) -> None:
            index = client.prepare_index_params()
            index.add_index("embedding", index_type="AUTOINDEX", metric_type="IP")
            client.create_collection(
                self._name(space_id),
                schema=_schema(client, dimensions),
                index_params=index,
                consistency_level="Strong",
                timeout=self.timeout,
            )

        self._ask(made)

    def drop(self, space_id: int) -> None:
        name = self._name(space_id)
        self._ask(lambda client: client.drop_collection(name, timeout=self.timeout))

    def put(self, space_id: int, entities: Sequence[Entity]) -> None:
        """Write entities, replacing existing entities for the same targets."""
        rows = [
            {
                "id": entity.name,
                "user_id": entity.user_id,
                "kind": entity.kind,
                "embedding": entity.vector,
            }
            for entity in entities
        ]
        name = self._name(space_id)
        self._ask(lambda client: client.upsert(name, rows, timeout=self.timeout), space_id)

    def remove(self, space_id: int, names: Collection[str]) -> int:
        """Delete the entities with these names; return how many of them existed."""
        there = sorted(self.held(space_id, names))
        name = self._name(space_id)
        if there:
            self._ask(lambda client: client.delete(name, ids=there, timeout=self.timeout), space_id)
        return len(there)

    def near(
        self, vector: UnitVector, *, space_id: int, user_id: int, kind: str, limit: int
    ) -> list[int]:
        """Return the ids of the user's targets of this kind that are nearest to the vector.

        The nearest target comes first.
        """
        asked = [[float(value) for value in vector]]
        [found] = self._ask(
            lambda client: client.search(
                self._name(space_id),
                asked,
                filter=f'user_id == {int(user_id)} and kind == "{kind}"',
                limit=limit,
                output_fields=["id"],
                search_params={"metric_type": "IP"},
                timeout=self.timeout,
            ),
            space_id,
        )
        return [int(hit["id"].partition(":")[2]) for hit in found]

    def held(self, space_id: int, names: Collection[str]) -> set[str]:
        """Return the names among `names` for which an entity exists."""
        every = sorted(names)
        found: set[str] = set()
        for start in range(0, len(every), AT_ONCE):
            wanted = orjson.dumps(every[start : start + AT_ONCE]).decode()
            found.update(self._query(space_id, f"id in {wanted}", limit=AT_ONCE))
        return found

    def some_of(self, space_id: int, user_id: int) -> set[str]:
        """Return the names of up to 20 entities that belong to a user."""
        return set(self._query(space_id, f"user_id == {int(user_id)}", limit=20))

    def everything(self, space_id: int, *, user_id: int | None) -> Iterator[list[str]]:
        """Yield the names of all entities in batches, for one user or for all users."""
        condition = f"user_id == {int(user_id)}" if user_id is not None else 'id != ""'
        parts = self._ask(
            lambda client: client.query_iterator(
                self._name(space_id),
                batch_size=AT_ONCE,
                filter=condition,
                output_fields=["id"],
                timeout=self.timeout,
            ),
            space_id,
        )
        while part := self._ask(lambda _: parts.next()):
            yield [str(entity["id"]) for entity in part]
        parts.close()

    def _query(self, space_id: int, condition: str, *, limit: int) -> list[str]:
        found = self._ask(
            lambda client: client.query(
                self._name(space_id),
                filter=condition,
                output_fields=["id"],
                limit=limit,
                timeout=self.timeout,
            ),
            space_id,
        )
        return [str(entity["id"]) for entity in found]

    def _name(self, space_id: int) -> str:
        return f"{self.prefix}_space_{int(space_id)}"

    def _ask(self, request: Callable[[MilvusClient], Any], space_id: int | None = None) -> Any:
        """Run a request, and raise `ProviderError` if it fails.

        If the collection of `space_id` isn't loaded, load it and run the request again.
        """
        # Imported here: installations with vectors only in PostgreSQL don't need pymilvus.
        try:
            from grpc import RpcError
            from pymilvus import MilvusException
        except ImportError as error:
            raise ProviderError("pymilvus is not installed.", retryable=True) from error
        try:
            try:
                return request(self._client())
            except MilvusException as error:
                if space_id is None or error.code != _NOT_LOADED:
                    raise
                self._client().load_collection(self._name(space_id), timeout=self.timeout)
                return request(self._client())
        except (MilvusException, RpcError) as error:
            # The error's own message is left out, because it may quote the request.
            text = f"Milvus can't be reached or refused ({type(error).__name__})."
            raise ProviderError(text, retryable=True) from error

    def _client(self) -> MilvusClient:
        """Return the client of this process; a forked process can't use its parent's connection."""
        from pymilvus import MilvusClient

        key = (os.getpid(), self.uri, self.token)
        with _connecting:
            if key not in _clients:
                # Silence pymilvus, which installs a log handler on import and logs requests.
                own = logging.getLogger("pymilvus")
                own.handlers.clear()
                own.setLevel(logging.CRITICAL)
                _clients[key] = MilvusClient(
                    uri=self.uri,
                    token=self.token,
                    timeout=self.timeout,
                    dedicated=True,
                    grpc_options=_GRPC_OPTIONS,
                )
            return _clients[key]


def _schema(client: MilvusClient, dimensions: int) -> Any:
    from pymilvus import DataType

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", DataType.VARCHAR, max_length=_ID, is_primary=True)
    # All vectors of a user are in one partition, so that a search skips the other partitions.
    schema.add_field("user_id", DataType.INT64, is_partition_key=True)
    schema.add_field("kind", DataType.VARCHAR, max_length=10)
    schema.add_field("embedding", DataType.FLOAT_VECTOR, dim=dimensions)
    return schema


_clients: dict[tuple[int, str, str], Any] = {}
_connecting = threading.Lock()
