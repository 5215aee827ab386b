"""A process that runs one of the other stores, so that its CPU time and memory can be measured separately.

`python -m mnemic_bench.worker mem0|hybrid FOLDER` reads commands as lines of JSON and answers each with one line. It
generates the records and computes their vectors outside of the measured time.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, Protocol

from . import talk
from .vectors import Precomputed


class Store(Protocol):
    """A contestant: a memory that stores records and finds the ten best for a question."""

    def add(self, records: list[talk.Record]) -> None: ...

    def make_searchable(self) -> None: ...

    def search(self, question: str) -> list[str]: ...


def open_store(kind: str, folder: Path, vectors: Precomputed) -> Store:
    """Returns an empty store over a folder. The libraries of a store are imported only in its process."""
    if kind == "mem0":
        from .mem0_store import Mem0Store

        return Mem0Store(folder, vectors)
    if kind == "hybrid":
        from .hybrid_store import HybridStore

        return HybridStore(folder, vectors)
    raise ValueError(f"store: is {kind!r}, and neither mem0 nor hybrid")


def ingest(store: Store, vectors: Precomputed, command: dict[str, Any]) -> dict[str, Any]:
    """Adds records until all are searchable, or until the time is up; returns the number of added records and the
    duration.
    """
    given = list(talk.records(command["shape"], command["first"], command["end"]))
    vectors.prepare([it.text for it in given])
    batch, added = command["batch"], 0
    begun, begun_cpu = time.perf_counter(), time.process_time()
    while added < len(given) and time.perf_counter() - begun < command["patience"]:
        some = given[added : added + batch]
        store.add(some)
        added += len(some)
    store.make_searchable()
    seconds, cpu = time.perf_counter() - begun, time.process_time() - begun_cpu
    vectors.prepare([])
    return {"added": added, "seconds": seconds, "cpu": cpu}


def ask(store: Store, vectors: Precomputed, command: dict[str, Any]) -> dict[str, Any]:
    """Returns the texts that are found for a question, and the duration."""
    vectors.prepare([command["question"]])
    begun, begun_cpu = time.perf_counter(), time.process_time()
    texts = store.search(command["question"])
    return {"texts": texts, "seconds": time.perf_counter() - begun, "cpu": time.process_time() - begun_cpu}


def main() -> None:
    # Output of a library on standard output would break the protocol.
    answers, sys.stdout = sys.stdout, sys.stderr
    vectors = Precomputed()
    store = open_store(sys.argv[1], Path(sys.argv[2]), vectors)
    commands = {"ingest": ingest, "ask": ask}
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        answer = commands[command["do"]](store, vectors, command)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
