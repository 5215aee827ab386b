"""The contestants, each in its own process: Mnemic over HTTP, the others over a pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from . import meters, talk
from .connection import Connection
from .server import Server

BATCH = 100
SPACE = "bench"
WAIT_MS = 20_000
ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Ingested:
    """The cost of adding records. The CPU time is that of the storing process, including data derived afterwards."""

    added: int
    seconds: float
    cpu: float
    settle_seconds: float = 0.0


@dataclass
class Asked:
    """The cost of one question, and the texts that were found."""

    seconds: float
    cpu: float
    texts: list[str]


class Contestant(Protocol):
    name: str
    folder: Path

    @property
    def pid(self) -> int: ...

    def ingest(self, shape: str, first: int, end: int, patience: float) -> Ingested: ...

    def ask(self, question: str) -> Asked: ...

    def close(self) -> None: ...


class Mnemic:
    """A server, with one connection to it."""

    name = "Mnemic"

    def __init__(self, server: Server) -> None:
        self.server = server
        self.folder = server.data
        self.connection = Connection(server.url)

    @property
    def pid(self) -> int:
        return self.server.pid

    def ingest(self, shape: str, first: int, end: int, patience: float) -> Ingested:
        """Sends records in batches, one after another, and waits until the last one is searchable."""
        given = [it.native() for it in talk.records(shape, first, end)]
        cpu, begun = meters.cpu_seconds(self.pid), time.perf_counter()
        added, watermark = 0, ""
        while added < len(given) and time.perf_counter() - begun < patience:
            some = given[added : added + BATCH]
            path = f"/v1/spaces/{SPACE}/records"
            watermark = self.connection.json("POST", path, {"records": some}, 202)["watermark"]
            added += len(some)
        if watermark:
            wait_until_written(self.connection, SPACE, watermark)
        seconds = time.perf_counter() - begun
        wait_until_derived(self.connection, SPACE)
        settled = time.perf_counter() - begun - seconds
        return Ingested(added, seconds, meters.cpu_seconds(self.pid) - cpu, settled)

    def ask(self, question: str) -> Asked:
        cpu, begun = meters.cpu_seconds(self.pid), time.perf_counter()
        body = {"question": question, "budget": {"ms": 30_000}}
        answer = self.connection.json("POST", f"/v1/spaces/{SPACE}/query", body)
        seconds = time.perf_counter() - begun
        texts = [it["text"] for it in answer["pack"]["items"]]
        return Asked(seconds, meters.cpu_seconds(self.pid) - cpu, texts)

    def close(self) -> None:
        self.connection.close()
        self.server.stop()


def wait_until_written(connection: Connection, space: str, watermark: str) -> None:
    """Returns when the records up to a watermark are searchable."""
    while True:
        status, body = connection.send("GET", f"/v1/spaces/{space}/progress?watermark={watermark}&wait_ms={WAIT_MS}")
        if status == 200:
            return
        # A large backlog takes longer than one request may wait.
        if status != 504:
            raise RuntimeError(f"progress: {status} {body[:500].decode(errors='replace')}")


def wait_until_derived(connection: Connection, space: str) -> None:
    """Returns when entities, facts, events, topics and pages are derived from all records of a space."""
    while True:
        progress = connection.json("GET", f"/v1/spaces/{space}/progress")
        if progress["backlog"] == 0 and progress["deriving"] == 0:
            return
        time.sleep(0.05)


class Worker:
    """One of the other stores in its own process."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.name = kind
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        # Otherwise mem0 stores a file in the home folder.
        environment = {**os.environ, "MEM0_DIR": str(folder / "home"), "MEM0_TELEMETRY": "false", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "mnemic_bench.worker", kind, str(folder)]
        self.log = (folder.parent / f"{kind}.log").open("wb")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=environment, text=True
        )
        self.answer()

    @property
    def pid(self) -> int:
        return self.process.pid

    def answer(self) -> dict[str, Any]:
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            log = Path(self.log.name).read_text(encoding="utf-8", errors="replace")
            raise RuntimeError(f"the process of {self.name} ended: {log[-2000:]}")
        return json.loads(line)

    def command(self, command: dict[str, Any]) -> dict[str, Any]:
        if self.process.stdin is None:
            raise RuntimeError(f"the process of {self.name} takes no commands")
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def ingest(self, shape: str, first: int, end: int, patience: float, batch: int = BATCH) -> Ingested:
        range_ = {"shape": shape, "first": first, "end": end}
        answer = self.command({"do": "ingest", **range_, "batch": batch, "patience": patience})
        return Ingested(answer["added"], answer["seconds"], answer["cpu"])

    def ask(self, question: str) -> Asked:
        answer = self.command({"do": "ask", "question": question})
        return Asked(answer["seconds"], answer["cpu"], answer["texts"])

    def close(self) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait(30)
        self.log.close()
