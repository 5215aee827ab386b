"""A real server for the tests of clients: `mnemic serve` on free ports, in a separate folder."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60


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


def key(name: str, token: str, spaces: str, rights: str = '["read", "write", "admin"]') -> str:
    """Returns the settings of a key; `spaces` and `rights` are TOML."""
    digest = sha256(token.encode()).hexdigest()
    return f'[[gateway.keys]]\nname = "{name}"\nsha256 = "{digest}"\nspaces = {spaces}\nrights = {rights}\n'


def free_port() -> int:
    """Returns a free port outside the range that the system assigns automatically, so that it is still free later."""
    while True:
        port = random.randrange(10_000, 32_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


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
    """Starts a server on a free port for as long as its generator lives."""
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
