"""A session of the OpenAI Agents SDK over a space. Needs `pip install 'mnemic[agents]'`.

Each item of the session is a record. The text of the record is the text of the user, the model or the tool, so that
questions find it and facts are derived from it. The rest of the item is in the metadata, and `get_items` restores the
whole item.
"""

from __future__ import annotations

import copy
import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from agents.memory import SessionSettings

from mnemic import models
from mnemic._async.space import AsyncSpace
from mnemic._fence import REFUSED, storable, without_memory_blocks
from mnemic._pieces import pieces_of, value_of
from mnemic._records import Numbered, batches_of
from mnemic.errors import NotFoundError

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

# Prefix of the names of the metadata entries.
ENTRY = "item"
# Records per request, and per page of a list.
BATCH_MAX = 500
PAGE_SIZE = 1_000
TOOL_NAME_BYTES_MAX = 128


class MnemicSession:
    """The items of one session of a space, in order: a `Session` for `Runner.run(..., session=...)`.

    >>> session = MnemicSession("monday", space=memory.space("ann"))
    >>> await Runner.run(agent, "I repotted the fern.", session=session)

    `actor` and `assistant` are the names of the user and of the model in the memory. Use a session name that no other
    program uses: records of other programs in the session are not items, but `clear_session` erases them too.
    `pop_item` and `clear_session` erase permanently, which needs an API key with the right `admin`.

    An item may have 30 KB of JSON in addition to its texts. A larger item, such as a message with a picture, raises
    `ValueError`, and nothing is stored. Messages of a system or a developer to the model are stored, but no question
    finds them.
    """

    session_id: str
    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        *,
        space: AsyncSpace,
        actor: str = "user",
        assistant: str = "assistant",
        session_settings: SessionSettings | None = None,
    ) -> None:
        """`session_settings.limit` is the number of items that `get_items` returns if it gets no limit."""
        self.session_id = session_id
        self.session_settings = session_settings
        self.space = space
        self.actors = {"user": actor, "assistant": assistant}

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns all items, oldest first, or only the latest `limit` items."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        return [cast("TResponseInputItem", item_of(record)) for record in await self._latest(limit)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Appends items, and returns when `get_items` and questions see them."""
        records = [{"session": self.session_id, **record_of(item, self.actors)} for item in items]
        numbered = (Numbered(at, record, len(json.dumps(record))) for at, record in enumerate(records))
        for batch in batches_of(numbered, BATCH_MAX):
            await self.space.remember([it.record for it in batch], wait=True)

    async def pop_item(self) -> TResponseInputItem | None:
        """Erases the latest item permanently and returns it, or None if there is no item."""
        latest = await self._latest(1)
        if not latest:
            return None
        await self.space.erase_record(latest[0].id, wait=True)
        return cast("TResponseInputItem", item_of(latest[0]))

    async def clear_session(self) -> None:
        """Erases the session permanently."""
        try:
            await self.space.erase_session(self.session_id, wait=True)
        except NotFoundError:
            return

    async def _latest(self, limit: int | None) -> list[models.Record]:
        """Returns the records of the latest `limit` items, or of all items."""
        found: deque[models.Record] = deque(maxlen=None if limit is None else max(limit, 0))
        try:
            async for record in self.space.records(session=self.session_id, page_size=PAGE_SIZE):
                if f"{ENTRY}00" in record.metadata:
                    found.append(record)
        except NotFoundError:
            return []
        return list(found)


@dataclass(frozen=True)
class ItemText:
    """A text of an item: its path in the item, and the text itself."""

    path: tuple[str | int, ...]
    text: str

    def is_stored_unchanged(self) -> bool:
        """Returns true if the server stores the text without a change."""
        return not REFUSED.search(self.text) and without_memory_blocks(self.text) == self.text


def record_of(item: Mapping[str, Any], actors: Mapping[str, str]) -> dict[str, Any]:
    """Returns the record of an item, with a new id, so that an item may occur twice.

    Texts that the server stores without a change are not repeated in the metadata, which have the character range of
    such a text in the text of the record. Other texts are in both: unchanged in the metadata, and in the record without
    refused or removed parts.
    """
    rest = copy.deepcopy(dict(item))
    texts: list[str] = []
    ranges: list[tuple[tuple[str | int, ...], int, int]] = []
    at = 0
    for part in texts_of(item):
        text = part.text
        if part.is_stored_unchanged():
            ranges.append((part.path, at, at + len(text)))
            put(rest, part.path, "")
        else:
            text = storable(text)
        texts.append(text)
        at += len(text) + 1
    text = "\n".join(texts)
    record: dict[str, Any] = {"id": str(uuid4()), "actor": actor_of(item, actors)}
    if text.strip():
        record["text"] = text
    else:
        rest, ranges = dict(item), []
        record.update(wordless(item))
    record["metadata"] = pieces_of(ENTRY, {"item": rest, "texts": ranges}, f"the {kind_of(item)} item")
    return record


def item_of(record: models.Record) -> dict[str, Any]:
    """Returns the item from which a record was made."""
    kept = value_of(ENTRY, record.metadata)
    item: dict[str, Any] = kept["item"]
    for path, start, end in kept["texts"]:
        put(item, path, record.text[start:end])
    return item


def texts_of(item: Mapping[str, Any]) -> Iterator[ItemText]:
    """Returns the texts of an item: the words of users and models, and the result of a tool."""
    if kind_of(item) == "message" and item.get("role") in ("user", "assistant"):
        yield from texts_at("content", item.get("content"))
    elif kind_of(item).endswith("_output"):
        yield from texts_at("output", item.get("output"))


def texts_at(field: str, value: Any) -> Iterator[ItemText]:
    """Returns the texts of a field that is a text or a list of parts."""
    if isinstance(value, str) and value:
        yield ItemText((field,), value)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            for name in ("text", "refusal"):
                if isinstance(part, Mapping) and isinstance(part.get(name), str) and part[name]:
                    yield ItemText((field, index, name), part[name])


def wordless(item: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a text for an item that has none: the call of a tool, or the kind of the item."""
    name = item.get("name")
    if kind_of(item) == "function_call" and isinstance(name, str) and is_tool_name(name):
        return {"tool": {"name": name, "arguments": storable(str(item.get("arguments", "")))}}
    return {"text": f"({kind_of(item)})"}


def is_tool_name(name: str) -> bool:
    """Returns true if the server accepts a name of a tool: limited length, visible characters, and no control
    characters.
    """
    return bool(name.strip()) and name.isprintable() and len(name.encode()) <= TOOL_NAME_BYTES_MAX


def kind_of(item: Mapping[str, Any]) -> str:
    """Returns the type of an item; messages may omit it."""
    kind = item.get("type") or ("message" if "role" in item else "unknown")
    return storable(str(kind))


def actor_of(item: Mapping[str, Any], actors: Mapping[str, str]) -> str:
    """Returns the actor of an item: the names of users and models, and the roles of others."""
    if kind_of(item).endswith("_output"):
        return "tool"
    role = str(item.get("role", "assistant"))
    return actors.get(role, storable(role))


def put(item: Any, path: tuple[str | int, ...] | list[str | int], text: str) -> None:
    """Sets the text at a path of keys and indexes."""
    for step in path[:-1]:
        item = item[step]
    item[path[-1]] = text
