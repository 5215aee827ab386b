"""Events of a space, and the reader of streams of server-sent events; the same for sync and async."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError

from mnemic import models
from mnemic._model import Model
from mnemic.errors import UnexpectedResponseError

# Size limit of one block of a stream in bytes. An event contains no text of a record and stays far below.
BLOCK_BYTES_MAX = 1 << 20
# Seconds without data after which a stream counts as broken. The server sends a comment every 15 seconds.
SILENCE = 45.0
# Seconds before the first reconnection, unless the server sends another value, and the greatest pause after repeated
# failures.
RETRY_FIRST = 2.0
RETRY_MAX = 30.0


class SpaceEvent(models.Event):
    """An event in a space; `kind` is `searchable`, `organised` or `erased`."""

    id: str
    """Id of the event: `events(last_event_id=...)` continues after it."""


class EventGap(Model):
    """A gap: the events since the last received one are unknown; events after `watermark` follow."""

    id: str
    kind: Literal["gap"] = "gap"
    space: str
    watermark: str
    """The watermark up to which records are searchable."""
    at: datetime
    reason: str


AnyEvent: TypeAlias = SpaceEvent | EventGap


@dataclass
class Block:
    """One block of a stream: an event, or information about the stream itself if `data` is empty."""

    name: str = "message"
    id: str | None = None
    data: str = ""
    # Seconds to wait before the stream is opened again.
    retry: float | None = None


class BlockReader:
    """Reads the blocks of a stream from chunks of bytes, which may end anywhere."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> Iterator[Block]:
        """Returns the blocks that this chunk completes, without blocks that have only comments."""
        # If a chunk ends inside a line break, the first half waits for the second.
        text = self._rest + chunk
        held = text[-1:] if text.endswith(b"\r") else b""
        blocks = text[: len(text) - len(held)].replace(b"\r\n", b"\n").split(b"\n\n")
        self._rest = blocks.pop() + held
        if len(self._rest) > BLOCK_BYTES_MAX:
            raise UnexpectedResponseError("an event of the stream is too long")
        return (block for block in map(block_of, blocks) if block is not None)


def block_of(lines: bytes) -> Block | None:
    """Returns the block in some lines, or None if they are comments."""
    block = Block()
    data: list[str] = []
    for line in lines.decode("utf-8", "replace").split("\n"):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            block.name = value
        elif name == "id":
            block.id = value
        elif name == "data":
            data.append(value)
        elif name == "retry" and value.isascii() and value.isdigit():
            block.retry = int(value) / 1000
    block.data = "\n".join(data)
    return None if block == Block() else block


def event_of(block: Block) -> AnyEvent | None:
    """Returns the event of a block, or None if the block has no event or an event that only a newer server knows."""
    kinds: dict[str, type[AnyEvent]] = {"gap": EventGap}
    kinds.update(dict.fromkeys(("searchable", "organised", "erased"), SpaceEvent))
    kind = kinds.get(block.name)
    if not block.data or kind is None:
        return None
    try:
        fields: Any = json.loads(block.data)
        return kind.model_validate({**fields, "id": block.id or ""})
    except (TypeError, ValueError, ValidationError) as error:
        raise UnexpectedResponseError(f"an event cannot be read; is the server of another version? {error}") from error


def retry_pause(wanted: float, failures: int) -> float:
    """Returns the seconds before a stream is opened again: at least the value that the server wants, doubled with each
    failure, and spread so that clients do not synchronise.
    """
    return float(min(wanted * 2 ** min(failures, 10), RETRY_MAX) * random.uniform(1.0, 1.5))
