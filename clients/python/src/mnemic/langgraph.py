"""A LangGraph store over Mnemic. Needs `pip install 'mnemic[langgraph]'`.

A namespace is a separate space, and a key is the id of a record. The text of a record has the words of the value, so
that `search(query=...)` finds it by meaning and facts and pages are derived from it; the value itself is in the
metadata. A new value under a key is the next version of the record.
"""

from __future__ import annotations

import asyncio
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import islice
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from mnemic import models
from mnemic._fence import question_of, storable
from mnemic._pieces import pieces_of, value_of
from mnemic._sync.client import Mnemic
from mnemic._sync.space import Space
from mnemic.errors import ForbiddenError, NotFoundError, UnknownSpaceError

# Maximum number of units that one search reads in a namespace.
RANKED_MAX = 200
# Maximum number of versions that the server keeps of a record, and of bytes of an id.
VERSIONS_MAX = 1_000
ID_BYTES_MAX = 256
# Number of versions after which `put` erases the former ones, because a search also reads them.
VERSIONS_KEPT = 20
# The entry of the metadata with the time at which the item was first put.
CREATED_AT = "created_at"
# The id of a later version of a record: the id of the record, and the number of the version.
VERSION_ID = re.compile(r"(.+)#v([1-9][0-9]*)", re.DOTALL)
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": lambda it, other: it is not None and it > other,
    "$gte": lambda it, other: it is not None and it >= other,
    "$lt": lambda it, other: it is not None and it < other,
    "$lte": lambda it, other: it is not None and it <= other,
}


