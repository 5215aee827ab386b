"""A LangGraph store over Mnemic. Needs `pip install 'mnemic[langgraph]'`.

A namespace is a separate space, and a key is the id of a record. The text of a record has the words of the value, so
that `search(query=...)` finds it by meaning and facts and pages are derived from it; the value itself is in the
metadata.
"""

from __future__ import annotations

import asyncio
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from mnemic._pieces import pieces_of, value_of
from mnemic._sync.client import Mnemic
from mnemic._sync.space import Space
from mnemic.errors import NotFoundError, UnknownSpaceError

# Maximum number of units that one search reads in a namespace.
RANKED_MAX = 200
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

    `put` replaces the value under the key: the old record is erased, which needs an API key with the right `admin`. A
    value has at most 30 KB of JSON. A search uses its texts, or the texts of the fields in `index`. A value without
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
        try:
            return item_of(op.namespace, self._space(op.namespace).record(op.key))
        except NotFoundError:
            return None

    def _put(self, op: PutOp) -> None:
        space = self._space(op.namespace)
        before = self._get(GetOp(op.namespace, op.key))
        if before is not None:
            if before.value == op.value:
                return
            space.erase_record(op.key, wait=True)
        if op.value is None:
            return
        record = record_of(op, before.created_at if before else None)
        try:
            space.remember(record, wait=True)
        except UnknownSpaceError:
            space.create()
            space.remember(record, wait=True)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        kept = (it for it in self._below(op) if matches(it.value, op.filter or {}))
        if op.query:
            ranked = sorted(kept, key=lambda it: -(it.score if it.score is not None else float("-inf")))
            return ranked[op.offset : op.offset + op.limit]
        return list(islice(kept, op.offset, op.offset + op.limit))

    def _below(self, op: SearchOp) -> Iterator[SearchItem]:
        for namespace in self._namespaces():
            if namespace[: len(op.namespace_prefix)] == op.namespace_prefix:
                yield from self._found(namespace, op.query)

    def _found(self, namespace: tuple[str, ...], query: str | None) -> Iterator[SearchItem]:
        """Returns the items of a namespace; items that the query finds have a score."""
        space = self._space(namespace)
        scores = self._scores(space, query) if query else {}
        for record in space.records(page_size=1000):
            item = item_of(namespace, record)
            yield SearchItem(
                item.namespace, item.key, item.value, item.created_at, item.updated_at, score=scores.get(record.id)
            )

    def _scores(self, space: Space, query: str) -> dict[str, float]:
        scores: dict[str, float] = {}
        for unit in space.ask(query, answer=False, tokens=1, ranked=RANKED_MAX).ranked or []:
            for key in unit.external_ids:
                scores.setdefault(key, unit.score)
        return scores

    def _namespaces(self) -> list[tuple[str, ...]]:
        names = [namespace_of(self.prefix, it.space) for it in self.memory.spaces(page_size=1000) if it.records]
        return sorted(it for it in names if it is not None)

    def _list(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = [it for it in self._namespaces() if all(fits(it, condition) for condition in op.match_conditions or ())]
        if op.max_depth is not None:
            found = sorted({it[: op.max_depth] for it in found})
        return found[op.offset : op.offset + op.limit]


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
    return tuple(unescaped(it) for it in parts)


def unescaped(part: str) -> str:
    first, *rest = part.split("_")
    return (first.encode() + b"".join(bytes.fromhex(it[:2]) + it[2:].encode() for it in rest)).decode()


def record_of(op: PutOp, created_at: datetime | None) -> dict[str, Any]:
    """Returns the record of an item: its words are the text, and its value is in pieces in the metadata."""
    metadata = pieces_of("value", op.value, f"the value of {op.key!r}")
    metadata["created_at"] = (created_at or datetime.now(timezone.utc)).isoformat()
    fields = [] if op.index is False else (op.index or ["$"])
    text = "\n".join(words(op.value, fields)) if op.value is not None else ""
    return {"id": op.key, "text": text or op.key, "metadata": metadata}


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


def item_of(namespace: tuple[str, ...], record: models.Record) -> Item:
    metadata = record.metadata
    created = datetime.fromisoformat(metadata["created_at"])
    value = value_of("value", metadata)
    return Item(value=value, key=record.id, namespace=namespace, created_at=created, updated_at=record.observed_at)


def matches(value: Mapping[str, Any], filter: Mapping[str, Any]) -> bool:
    return all(matches_field(value.get(name), wanted) for name, wanted in filter.items())


def matches_field(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping) and wanted and all(name.startswith("$") for name in wanted):
        unknown = wanted.keys() - COMPARED.keys()
        if unknown:
            raise ValueError(f"there is no operator {sorted(unknown)[0]}; there are {', '.join(COMPARED)}")
        return all(COMPARED[str(name)](found, it) for name, it in wanted.items())
    return bool(found == wanted)


def fits(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", it) for wanted, it in zip(path, part, strict=True))
