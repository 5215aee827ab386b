"""A load of many spaces, readers and writers at the same time, for minutes.

Each reader and writer has a schedule. A latency is measured from the scheduled time of its request. A server that stops
answering for a while therefore does not look fast because nobody sent requests in that time.
"""

from __future__ import annotations

import threading
import time
from argparse import Namespace
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

from . import meters, talk
from .connection import Connection, Unexpected
from .contestants import WAIT_MS, wait_until_derived
from .server import Server

# Names of things in a space occur in no other space, as long as the space has fewer records than this.
NUMBERS_PER_SPACE = talk.NAMES // 256
SAMPLE_SECONDS = 5.0
# Percentage of questions among the requests of readers; the rest are recall messages and pages of records.
QUESTION_PERCENT = 70
RECALL_PERCENT = 15
# Status for too many requests at once: the caller may try again later.
REFUSED = 429
PROBLEMS_MAX = 20


@dataclass(frozen=True)
class Call:
    """One request: its scheduled time in seconds from the start, its latency from then, and its outcome."""

    kind: str
    space: int
    due: float
    seconds: float
    outcome: str


@dataclass(frozen=True)
class Request:
    """A scheduled request."""

    kind: str
    space: int
    due: float
    method: str
    path: str
    body: Any = None
    expected: int = 200


@dataclass(frozen=True)
class Sample:
    """The state of the server at one moment."""

    at: float
    resident_mb: float
    cpu_seconds: float
    disk_mb: float
    records: int


@dataclass
class Load:
    """A run: its settings, and the measurements so far."""

    server: Server
    options: Namespace
    began: float = 0.0
    calls: list[Call] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take_numbers(self, space: int, count: int) -> range:
        """Returns numbers of records that are new in a space."""
        with self.lock:
            first = self.stored[space]
            self.stored[space] += count
        base = space * NUMBERS_PER_SPACE
        return range(base + first, base + first + count)

    def elapsed(self) -> float:
        return time.perf_counter() - self.began

    def note(self, kind: str, space: int, due: float, outcome: str, problem: str = "") -> None:
        call = Call(kind, space, due, self.elapsed() - due, outcome)
        with self.lock:
            self.calls.append(call)
            if problem and len(self.problems) < PROBLEMS_MAX:
                self.problems.append(problem)

    def send(self, call: Request, connection: Connection) -> Any:
        """Sends a request and records its outcome; returns the body of the response, or None if the request failed."""
        try:
            answer = connection.json(call.method, call.path, call.body, call.expected)
        except Unexpected as error:
            refused = error.status == REFUSED
            self.note(call.kind, call.space, call.due, "refused" if refused else "failed", "" if refused else str(error))
            return None
        except (OSError, HTTPException) as error:
            self.note(call.kind, call.space, call.due, "failed", repr(error))
            return None
        self.note(call.kind, call.space, call.due, "done")
        return answer


def name_of(space: int) -> str:
    return f"load-{space}"


def fill(load: Load) -> None:
    """Stores the first records of each space, and returns when all data are derived from them."""
    connection = Connection(load.server.url)
    load.stored = [0] * load.options.spaces
    for space in range(load.options.spaces):
        numbers = load.take_numbers(space, load.options.records)
        records = [it.native() for it in talk.records("chat", numbers.start, numbers.stop)]
        for first in range(0, len(records), 100):
            body = {"records": records[first : first + 100]}
            connection.json("POST", f"/v1/spaces/{name_of(space)}/records", body, 202)
    for space in range(load.options.spaces):
        wait_until_derived(connection, name_of(space))
    connection.close()


def read(load: Load, reader: int) -> None:
    """Sends questions, messages for recall, and requests for pages of records until the time is up, each to a random
    space.
    """
    connection, draw = Connection(load.server.url), talk.Draw(reader)
    options = load.options
    due = options.reader_pause * reader / max(options.readers, 1)
    while due < options.minutes * 60:
        time.sleep(max(0.0, due - load.elapsed()))
        load.send(request_of_reader(load, draw, reader, due), connection)
        due += options.reader_pause
    connection.close()


def request_of_reader(load: Load, draw: talk.Draw, reader: int, due: float) -> Request:
    space, chance, number = draw.below(load.options.spaces), draw.below(100), draw.below(1_000_000)
    path = f"/v1/spaces/{name_of(space)}"
    target = talk.words_for(space * NUMBERS_PER_SPACE + number % max(load.stored[space], 1))
    if chance < QUESTION_PERCENT:
        body = {"question": f"What happened to the {target['thing']} called {target['name']}?"}
        return Request("question", space, due, "POST", f"{path}/query", body)
    if chance < QUESTION_PERCENT + RECALL_PERCENT:
        body = {"message": f"I am looking for my {target['thing']} again.", "session": f"r{reader}"}
        return Request("recall", space, due, "POST", f"{path}/recall", body)
    return Request("list", space, due, "GET", f"{path}/records?limit=20")


def write(load: Load, writer: int) -> None:
    """Sends batches until the time is up, a share of them to the first space, and waits until each batch is searchable."""
    connection, draw = Connection(load.server.url), talk.Draw(10_000 + writer)
    options = load.options
    due = options.writer_pause * writer / max(options.writers, 1)
    while due < options.minutes * 60:
        time.sleep(max(0.0, due - load.elapsed()))
        space = 0 if draw.below(100) < options.loud_percent else draw.below(options.spaces)
        path = f"/v1/spaces/{name_of(space)}"
        numbers = load.take_numbers(space, options.batch)
        records = [it.native() for it in talk.records("chat", numbers.start, numbers.stop)]
        answer = load.send(
            Request("write, 202", space, due, "POST", f"{path}/records", {"records": records}, 202), connection
        )
        if answer is not None:
            progress = f"{path}/progress?watermark={answer['watermark']}&wait_ms={WAIT_MS}"
            load.send(Request("write, searchable", space, due, "GET", progress), connection)
        due += options.writer_pause
    connection.close()


def sample(load: Load, stop: threading.Event) -> None:
    """Samples the state of the server every few seconds until `stop` is set."""
    while True:
        with load.lock:
            records = sum(load.stored)
        pid = load.server.pid
        disk = meters.disk_mb(load.server.data)
        load.samples.append(Sample(load.elapsed(), meters.resident_mb(pid), meters.cpu_seconds(pid), disk, records))
        if stop.wait(SAMPLE_SECONDS):
            return


def run(server: Server, options: Namespace) -> Load:
    """Fills the spaces, runs readers and writers for the set time, and returns the measurements."""
    load = Load(server, options)
    fill(load)
    load.began = time.perf_counter()
    stop = threading.Event()
    threads = [threading.Thread(target=read, args=(load, number)) for number in range(options.readers)]
    threads += [threading.Thread(target=write, args=(load, number)) for number in range(options.writers)]
    sampler = threading.Thread(target=sample, args=(load, stop))
    for it in [*threads, sampler]:
        it.start()
    for it in threads:
        it.join()
    stop.set()
    sampler.join()
    return load