class MnemicStore(BaseStore):
    """A store for `StateGraph.compile(store=...)`.

    >>> MnemicStore(memory).put(("memories", "ann"), "food", {"text": "I like sushi."})

    `put` replaces the value under the key. The server keeps former values as versions of the record, which `get` and
    `search` do not return, until `delete` erases all of them, which needs an API key with the right `admin`.

    With that right, `put` erases the former values after every 20 of a key, because a search also reads them. If the
    program ends between this erasure and the new value, the item is lost. Without the right, `put` leaves the former
    values, and fails when the server can store no further version: after 1,000 values, or earlier if the key has more
    than 250 bytes.

    A value has at most 30 KB of JSON. A search uses its texts, or the texts of the fields in `index`. A value without
    words, or with `index=False`, is found only by its key and by filters. Values do not expire (`ttl` is not
    supported).
    """

    supports_ttl = False

    def __init__(self, memory: Mnemic, *, prefix: str = "graph") -> None:
        """`prefix` begins the names of the spaces of this store, so that several stores can share a server. It contains
        no dot.
        """
        if "." in prefix:
            raise ValueError(f"the prefix {prefix!r} contains a dot, which separates parts of a namespace; use `-` instead")
        self.memory = memory
        self.prefix = prefix

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._list(op)
            case PutOp():
                self._put(op)
                return None
        raise ValueError(f"unknown operation: {type(op).__name__}")

    def _space(self, namespace: tuple[str, ...]) -> Space:
        return self.memory.space(name_of(self.prefix, namespace))

    def _get(self, op: GetOp) -> Item | None:
        record = newest_of(self._space(op.namespace), op.key)
        return None if record is None else item_of(op.namespace, record)

    def _put(self, op: PutOp) -> None:
        space = self._space(op.namespace)
        before = newest_of(space, op.key)
        if op.value is None:
            if before is not None:
                space.erase_record(op.key, wait=True)
            return
        # The record is built before anything is erased, so if the value cannot be stored, the former one stays.
        record = record_of(op, before)
        if before is not None:
            make_room(space, op.key, number_of(before))
        try:
            space.put_record(op.key, record, wait=True)
        except UnknownSpaceError:
            space.create()
            space.put_record(op.key, record, wait=True)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        kept = (it for it in self._below(op) if matches(it.value, op.filter or {}))
        return list(islice(kept, op.offset, op.offset + op.limit))

    def _below(self, op: SearchOp) -> Iterator[SearchItem]:
        """Yields the items that the query finds, by their scores, and then the other items. A namespace is read only if
        the caller takes other items.
        """
        namespaces = [it for it in self._namespaces() if it[: len(op.namespace_prefix)] == op.namespace_prefix]
        found: set[tuple[tuple[str, ...], str]] = set()
        for scored in self._scored(namespaces, question_of(op.query or "")):
            record = newest_of(self._space(scored.namespace), key_of_id(scored.id))
            # The score of a former value says nothing about the item.
            item = item_of(scored.namespace, record) if record is not None and record.id == scored.id else None
            if item is not None:
                found.add((item.namespace, item.key))
                yield search_item(item, scored.score)
        for namespace in namespaces:
            for record in newest_records(self._space(namespace)):
                item = item_of(namespace, record)
                if item is not None and (namespace, item.key) not in found:
                    yield search_item(item, None)

    def _scored(self, namespaces: list[tuple[str, ...]], question: str) -> list[Scored]:
        """Returns the records that a question finds, the best first."""
        if not question:
            return []
        scored: list[Scored] = []
        for namespace in namespaces:
            answer = self._space(namespace).ask(question, answer=False, tokens=1, ranked=RANKED_MAX)
            best: dict[str, float] = {}
            for unit in answer.ranked or []:
                for id in unit.external_ids:
                    best.setdefault(id, unit.score)
            scored.extend(Scored(namespace, id, score) for id, score in best.items())
        return sorted(scored, key=lambda it: -it.score)

    def _namespaces(self) -> list[tuple[str, ...]]:
        names = [namespace_of(self.prefix, it.space) for it in self.memory.spaces(page_size=1000) if it.records]
        return sorted(it for it in names if it is not None)

    def _list(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = [it for it in self._namespaces() if all(fits(it, condition) for condition in op.match_conditions or ())]
        if op.max_depth is not None:
            found = sorted({it[: op.max_depth] for it in found})
        return found[op.offset : op.offset + op.limit]


@dataclass(frozen=True)
class Scored:
    """A record that a question finds."""

    namespace: tuple[str, ...]
    id: str
    score: float


def newest_of(space: Space, key: str) -> models.Record | None:
    """Returns the newest version of the record under a key, if it exists."""
    try:
        record = space.record(key)
    except NotFoundError:
        return None
    # The server also finds a record by Mnemic's id, and by the id of a version. Neither is a key.
    return record if key_of(record) == key else None


def newest_records(space: Space) -> Iterable[models.Record]:
    """Returns the newest version of each record, in the order in which the first versions were stored."""
    newest: dict[str, models.Record] = {}
    for record in space.records(page_size=1000):
        known = newest.get(key_of(record))
        if known is None or number_of(record) > number_of(known):
            newest[key_of(record)] = record
    return newest.values()


def make_room(space: Space, key: str, number: int) -> None:
    """Erases the versions of a record, the newest of which is `number`, if the server stores no further version, or if
    there are many and the API key may erase them.
    """
    is_full = number >= VERSIONS_MAX or len(f"{key}#v{number + 1}".encode()) > ID_BYTES_MAX
    if not is_full and number % VERSIONS_KEPT != 0:
        return
    try:
        space.erase_record(key, wait=True)
    except ForbiddenError:
        if is_full:
            raise


def key_of(record: models.Record) -> str:
    """Returns the key of a record: the id of its first version."""
    return record.id if record.version is None else record.version.of


def number_of(record: models.Record) -> int:
    """Returns the number of a version, from 1."""
    return 1 if record.version is None else record.version.number


def key_of_id(id: str) -> str:
    """Returns the key to which an id belongs: the id of a record, or of one of its versions. The server refuses a
    key that looks like the id of a version.
    """
    parts = VERSION_ID.fullmatch(id)
    return parts[1] if parts and 2 <= int(parts[2]) <= VERSIONS_MAX else id


def name_of(prefix: str, namespace: tuple[str, ...]) -> str:
    """Returns the name of the space of a namespace; characters that a name cannot contain are written as `_` and hex
    digits.
    """

    def escaped(part: str) -> str:
        return re.sub(r"[^a-z0-9-]", lambda it: "".join(f"_{byte:02x}" for byte in it[0].encode()), part)

    name = ".".join([prefix, *map(escaped, namespace)])
    if len(name) > 64:
        raise ValueError(f"the namespace {namespace} is too long for the name of a space: {len(name)} of 64 characters")
    return name


def namespace_of(prefix: str, name: str) -> tuple[str, ...] | None:
    """Returns the namespace of a space, or None if the space does not belong to this store."""
    first, *parts = name.split(".")
    if first != prefix or not parts:
        return None
    try:
        namespace = tuple(unescaped(it) for it in parts)
    except ValueError:
        return None
    # Another program may have named a space with escapes that this store would not write.
    return namespace if name_of(prefix, namespace) == name else None


def unescaped(part: str) -> str:
    first, *rest = part.split("_")
    return (first.encode() + b"".join(bytes.fromhex(it[:2]) + it[2:].encode() for it in rest)).decode()


def record_of(op: PutOp, before: models.Record | None) -> dict[str, Any]:
    """Returns the record of an item: its words are the text, and its value is in pieces in the metadata. `before` is the
    record of the former value.
    """
    metadata = pieces_of("value", op.value, f"the value of {op.key!r}")
    former = {} if before is None else before.metadata
    metadata[CREATED_AT] = former.get(CREATED_AT) or datetime.now(timezone.utc).isoformat()
    fields = [] if op.index is False else (op.index or ["$"])
    text = storable("\n".join(words(op.value, fields))) if op.value is not None else ""
    return {"id": op.key, "text": text if text.strip() else op.key, "metadata": metadata}


def words(value: Mapping[str, Any], fields: list[str]) -> Iterator[str]:
    from langgraph.store.base import get_text_at_path, tokenize_path

    for field in fields:
        if field == "$":
            yield from texts(value)
        else:
            yield from get_text_at_path(value, tokenize_path(field))


def texts(value: Any) -> Iterator[str]:
    """Returns the texts in a value, in the same order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for it in value.values():
            yield from texts(it)
    elif isinstance(value, list | tuple):
        for it in value:
            yield from texts(it)


def item_of(namespace: tuple[str, ...], record: models.Record) -> Item | None:
    """Returns the item of a record, or None if another program stored the record in the space."""
    metadata = record.metadata
    if CREATED_AT not in metadata or "value00" not in metadata:
        return None
    created = datetime.fromisoformat(metadata[CREATED_AT])
    value = value_of("value", metadata)
    return Item(value=value, key=key_of(record), namespace=namespace, created_at=created, updated_at=record.observed_at)


def search_item(item: Item, score: float | None) -> SearchItem:
    return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score=score)


def matches(value: Mapping[str, Any], filter: Mapping[str, Any]) -> bool:
    return all(matches_field(value.get(name), wanted) for name, wanted in filter.items())


def matches_field(found: Any, wanted: Any) -> bool:
    """Compares as LangGraph's own stores do: an object matches an object with more fields, and a list matches item by
    item.
    """
    if isinstance(wanted, Mapping) and any(name.startswith("$") for name in wanted):
        unknown = wanted.keys() - COMPARED.keys()
        if unknown:
            raise ValueError(f"there is no operator {sorted(unknown)[0]}; there are {', '.join(COMPARED)}")
        return all(COMPARED[str(name)](found, it) for name, it in wanted.items())
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and matches(found, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(wanted)
            and all(matches_field(it, other) for it, other in zip(found, wanted, strict=True))
        )
    return bool(found == wanted)


def fits(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", it) for wanted, it in zip(path, part, strict=True))
