"""Events of a space, and how they are read from a stream of server-sent events; the same for sync and async."""

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

# Bytes of one block of a stream; an event holds no text of a record and stays far below.
BLOCK_BYTES_MAX = 1 << 20
# Seconds of silence after which a stream counts as broken. The server sends a comment every 15 seconds.
SILENCE = 45.0
# Seconds before a stream is opened again, unless the server names another time, and most of them after several failures.
RETRY_FIRST = 2.0
RETRY_MAX = 30.0


class SpaceEvent(models.Event):
    """Something that happened in a space; `kind` is `searchable`, `organised` or `erased`."""

    id: str
    """Names the event: `events(last_event_id=...)` gives what happened since."""


class EventGap(Model):
    """What happened since the last event is not known; what happens from `watermark` on follows."""

    id: str
    kind: Literal["gap"] = "gap"
    space: str
    watermark: str
    """Up to where records are searchable."""
    at: datetime
    reason: str


AnyEvent: TypeAlias = SpaceEvent | EventGap


@dataclass
class Block:
    """One block of a stream: an event, or what the server says about the stream if `data` is empty."""

    name: str = "message"
    id: str | None = None
    data: str = ""
    # Seconds before the stream may be opened again after it broke off.
    retry: float | None = None


class BlockReader:
    """Reads the blocks of a stream from its bytes, however the network cuts them."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> Iterator[Block]:
        """Returns the blocks that are complete with this chunk; those of comments alone are left out."""
        # A line break that is cut in two waits for its second half.
        text = self._rest + chunk
        held = text[-1:] if text.endswith(b"\r") else b""
        blocks = text[: len(text) - len(held)].replace(b"\r\n", b"\n").split(b"\n\n")
        self._rest = blocks.pop() + held
        if len(self._rest) > BLOCK_BYTES_MAX:
            raise UnexpectedResponseError("an event of the stream is too long")
        return (block for block in map(block_of, blocks) if block is not None)


def block_of(lines: bytes) -> Block | None:
    """Returns what the lines of a block say, or None if they are comments."""
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
    """Returns the event of a block, or None if it has none or one that only a newer server knows."""
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
    """Returns the seconds before a stream is opened again: at least as the server wants, doubled with each failure, and
    spread so that clients do not come in step."""
    return float(min(wanted * 2 ** min(failures, 10), RETRY_MAX) * random.uniform(1.0, 1.5))
