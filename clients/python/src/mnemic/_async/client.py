"""The client: a server and its spaces."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Literal

import httpx

from mnemic import models
from mnemic._async.space import AsyncSpace
from mnemic._async.transport import AsyncTransport
from mnemic._request import Request, Settings, given, path, url_of

DEFAULT_URL = "http://127.0.0.1:7077"
Right = Literal["read", "write", "admin"]


class AsyncMnemic:
    """A Mnemic server.

    `url` and `key` default to `MNEMIC_URL` and `MNEMIC_KEY` in the environment; `url` then to a server on this machine.
    `http://` may be omitted.
    `timeout` is the time limit of one attempt in seconds, and no attempt begins after this time. `retries` is the
    greatest number of retries of a request that is safe to repeat. `wait` is the time in seconds that `wait=True` waits
    for a write to be searchable. Pass your own `http` client for proxies or certificates; you have to close it
    yourself.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 4,
        wait: float = 30.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        url = url or os.environ.get("MNEMIC_URL") or DEFAULT_URL
        key = key or os.environ.get("MNEMIC_KEY") or None
        settings = Settings(url_of(url), key, timeout, retries, wait)
        self._transport = AsyncTransport(settings, http)

    async def __aenter__(self) -> AsyncMnemic:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._transport.close()

    def space(self, name: str) -> AsyncSpace:
        """Returns a space by its name, without a request to the server."""
        return AsyncSpace(self._transport, name)

    async def create_space(self, name: str) -> AsyncSpace:
        """Creates a space if it does not exist, and returns it."""
        await self._transport.send(Request("PUT", path("spaces", name)))
        return self.space(name)

    def spaces(self, *, page_size: int = 100) -> AsyncIterator[models.Space]:
        """Lists the spaces that the key opens."""
        return self._transport.pages(models.Space, path("spaces"), {}, page_size)

    async def access(self) -> models.KeyAccess:
        """Returns the spaces and rights of the key."""
        return await self._transport.fetch(models.KeyAccess, Request("GET", path("access")))

    async def tools(self) -> list[models.ToolSpec]:
        """Returns the tools with which a model can search by itself, with the schemas of their arguments."""
        return (await self._transport.fetch(models.ToolList, Request("GET", path("tools")))).tools

    def dead_letters(self, *, page_size: int = 100) -> AsyncIterator[models.DeadLetter]:
        """Lists the messages that the server could not process."""
        return self._transport.pages(models.DeadLetter, path("admin", "dead-letters"), {}, page_size)

    async def replay_dead_letter(self, id: str) -> None:
        """Delivers a dead letter again. The call is not repeated if its response was lost."""
        await self._transport.send(Request("POST", path("admin", "dead-letters", id, "replay"), repeatable=False))

    async def discard_dead_letter(self, id: str) -> None:
        """Deletes a dead letter without processing it."""
        await self._transport.send(Request("DELETE", path("admin", "dead-letters", id), done_if_gone=True))

    async def create_key(
        self,
        name: str,
        *,
        spaces: Iterable[str],
        rights: Iterable[Right],
        expires_at: datetime | str | None = None,
        quotas: models.Quotas | Mapping[str, Any] | None = None,
    ) -> models.ApiKeyToken:
        """Creates a key and returns it with its `token`. The server shows the token only once and does not store it.

        `spaces` are names, prefixes followed by `*`, or `*` for all. The call is not repeated if its response was lost:
        revoke the key by its name, and create one with another name. The key of this client needs the right `admin` for
        all spaces.
        """
        body = given(name=name, spaces=list(spaces), rights=list(rights), expires_at=expires_at, quotas=quotas)
        request = Request("POST", path("keys"), body=body, repeatable=False)
        return await self._transport.fetch(models.ApiKeyToken, request)

    def keys(self, *, page_size: int = 100) -> AsyncIterator[models.ApiKey]:
        """Lists the keys that `create_key` created, including expired and revoked keys, without their tokens."""
        return self._transport.pages(models.ApiKey, path("keys"), {}, page_size)

    async def rotate_key(self, name: str, *, grace_seconds: int = 0) -> models.ApiKeyToken:
        """Gives a key a new token, and returns both. The previous token stays valid for `grace_seconds`, at most
        86,400.

        The call is not repeated if its response was lost, since a second rotation would end the previous token.
        """
        body = {"grace_seconds": grace_seconds}
        request = Request("POST", path("keys", name, "rotate"), body=body, repeatable=False)
        return await self._transport.fetch(models.ApiKeyToken, request)

    async def revoke_key(self, name: str) -> None:
        """Revokes a key permanently; it stays in the list."""
        await self._transport.send(Request("DELETE", path("keys", name)))
