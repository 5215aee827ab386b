"""Sends requests, repeats them where that is harmless, and reads responses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeVar

import anyio
import httpx
from pydantic import BaseModel, ValidationError

from mnemic._request import (
    AWAY_STATUSES,
    Attempts,
    Request,
    Settings,
    is_gone,
    may_repeat,
    pause,
    pause_after,
    was_never_sent,
)
from mnemic.errors import UnexpectedResponseError, UnreachableError, error_of

M = TypeVar("M", bound=BaseModel)


class AsyncTransport:
    """A connection pool to one server."""

    def __init__(self, settings: Settings, http: httpx.AsyncClient | None = None) -> None:
        self.settings = settings
        self._http = http or httpx.AsyncClient(follow_redirects=False)
        self._owned = http is None

    async def close(self) -> None:
        if self._owned:
            await self._http.aclose()

    async def send(self, request: Request, *, stream: bool = False) -> httpx.Response:
        """Returns the response of a successful request; raises the error of a failed one.

        The body of a `stream` has not been read, and the caller closes the response. If a request is `done_if_gone` and
        a repeated attempt does not find the object, the response is an empty 204.
        """
        attempts = Attempts(self.settings, request)
        while True:
            attempts.begin()
            try:
                response = await self._once(request, stream)
            except httpx.TransportError as error:
                seconds = pause(attempts.made)
                if attempts.is_last(seconds) or not may_repeat(request, error):
                    raise UnreachableError(f"{self.settings.url} did not answer: {error or type(error).__name__}") from error
                attempts.may_be_done |= not was_never_sent(error)
            else:
                if response.is_success:
                    return response
                if is_gone(request, response, attempts):
                    return httpx.Response(204, request=response.request)
                after = pause_after(request, response, attempts.made)
                if after is None or attempts.is_last(after):
                    raise error_of(response)
                attempts.may_be_done |= response.status_code in AWAY_STATUSES
                seconds = after
            await anyio.sleep(seconds)

    async def _once(self, request: Request, stream: bool) -> httpx.Response:
        built = self._http.build_request(
            request.method,
            self.settings.url + request.path,
            params=request.query(),
            content=request.content(),
            headers={**self.settings.headers(), **request.headers()},
            timeout=httpx.Timeout(self.settings.timeout, read=self.settings.timeout + request.extra_time),
        )
        response = await self._http.send(built, stream=stream)
        if not response.is_success:
            await response.aread()
        return response

    async def fetch(self, kind: type[M], request: Request) -> M:
        """Returns the body of the response to a request, as a model."""
        return read(kind, (await self.send(request)).content)

    async def erase(self, kind: type[M], path: str) -> M | None:
        """Erases an object, and returns the body of the response; None if a repeated request did not find the object,
        because an earlier one whose response was lost, or was 502 or 503, may have erased it.
        """
        response = await self.send(Request("DELETE", path, done_if_gone=True))
        return None if response.status_code == 204 else read(kind, response.content)

    async def pages(self, kind: type[M], path: str, params: Mapping[str, Any], page_size: int) -> AsyncIterator[M]:
        """Returns the items of a list, page by page."""
        after: str | None = None
        while True:
            page = await self.fetch(Page, Request("GET", path, {**params, "after": after, "limit": page_size}))
            for item in page.items:
                yield read(kind, item)
            after = page.next
            if after is None:
                return


class Page(BaseModel):
    """A page of any list."""

    items: list[Any]
    next: str | None = None


def read(kind: type[M], said: Any) -> M:
    """Returns a model that is parsed from JSON, given as bytes or as values."""
    try:
        return kind.model_validate_json(said) if isinstance(said, bytes) else kind.model_validate(said)
    except ValidationError as error:
        message = f"the response is not of the type {kind.__name__}; is the server of another version? {error}"
        raise UnexpectedResponseError(message) from error
