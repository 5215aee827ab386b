"""A real server for the tests: `mnemic serve` on free ports, over a folder of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeVar
from urllib.request import urlopen
from uuid import uuid4

import pytest

from mnemic import Mnemic, Space

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 60
KEYS = {
    "admin": "9ae5d4a38cbd4d2d9b4e4d3c5d0b41c1",
    "reader": "1f2b8a2a6a0e4b0c8f6d7e5c4b3a2918",
}


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    url: str
    process: subprocess.Popen[bytes]


def binary() -> str:
    """Returns the binary to test: of MNEMIC_BINARY, the installed command, or what cargo built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [str(target / profile / "mnemic") for profile in ("release", "demo", "debug")]
    found = [os.environ.get("MNEMIC_BINARY"), shutil.which("mnemic"), *built]
    for candidate in found:
        if candidate and Path(candidate).is_file():
            return candidate
    pytest.exit("there is no `mnemic`: build it with `cargo build --bin mnemic`, or set MNEMIC_BINARY", 2)


def free_port() -> int:
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return int(it.getsockname()[1])


def start(folder: Path, port: int, settings: str = "") -> Server:
    """Starts a server over a folder, and waits until it is ready."""
    config = folder / "mnemic.toml"
    config.write_text(settings, encoding="utf-8")
    admin = free_port()
    options = ["--config", str(config), "--data", str(folder / "data")]
    addresses = ["--listen", f"127.0.0.1:{port}", "--admin", f"127.0.0.1:{admin}"]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([binary(), "serve", *options, *addresses], stdout=log, stderr=log)
    wait_until_ready(process, f"http://127.0.0.1:{admin}/readyz", folder / "log")
    return Server(f"http://127.0.0.1:{port}", process)


def serve(folder: Path, settings: str = "") -> Iterator[Server]:
    server = start(folder, free_port(), settings)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait(30)


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


def eventually(look: Callable[[], T | None]) -> T:
    """Returns what a look gives once it gives something: facts and entities follow a moment after the records."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    pytest.fail("it did not come in time")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from serve(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with keys: `admin` may do everything, `reader` reads spaces that begin with `open-`."""
    yield from serve(
        tmp_path_factory.mktemp("guarded"),
        "".join(
            f'[[gateway.keys]]\nname = "{name}"\nsha256 = "{digest(name)}"\nspaces = {spaces}\nrights = {rights}\n'
            for name, spaces, rights in [
                ("admin", '["*"]', '["read", "write", "admin"]'),
                ("reader", '["open-*"]', '["read"]'),
            ]
        ),
    )


def digest(name: str) -> str:
    return sha256(KEYS[name].encode()).hexdigest()


@pytest.fixture
def memory(server: Server) -> Iterator[Mnemic]:
    with Mnemic(server.url) as it:
        yield it


@pytest.fixture
def space(memory: Mnemic) -> Space:
    """A new space for each test."""
    return memory.create_space(f"test-{uuid4().hex[:12]}")
