"""One round: all contestants store the same records and answer the same questions, in turn.

Records are added in chunks, and each question is sent to all contestants before the next one, so that other load on the
machine affects all of them. The first contestant changes each time. Mnemic derives facts, events, topics and pages in
the background, and the next contestant begins after that. This time is reported separately, and its CPU time is added
to that of the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from . import meters, talk
from .contestants import Contestant

CHUNKS = 10
CHUNK_MIN = 500
WARM_UP = 5

T = TypeVar("T")


@dataclass
class Plan:
    """The records and questions of a round, and the time limit of each contestant for both parts."""

    shape: str
    size: int
    questions: int
    patience: float


@dataclass
class Tally:
    """The measurements of one contestant."""

    resident_before: float
    added: int = 0
    ingest_seconds: float = 0.0
    ingest_cpu: float = 0.0
    settle_seconds: float = 0.0
    question_seconds: list[float] = field(default_factory=list)
    question_cpu: float = 0.0
    named: int = 0
    found: int = 0
    resident: float = 0.0
    disk: float = 0.0

    def figures(self) -> dict[str, float]:
        """Returns the figures that are compared and reported."""
        asked = len(self.question_seconds)
        return {
            "records": self.added,
            "ingest_per_second": self.added / self.ingest_seconds if self.ingest_seconds else 0.0,
            "ingest_cpu_ms": 1e3 * self.ingest_cpu / max(self.added, 1),
            "settle_seconds": self.settle_seconds,
            "question_p50_ms": 1e3 * meters.percentile(self.question_seconds, 0.5),
            "question_p95_ms": 1e3 * meters.percentile(self.question_seconds, 0.95),
            "question_cpu_ms": 1e3 * self.question_cpu / max(asked, 1),
            "questions": asked,
            "found_percent": 100 * self.found / max(self.named, 1),
            "resident_before_mb": self.resident_before,
            "resident_mb": self.resident,
            "disk_mb": self.disk,
        }


def in_turn(items: Sequence[T], number: int) -> list[T]:
    """Returns the items in rotation: the first item changes with each number."""
    at = number % len(items)
    return [*items[at:], *items[:at]]


def measure(contestants: Sequence[Contestant], plan: Plan) -> dict[str, dict[str, float]]:
    """Returns the figures of each contestant by its name. A contestant that exceeds its time limit keeps its records so
    far.
    """
    tallies = {it.name: Tally(meters.resident_mb(it.pid)) for it in contestants}
    ingest(contestants, plan, tallies)
    ask(contestants, plan, tallies)
    for it in contestants:
        tallies[it.name].resident = meters.resident_mb(it.pid)
        tallies[it.name].disk = meters.disk_mb(it.folder)
    return {name: it.figures() for name, it in tallies.items()}


def ingest(contestants: Sequence[Contestant], plan: Plan, tallies: dict[str, Tally]) -> None:
    chunk = min(plan.size, max(CHUNK_MIN, plan.size // CHUNKS))
    for number, first in enumerate(range(0, plan.size, chunk)):
        end = min(first + chunk, plan.size)
        for it in in_turn(contestants, number):
            tally = tallies[it.name]
            left = plan.patience - tally.ingest_seconds
            # A contestant that could not add all of an earlier chunk lacks records, and adds no more.
            if left <= 0 or tally.added < first:
                continue
            done = it.ingest(plan.shape, first, end, left)
            tally.added += done.added
            tally.ingest_seconds += done.seconds
            tally.ingest_cpu += done.cpu
            tally.settle_seconds += done.settle_seconds


def ask(contestants: Sequence[Contestant], plan: Plan, tallies: dict[str, Tally]) -> None:
    spent = dict.fromkeys(tallies, 0.0)
    for number in range(-WARM_UP, plan.questions):
        for it in in_turn(contestants, number):
            tally = tallies[it.name]
            if spent[it.name] > plan.patience or not tally.added:
                continue
            # A contestant can find only the records that it stored.
            question = talk.question(plan.shape, number % plan.questions, tally.added)
            done = it.ask(question.text)
            spent[it.name] += done.seconds
            if number < 0:
                continue
            tally.question_seconds.append(done.seconds)
            tally.question_cpu += done.cpu
            if question.answer_word:
                tally.named += 1
                tally.found += any(question.answer_word in text for text in done.texts)
