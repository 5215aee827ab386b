"""The events of a space as they happen, over a stream that reconnects automatically."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from types import TracebackType

import anyio
import httpx

from mnemic._async.transport import AsyncTransport
from mnemic._events import RETRY_FIRST, SILENCE, AnyEvent, Block, BlockReader, event_of, retry_pause
from mnemic._request import Request
from mnemic.errors import ExhaustedError, UnavailableError, UnexpectedResponseError, UnreachableError


class AsyncEvents:
    """An endless iterator over the events of a space.

    After the first connection, a broken stream is opened again during the iteration, with pauses of up to 45 seconds.
    The missed events follow, or an `EventGap`. An event may arrive twice. A permanent refusal, such as
    `UnknownSpaceError`, is raised. Leave the context, or call `aclose`, to close the stream.
    """

    def __init__(self, transport: AsyncTransport, path: str, last_event_id: str | None) -> None:
        self.last_event_id = last_event_id
        """Id of the last event that was returned, or of the position at which the stream began."""
        self._transport = transport
        self._path = path
        self._response: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None
        self._reader = BlockReader()
        self._blocks: deque[Block] = deque()
        self._retry = RETRY_FIRST
        self._was_open = False

    async def __aenter__(self) -> AsyncEvents:
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __aiter__(self) -> AsyncEvents:
        return self

    async def __anext__(self) -> AnyEvent:
        while True:
            while self._blocks:
                event = self._take(self._blocks.popleft())
                if event is not None:
                    return event
            if self._chunks is None:
                await self._open()
            await self._read()

    async def aclose(self) -> None:
        """Closes the stream. A later iteration opens a new one, which continues at the same position."""
        response, self._response, self._chunks = self._response, None, None
        if response is not None:
            await response.aclose()

    def _take(self, block: Block) -> AnyEvent | None:
        if block.id:
            self.last_event_id = block.id
        if block.retry is not None:
            self._retry = block.retry
        return event_of(block)

    async def _open(self) -> None:
        failures = 0
        while self._chunks is None:
            if self._was_open:
                await anyio.sleep(retry_pause(self._retry, failures))
            try:
                await self._begin()
            except (ExhaustedError, UnavailableError, UnreachableError):
                if not self._was_open:
                    raise
                failures += 1

    async def _begin(self) -> None:
        """Opens the stream and checks that the response is a stream of events."""
        headers = {"accept": "text/event-stream"}
        if self.last_event_id:
            headers["last-event-id"] = self.last_event_id
        silence = max(SILENCE - self._transport.settings.timeout, 0.0)
        request = Request("GET", self._path, extra_time=silence, more_headers=headers)
        self._response = await self._transport.send(request, stream=True)
        if not self._response.headers.get("content-type", "").startswith("text/event-stream"):
            await self.aclose()
            raise UnexpectedResponseError("the response is not a stream of events; is the server of another version?")
        self._reader = BlockReader()
        self._chunks = self._response.aiter_bytes()
        self._was_open = True

    async def _read(self) -> None:
        """Reads until a block is complete, or until the stream ends."""
        if self._chunks is None:
            return
        try:
            async for chunk in self._chunks:
                self._blocks.extend(self._reader.feed(chunk))
                if self._blocks:
                    return
        except httpx.TransportError:
            pass  # It broke off, and is opened again.
        await self.aclose()
