"""The overhead of mem0's API over Mnemic's own, of the proxy over the model, and of mem0's client over its library."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Set before the import of the client, which otherwise reports its use to its makers.
os.environ["MEM0_TELEMETRY"] = "false"

from mem0 import MemoryClient

from . import meters, talk
from .connection import Connection
from .contestants import ROOT, Worker, wait_until_derived, wait_until_written
from .rounds import in_turn
from .server import Server, free_ports

SETTINGS = """
[gateway.mem0]
enabled = true
[gateway.proxy]
enabled = true
url = "http://127.0.0.1:{port}/v1"
"""
MESSAGES = 1_000
WARM_UP = 5
TOP_K = 10
# Tokens of evidence that the proxy requests by default.
PROXY_TOKENS = 1_024


@dataclass
class Endpoint:
    """A scripted model in its own process."""

    url: str
    process: subprocess.Popen[bytes]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


def start_endpoint(milliseconds: float) -> Endpoint:
    """Starts a scripted model with this response time."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "mnemic_bench.endpoint", str(port), str(milliseconds)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, env=environment)
    endpoint = Endpoint(f"http://127.0.0.1:{port}", process)
    end = time.monotonic() + 20
    while time.monotonic() < end and process.poll() is None:
        try:
            chat(Connection(endpoint.url), "Are you there?", {})
            return endpoint
        except OSError:
            time.sleep(0.02)
    process.kill()
    raise RuntimeError("the scripted model does not start")


def chat(connection: Connection, text: str, headers: dict[str, str]) -> None:
    body = {"model": "scripted", "messages": [{"role": "user", "content": text}]}
    connection.json("POST", "/v1/chat/completions", body, headers=headers)


