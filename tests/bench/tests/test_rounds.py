"""Tests of rounds: each contestant gets the same work, and a contestant out of time gets no more."""

import os
from pathlib import Path

import pytest

from mnemic_bench import talk
from mnemic_bench.contestants import Asked, Ingested
from mnemic_bench.overhead import Ways
from mnemic_bench.rounds import WARM_UP, Plan, measure
from mnemic_bench.server import Server


class Recorder:
    """Accepts at most `room` records, each in a second, and records its calls."""

    def __init__(self, name: str, journal: list[str], room: int, folder: Path) -> None:
        self.name, self.journal, self.room, self.folder = name, journal, room, folder
        self.pid = os.getpid()
        self.texts: list[str] = []
        self.questions: list[str] = []

    def ingest(self, shape: str, first: int, end: int, patience: float) -> Ingested:
        self.journal.append(f"{self.name} {first}-{end}")
        added = min(end - first, self.room - first)
        self.texts += [it.text for it in talk.records(shape, first, first + added)]
        return Ingested(added, float(added), 0.001 * added, settle_seconds=2.0)

    def ask(self, question: str) -> Asked:
        self.questions.append(question)
        return Asked(0.25, 0.125, self.texts)

    def close(self) -> None:
        self.journal.append(f"{self.name} closed")


def test_contestants_take_chunks_in_turn_and_answer_the_same_questions(tmp_path: Path) -> None:
    journal: list[str] = []
    both = [Recorder(name, journal, 10_000, tmp_path) for name in ("a", "b")]
    found = measure(both, Plan("chat", 1_000, 10, patience=10_000))
    assert journal == ["a 0-500", "b 0-500", "b 500-1000", "a 500-1000"]
    assert both[0].questions == both[1].questions
    assert len(both[0].questions) == WARM_UP + 10
    figures = found["a"]
    assert (figures["records"], figures["questions"], figures["found_percent"]) == (1_000, 10, 100)
    assert (figures["ingest_per_second"], figures["settle_seconds"]) == (1.0, 4.0)
    assert (figures["question_p50_ms"], figures["question_cpu_ms"]) == (250, 125)
    assert figures["ingest_cpu_ms"] == pytest.approx(1.0)


def test_a_contestant_out_of_time_gets_no_more_records_and_only_questions_about_its_own(tmp_path: Path) -> None:
    journal: list[str] = []
    slow, fast = Recorder("slow", journal, 600, tmp_path), Recorder("fast", journal, 10_000, tmp_path)
    found = measure([slow, fast], Plan("chat", 2_000, 10, patience=10_000))
    assert [it for it in journal if it.startswith("slow")] == ["slow 0-500", "slow 500-1000"]
    assert (found["slow"]["records"], found["fast"]["records"]) == (600, 2_000)
    assert (found["slow"]["found_percent"], found["fast"]["found_percent"]) == (100, 100)


def test_the_time_limit_ends_only_the_questions_of_the_slow_contestant(tmp_path: Path) -> None:
    journal: list[str] = []
    found = measure([Recorder("a", journal, 100, tmp_path)], Plan("chat", 100, 100, patience=5.0))
    assert found["a"]["questions"] < 20
    assert found["a"]["question_p50_ms"] == 250


def test_ways_are_called_equally_often_and_warm_up_calls_are_not_counted(tmp_path: Path) -> None:
    class Own:
        pid = os.getpid()

    calls: dict[str, list[int]] = {"one": [], "other": []}
    ways = Ways(Server("", tmp_path, Own()))  # type: ignore[arg-type]
    settled: list[int] = []
    ways.call({name: it.append for name, it in calls.items()}, 7, lambda: settled.append(1))
    assert calls["one"] == calls["other"] == list(range(-WARM_UP, 7))
    assert {name: it["calls"] for name, it in ways.figures().items()} == {"one": 7, "other": 7}
    assert len(settled) == 2 * (WARM_UP + 7)
