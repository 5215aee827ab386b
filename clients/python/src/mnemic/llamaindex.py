"""A memory for agents of LlamaIndex over a space. Needs `pip install 'mnemic[llamaindex]'`.

`MnemicMemoryBlock` is a block for LlamaIndex's own `Memory`, which passes messages to the block when its history is
full. `MnemicMemory` is a `Memory` that passes every message immediately, so that short conversations are remembered
too.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock, Memory
from pydantic import ConfigDict, Field

from mnemic import models
from mnemic._async.space import AsyncSpace
from mnemic._fence import memory_block, question_of, storable
from mnemic._sync.space import Space

# Maximum number of characters of a message that are stored: the server accepts 1 MiB.
STORED_CHARS_MAX = 250_000
# Number of latest messages of the history that are excluded from evidence, since the model sees them anyway: a filter
# has at most 100 values.
SEEN_MAX = 100
# The metadata entry of a record by which the evidence is filtered.
ENTRY = "message"
# Roles whose messages are stored: not the instructions of a program, and not the results of its tools.
STORED_ROLES = (MessageRole.USER, MessageRole.ASSISTANT)
DEFAULT_SESSION = "default"


class MnemicMemoryBlock(BaseMemoryBlock[str]):
    """Shows the model evidence for the user's last message, and stores the messages of the user and the model.

    >>> block = MnemicMemoryBlock(space=memory.space("ann"), tokens=512)
    >>> chat = MnemicMemory.from_defaults(session_id="monday", memory_blocks=[block])
    >>> await agent.run("When did I repot the fern?", memory=chat)

    The evidence has at most `tokens` tokens and excludes the latest 100 messages that are still in the history. The
    model sees it as data between marks, and text between marks is not stored again. The session of a record is that of
    the `Memory`. The id of a record is derived from session, role and text, so the same words are stored only once per
    session.

    With `async_space`, the block uses that space, in the event loop to which it belongs. Otherwise it runs `space` in a
    thread, which also works with the sync methods of `Memory`. Errors of the server are raised.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    name: str = "long_term_memory"
    space: Space = Field(exclude=True)
    async_space: AsyncSpace | None = Field(default=None, exclude=True)
    tokens: int = Field(default=512, ge=1)
    # The names of the user and of the model in the memory.
    actor: str = "user"
    assistant: str = "assistant"
    # Further options of `Space.ask`: `filter`, `strategy`, `as_of`, `budget`.
    options: dict[str, Any] = Field(default_factory=dict)

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str:
        """Returns evidence for the user's last message as a marked block; empty if there is no message or no evidence."""
        question = last_question(messages or [])
        if not question:
            return ""
        seen = [it["id"] for it in self._records(messages or [], session_id or DEFAULT_SESSION)]
        options = {**self.options, "filter": unseen(self.options.get("filter"), seen[-SEEN_MAX:])}
        found = await self._ask(question, options)
        return memory_block(question, found.pack.text) if found.pack.text else ""

    async def _ask(self, question: str, options: dict[str, Any]) -> models.QueryResponse:
        if self.async_space is not None:
            return await self.async_space.ask(question, tokens=self.tokens, answer=False, **options)
        return await asyncio.to_thread(self.space.ask, question, tokens=self.tokens, answer=False, **options)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Stores messages. `aput` adds the session to each message, and this method removes it again."""
        records: list[dict[str, Any]] = []
        for message in messages:
            session = message.additional_kwargs.pop("session_id", None)
            records.extend(self._records([message], session or DEFAULT_SESSION))
        # Equal messages in a batch are one record.
        records = list({it["id"]: it for it in records}.values())
        if not records:
            return
        if self.async_space is not None:
            await self.async_space.remember(records)
        else:
            await asyncio.to_thread(self.space.remember, records)

    def _records(self, messages: Iterable[ChatMessage], session: str) -> list[dict[str, Any]]:
        """Returns the records for the messages that are stored, in the same order."""
        actors = {MessageRole.USER: self.actor, MessageRole.ASSISTANT: self.assistant}
        records: list[dict[str, Any]] = []
        for message in messages:
            text = storable(message.content or "").strip()[:STORED_CHARS_MAX]
            if message.role in STORED_ROLES and text:
                id = id_of(session, message.role, text)
                actor = actors[message.role]
                records.append({"id": id, "text": text, "actor": actor, "session": session, "metadata": {ENTRY: id}})
        return records


class MnemicMemory(Memory):
    """LlamaIndex's `Memory` with immediate storage: each message goes to the spaces of the `MnemicMemoryBlock`s when it
    is put.
    """

    @classmethod
    def class_name(cls) -> str:
        return "MnemicMemory"

    async def aput(self, message: ChatMessage) -> None:
        """Adds a message to the history and to the spaces."""
        await super().aput(message)
        await self._store([message])

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Adds messages to the history and to the spaces."""
        await super().aput_messages(messages)
        await self._store(messages)

    async def _store(self, messages: Sequence[ChatMessage]) -> None:
        for block in self.memory_blocks:
            if isinstance(block, MnemicMemoryBlock):
                copies = [it.model_copy(update={"additional_kwargs": dict(it.additional_kwargs)}) for it in messages]
                await block.aput(copies, session_id=self.session_id)


def last_question(messages: Sequence[ChatMessage]) -> str:
    """Returns the end of the user's last message; empty if the message has no words."""
    said = next((it.content for it in reversed(messages) if it.role == MessageRole.USER), None)
    return question_of(said or "")


def id_of(session: str, role: MessageRole, text: str) -> str:
    written = json.dumps([session, role.value, text])
    return f"llamaindex-{hashlib.sha256(written.encode()).hexdigest()[:32]}"


def unseen(filter: models.Filter | Mapping[str, Any] | None, seen: list[str]) -> dict[str, Any]:
    """Returns a filter that also excludes the messages that the model sees in the history."""
    given = filter.model_dump(exclude_unset=True, by_alias=True) if isinstance(filter, models.Filter) else dict(filter or {})
    if not seen:
        return given
    narrowed = {"key": ENTRY, "nin": seen}
    theirs = given.get("metadata")
    return {**given, "metadata": {"and": [theirs, narrowed]} if theirs else narrowed}