class Ways:
    """Several ways to do the same, called in turn, with the duration of each call and the CPU time of the server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.seconds: dict[str, list[float]] = {}
        self.cpu: dict[str, float] = {}

    def call(self, ways: dict[str, Callable[[int], object]], count: int, after: Callable[[], object]) -> None:
        """Calls each way with each number, and `after` outside of the measured time. Numbers below 0 are warm-up calls."""
        for number in range(-WARM_UP, count):
            for name, way in in_turn(list(ways.items()), number):
                cpu, begun = meters.cpu_seconds(self.server.pid), time.perf_counter()
                way(number)
                seconds = time.perf_counter() - begun
                after()
                if number >= 0:
                    self.seconds.setdefault(name, []).append(seconds)
                    self.cpu[name] = self.cpu.get(name, 0.0) + meters.cpu_seconds(self.server.pid) - cpu

    def figures(self) -> dict[str, dict[str, float]]:
        return {
            name: {
                "p50_ms": 1e3 * meters.percentile(taken, 0.5),
                "p95_ms": 1e3 * meters.percentile(taken, 0.95),
                "cpu_ms": 1e3 * self.cpu[name] / len(taken),
                "calls": len(taken),
            }
            for name, taken in self.seconds.items()
        }


def batch_of(prefix: int, number: int, size: int) -> list[talk.Record]:
    """Returns records that occur in no other batch."""
    first = prefix + (number + WARM_UP) * size
    return list(talk.records("chat", first, first + size))


def adds(server: Server, size: int, count: int) -> dict[str, dict[str, float]]:
    """Compares three ways to add messages and wait until they are searchable: Mnemic's route, mem0's route, and mem0's
    client.
    """
    native, mem0, client = Connection(server.url), Connection(server.url), memory_client(server)
    spaces = {"native": f"native-{size}", "mem0 API": f"mem0-api-{size}", "mem0 client": f"mem0-client-{size}"}
    prefix = 1_000_000 + size * 1_000

    def by_native(number: int) -> None:
        messages = [it.message() for it in batch_of(prefix, number, size)]
        path = f"/v1/spaces/{spaces['native']}"
        answer = native.json("POST", f"{path}/records", {"messages": messages}, 202)
        wait_until_written(native, spaces["native"], answer["watermark"])

    def by_mem0(number: int) -> None:
        messages = [it.message() for it in batch_of(prefix, number, size)]
        body = {"messages": messages, "user_id": f"api-{size}", "infer": False}
        check_stored(mem0.json("POST", "/mem0/v3/memories/add/", body), size)

    def by_client(number: int) -> None:
        messages = [it.message() for it in batch_of(prefix, number, size)]
        check_stored(client.add(messages, user_id=f"client-{size}", infer=False), size)

    def settle() -> None:
        for space in spaces.values():
            if known(native, space):
                wait_until_derived(native, space)

    ways = Ways(server)
    ways.call({"native": by_native, "mem0 API": by_mem0, "mem0 client": by_client}, count, settle)
    native.close()
    mem0.close()
    return ways.figures()


def known(connection: Connection, space: str) -> bool:
    return connection.send("GET", f"/v1/spaces/{space}")[0] == 200


def check_stored(answer: dict[str, Any], size: int) -> None:
    """Raises an error unless all messages of a request are searchable."""
    if answer["status"] != "SUCCEEDED" or len(answer["results"]) != size:
        raise RuntimeError(f"not all of {size} messages are stored: {str(answer)[:500]}")


def memory_client(server: Server) -> MemoryClient:
    return MemoryClient(api_key="local", host=f"{server.url}/mem0")


def searches(server: Server, count: int) -> dict[str, dict[str, float]]:
    """Compares questions to one space of 1,000 messages: a query with and without an answer, and the search of mem0."""
    connection, user = Connection(server.url), "asked"
    space = f"mem0-{user}"
    fill(connection, user)

    def question(number: int) -> str:
        return talk.question("chat", number % count, MESSAGES).text

    def query(number: int) -> None:
        connection.json("POST", f"/v1/spaces/{space}/query", {"question": question(number)})

    def query_without_answer(number: int) -> None:
        connection.json("POST", f"/v1/spaces/{space}/query", {"question": question(number), "answer": False})

    def search(number: int) -> None:
        body = {"query": question(number), "filters": {"user_id": user}, "top_k": TOP_K}
        found = connection.json("POST", "/mem0/v3/memories/search/", body)
        if len(found["results"]) != TOP_K:
            raise RuntimeError(f"mem0's search found {len(found['results'])} memories, and not {TOP_K}")

    ways = Ways(server)
    calls = {"query": query, "query without answer": query_without_answer, "mem0 search": search}
    ways.call(calls, count, lambda: None)
    connection.close()
    return ways.figures()


def fill(connection: Connection, user: str) -> None:
    """Stores 1,000 messages of a user through the API of mem0."""
    for first in range(0, MESSAGES, 100):
        messages = [it.message() for it in talk.records("chat", first, first + 100)]
        body = {"messages": messages, "user_id": user, "infer": False}
        check_stored(connection.json("POST", "/mem0/v3/memories/add/", body), 100)
    wait_until_derived(connection, f"mem0-{user}")


def proxied(server: Server, endpoint: Endpoint, count: int) -> dict[str, dict[str, float]]:
    """Compares chats with the model and through the proxy, over a space of 1,000 messages, and measures the parts of
    the latter.
    """
    bare, proxy = Connection(endpoint.url), Connection(server.url)
    fill(proxy, "chats")
    space = "mem0-chats"
    headers = {"x-mnemic-space": space}

    def said(number: int) -> str:
        return f"{talk.question('chat', number % count, MESSAGES).text} I ask for the time number {number + WARM_UP}."

    def by_query(number: int) -> None:
        body = {"question": said(number), "budget": {"tokens": PROXY_TOKENS}}
        proxy.json("POST", f"/v1/spaces/{space}/query", body)

    def by_record(number: int) -> None:
        body = {"messages": [{"role": "user", "content": f"Remember number {number}: {said(number)}"}]}
        proxy.json("POST", f"/v1/spaces/{space}-stored/records", body, 202)

    ways = Ways(server)
    calls = {
        "model": lambda number: chat(bare, said(number), {}),
        "model through the proxy": lambda number: chat(proxy, said(number), headers),
        "query of the proxy's size": by_query,
        "one record (202)": by_record,
    }

    def settle() -> None:
        wait_until_derived(proxy, space)

    ways.call(calls, count, settle)
    for it in (bare, proxy):
        it.close()
    return ways.figures()


def ingest_by_client(server: Server, folder: Path, batch: int, patience: float) -> dict[str, float]:
    """Returns the seconds for 1,000 messages: mem0's client over Mnemic until all are searchable, and mem0's own
    library.
    """
    worker, client = Worker("mem0", folder / f"library-{batch}"), memory_client(server)
    connection, user = Connection(server.url), f"whole-{batch}"
    seconds = {"mem0 client over Mnemic": 0.0, "mem0 library": 0.0}
    added = 0
    step = 250
    try:
        for number, first in enumerate(range(0, MESSAGES, step)):
            for name in in_turn(list(seconds), number):
                if name == "mem0 library":
                    done = worker.ingest("chat", first, first + step, patience, batch)
                    seconds[name], added = seconds[name] + done.seconds, added + done.added
                else:
                    seconds[name] += by_client_in_batches(client, user, range(first, first + step), batch)
                    wait_until_derived(connection, f"mem0-{user}")
    finally:
        worker.close()
        connection.close()
    if added != MESSAGES:
        raise RuntimeError(f"mem0's library added {added} of {MESSAGES} messages in the time it was given")
    return {**seconds, "messages": MESSAGES, "batch": batch}


def by_client_in_batches(client: MemoryClient, user: str, numbers: range, batch: int) -> float:
    """Adds records through the client and returns the duration in seconds."""
    given = [it.message() for it in talk.records("chat", numbers.start, numbers.stop)]
    begun = time.perf_counter()
    for first in range(0, len(given), batch):
        some = given[first : first + batch]
        check_stored(client.add(some, user_id=user, infer=False), len(some))
    return time.perf_counter() - begun
