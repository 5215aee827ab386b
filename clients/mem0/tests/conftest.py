"""A real server with the API of mem0, and the clients of mem0 as they are published."""

from __future__ import annotations

import asyncio
import inspect
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.request import urlopen

# Before the client is imported: it reports its use to its makers otherwise.
os.environ["MEM0_TELEMETRY"] = "False"

import pytest
from mem0 import AsyncMemoryClient, MemoryClient

START_SECONDS = 60
OWNER = "9ae5d4a38cbd4d2d9b4e4d3c5d0b41c1"
ANN = "1f2b8a2a6a0e4b0c8f6d7e5c4b3a2918"
ALL = '["read", "write", "admin"]'


def free_port() -> int:
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return int(it.getsockname()[1])


def key(name: str, secret: str, spaces: str) -> str:
    digest = sha256(secret.encode()).hexdigest()
    return f'[[gateway.keys]]\nname = "{name}"\nsha256 = "{digest}"\nspaces = {spaces}\nrights = {ALL}\n'


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Returns the `host` of a server: one key opens everything, one only the user `ann`."""
    folder = tmp_path_factory.mktemp("server")
    keys = key("owner", OWNER, '["*"]') + key("ann", ANN, '["mem0-ann"]')
    (folder / "mnemic.toml").write_text(f"[gateway.mem0]\nenabled = true\n{keys}", encoding="utf-8")
    port, admin = free_port(), free_port()
    command = [os.environ["MNEMIC_BINARY"], "serve", "--config", str(folder / "mnemic.toml"), "--data", str(folder / "data")]
    command += ["--listen", f"127.0.0.1:{port}", "--admin", f"127.0.0.1:{admin}"]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_until_ready(process, f"http://127.0.0.1:{admin}/readyz", folder / "log")
        yield f"http://127.0.0.1:{port}/mem0"
    finally:
        process.terminate()
        process.wait(30)


def wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.02)
    process.kill()
    pytest.fail(f"the server does not start: {log.read_text(encoding='utf-8', errors='replace')}")


class Client:
    """One of the two clients; calls of the asynchronous one are waited for."""

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
    """Each client, over a memory in which nobody is known."""
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
