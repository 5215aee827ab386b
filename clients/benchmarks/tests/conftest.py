"""A real server for the adapters."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

START_SECONDS = 60


def free_port() -> int:
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return int(it.getsockname()[1])


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Starts `MNEMIC_BINARY` and names it in `MNEMIC_URL`, where the adapters look for it."""
    folder = tmp_path_factory.mktemp("server")
    port, admin = free_port(), free_port()
    command = [os.environ["MNEMIC_BINARY"], "serve", "--data", str(folder / "data")]
    command += ["--listen", f"127.0.0.1:{port}", "--admin", f"127.0.0.1:{admin}"]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_until_ready(process, f"http://127.0.0.1:{admin}/readyz", folder / "log")
        os.environ["MNEMIC_URL"] = f"http://127.0.0.1:{port}"
        yield
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
