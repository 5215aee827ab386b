"""A real server with the API of mem0, and the published clients of mem0."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable, Iterator
from typing import Any

# Set before the import: otherwise the client reports its use to its makers.
os.environ["MEM0_TELEMETRY"] = "false"

import pytest
from mem0 import AsyncMemoryClient, MemoryClient
from running import key, serve

OWNER = "9ae5d4a38cbd4d2d9b4e4d3c5d0b41c1"
ANN = "1f2b8a2a6a0e4b0c8f6d7e5c4b3a2918"


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Returns the `host` of a server: one key opens all users, the other only the user `ann`."""
    keys = key("owner", OWNER, '["*"]') + key("ann", ANN, '["mem0-ann"]')
    # The binary may be built without TLS.
    mem0 = "[gateway.mem0]\nenabled = true\n[gateway.mem0.webhooks]\nallow_http = true\n"
    for server in serve(tmp_path_factory.mktemp("server"), f"{mem0}{keys}"):
        yield f"{server.url}/mem0"


class Client:
    """One of the two clients; each call of the asynchronous client is awaited."""

    def __init__(self, client: Any, run: Callable[[Any], Any]) -> None:
        self.client = client
        self.run = run

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.client, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            outcome = method(*args, **kwargs)
            return self.run(outcome) if inspect.isawaitable(outcome) else outcome

        return call


@pytest.fixture(params=["MemoryClient", "AsyncMemoryClient"])
def client(request: pytest.FixtureRequest, host: str) -> Iterator[Client]:
    """Each client, with an empty memory."""
    loop = asyncio.new_event_loop()
    kind = {"MemoryClient": MemoryClient, "AsyncMemoryClient": AsyncMemoryClient}[request.param]
    it = Client(kind(api_key=OWNER, host=host), loop.run_until_complete)
    if it.users()["results"]:
        it.reset()
    yield it
    loop.close()


@pytest.fixture
def ann(host: str) -> MemoryClient:
    """The client of a key that opens only the user `ann`."""
    return MemoryClient(api_key=ANN, host=host)
