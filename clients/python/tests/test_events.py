"""Tests of event streams, also after the stream breaks off."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from running import Server, free_port, start

from mnemic import (
    AsyncMnemic,
    EventGap,
    Mnemic,
    Space,
    SpaceEvent,
    UnexpectedResponseError,
    UnknownSpaceError,
    UnreachableError,
)
from mnemic._events import Block, BlockReader, retry_pause

OPENING = b": open\nid: p0\nretry: 1\n\n"
AT = "2026-03-02T18:00:00Z"


def block(name: str, id: str, **fields: Any) -> bytes:
    data = json.dumps({"space": "ann", "kind": name, "at": AT, **fields})
    return f"event: {name}\nid: {id}\ndata: {data}\n\n".encode()


def kinds_up_to(events: Iterator[SpaceEvent | EventGap], wanted: str) -> list[str]:
    found: list[str] = []
    while wanted not in found:
        found.append(next(events).kind)
    return found


def test_a_write_and_an_erasure_have_events(space: Space) -> None:
    with space.events() as events:
        accepted = space.remember({"id": "fern", "text": "I repotted the fern."}, actor="Ann")
        first = next(events)
        while first.kind != "searchable":
            first = next(events)
        assert isinstance(first, SpaceEvent)
        assert (first.space, first.watermark, first.erasure) == (space.name, accepted.watermark, None)
        space.erase_record("fern")
        erased = next(it for it in events if it.kind == "erased")
        assert isinstance(erased, SpaceEvent)
        assert erased.erasure in {it.id for it in space.erasures()}
    space.remember("I watered it.", wait=True)
    later = space.events(last_event_id=erased.id)
    assert "searchable" in kinds_up_to(later, "searchable")
    later.close()


def test_an_unknown_position_gives_a_gap(space: Space) -> None:
    with space.events(last_event_id="forged") as events:
        gap = next(events)
    assert isinstance(gap, EventGap)
    assert (gap.kind, gap.space) == ("gap", space.name)
    assert gap.id and gap.reason and gap.watermark


def test_an_unknown_space_has_no_events(memory: Mnemic) -> None:
    with pytest.raises(UnknownSpaceError):
        next(memory.space("nobody").events())
    with pytest.raises(UnreachableError):
        next(Mnemic("http://127.0.0.1:9", retries=0).space("ann").events())


def test_events_continue_after_the_server_was_killed(tmp_path: Path) -> None:
    port = free_port()
    first = start(tmp_path, port)
    with Mnemic(first.url) as memory:
        space = memory.create_space("ann")
        with space.events() as events:
            space.remember("Before.", wait=True)
            before = next(it for it in events if it.kind == "searchable")
            first.process.kill()
            first.process.wait()
            second = start(tmp_path, port)
            try:
                # This record is written while no stream is open.
                accepted = space.remember("Meanwhile.", wait=True)
                after = next(it for it in events if it.kind == "searchable")
                assert (before.watermark, after.watermark) != (accepted.watermark, before.watermark)
                assert after.watermark == accepted.watermark
            finally:
                second.process.terminate()
                second.process.wait(30)


def test_the_async_client_gets_the_same_events(server: Server, space: Space) -> None:
    async def main() -> None:
        async with AsyncMnemic(server.url) as memory:
            mine = memory.space(space.name)
            async with mine.events() as events:
                accepted = await mine.remember("I repotted the fern.")
                async for event in events:
                    if event.kind == "searchable":
                        assert event.watermark == accepted.watermark
                        break

    asyncio.run(asyncio.wait_for(main(), 60))


def listening(answer: Callable[[int, httpx.Request], httpx.Response], **options: Any) -> Space:
    """Returns a space of a server that answers each request with `answer`."""
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return answer(len(seen), request)

    return Mnemic("http://server", http=httpx.Client(transport=httpx.MockTransport(handle)), **options).space("ann")


def streamed(*chunks: bytes, breaks: bool = False) -> httpx.Response:
    def body() -> Iterator[bytes]:
        yield from chunks
        if breaks:
            raise httpx.ReadError("the connection was lost")

    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body())


def test_a_broken_stream_continues_after_the_last_event() -> None:
    asked: list[str | None] = []

    def answer(number: int, request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get("last-event-id"))
        searchable = block("searchable", "p1", watermark="w1")
        responses = {
            1: streamed(OPENING, breaks=True),
            2: streamed(OPENING, b":\n\n", searchable[:30], searchable[30:] + b"event: sear", breaks=True),
            3: httpx.Response(503, text="away"),
            4: streamed(b"retry: 1\n\n" + block("novelty", "p2") + block("erased", "p3", erasure="e1")),
        }
        return responses[number]

    events = listening(answer, retries=0).events()
    first, second = next(events), next(events)
    assert [(it.kind, it.id) for it in (first, second)] == [("searchable", "p1"), ("erased", "p3")]
    assert isinstance(second, SpaceEvent) and second.erasure == "e1"
    assert asked == [None, "p0", "p1", "p1"]
    assert events.last_event_id == "p3"


def test_a_response_without_an_event_stream_is_an_error() -> None:
    page = httpx.Response(200, text="<html>hello</html>")
    with pytest.raises(UnexpectedResponseError, match="not a stream of events"):
        next(listening(lambda number, request: page).events())
    for broken in (
        b'event: erased\nid: p1\ndata: {"kind": 7}\n\n',
        b"event: gap\ndata: [1]\n\n",
        b"event: gap\ndata: {\n\n",
    ):
        with pytest.raises(UnexpectedResponseError, match="cannot be read"):
            next(listening(lambda number, request, broken=broken: streamed(broken)).events())  # type: ignore[misc]
    with pytest.raises(UnexpectedResponseError, match="too long"):
        next(listening(lambda number, request: streamed(b"data: " + b"x" * (2 << 20))).events())


def test_blocks_are_read_from_chunks_of_any_size() -> None:
    text = (
        ': hello\r\n\r\nid: p1\r\nevent: step\r\ndata: {"a":\r\ndata: "ö🌿"}\r\n\r\n'
        "data:x\n\nretry: 50\n\nretry: soon\n\ndata: cut"
    )
    expected = [Block("step", "p1", '{"a":\n"ö🌿"}'), Block(data="x"), Block(retry=0.05)]
    for size in (1, 2, 3, 7, 1_000):
        reader, content = BlockReader(), text.encode()
        chunks = [content[at : at + size] for at in range(0, len(content), size)]
        assert [it for chunk in chunks for it in reader.feed(chunk)] == expected


def test_pauses_before_reconnections_grow_up_to_a_limit() -> None:
    assert 2.0 <= retry_pause(2.0, 0) <= 3.0
    assert 8.0 <= retry_pause(2.0, 2) <= 12.0
    assert 30.0 <= retry_pause(2.0, 10_000) <= 45.0
