"""A server over its own folder: `mnemic serve` without any settings of this shell."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

START_SECONDS = 60
STOP_SECONDS = 30


@dataclass
class Server:
    """A running server."""

    url: str
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def stop(self) -> None:
        """Stops the server and waits until the process has ended."""
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def free_ports(count: int) -> list[int]:
    """Returns different free ports."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(it.getsockname()[1]) for it in held]
    for it in held:
        it.close()
    return ports


def start(binary: Path, folder: Path, settings: str = "") -> Server:
    """Starts a server with settings in TOML, and returns it when it is ready.

    Raises RuntimeError with its log if it does not start.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "mnemic.toml"
    config.write_text(settings, encoding="utf-8")
    port, admin = free_ports(2)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MNEMIC_")}
    command = [str(binary), "serve", "--config", str(config), "--data", str(folder / "data")]
    command += ["--listen", f"127.0.0.1:{port}", "--admin", f"127.0.0.1:{admin}"]
    log = folder / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
    server = Server(f"http://127.0.0.1:{port}", folder, process)
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urlopen(f"http://127.0.0.1:{admin}/readyz", timeout=1):
                return server
        except OSError:
            time.sleep(0.02)
    process.kill()
    process.wait()
    raise RuntimeError(f"the server does not start: {log.read_text(encoding='utf-8', errors='replace')[-2000:]}")
