"""Runs a benchmark of benchd-harness that needs no model, and writes the score to a file.

python -m mnemic_benchmarks.benchd --benchmark reliability-v1 --floor 18 --out report.json
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from benchd_harness.adapters.base import BaseAdapter
from benchd_harness.benchmarks import get_benchmark
from benchd_harness.runner import BenchmarkRunner
from mnemic import Mnemic, models

from mnemic_benchmarks import memory

# Forms of the answer that an adapter may return to the harness.
FORMS: dict[str, Callable[[models.QueryResponse], str]] = {
    "answer": memory.answer_in_words,
    "agent": memory.reply_to_agent,
}


class MnemicAdapter(BaseAdapter):  # type: ignore[misc]
    """A space for each question of the harness."""

    def __init__(self, form: str = "agent") -> None:
        self.form = form
        self.memory = Mnemic()
        self.space = ""

    @property
    def name(self) -> str:
        return "mnemic"

    def reset(self) -> None:
        """Deletes the space of the previous question."""
        if self.space:
            self.memory.space(self.space).delete()
        self.space = f"benchd-{uuid4()}"

    def ingest(self, turns: list[dict[str, Any]]) -> None:
        memory.store(self.memory, self.space, memory.records(turns, "s"))

    def recall(self, query: str) -> str:
        return FORMS[self.form](self.memory.create_space(self.space).ask(query))

    def teardown(self) -> None:
        self.reset()
        self.memory.close()


def run(benchmark: str, form: str) -> dict[str, Any]:
    """Runs a benchmark; returns the total score, the score by dimension, and the ids of the failed questions."""
    signed = BenchmarkRunner(MnemicAdapter(form), get_benchmark(benchmark)).run()
    traces = signed.manifest["traces"]
    right, all_of = Counter[str](), Counter[str]()
    for trace in traces:
        all_of[trace["dimension"]] += 1
        right[trace["dimension"]] += int(trace["scored_correct"])
    return {
        "benchmark": benchmark,
        "form": form,
        "passed": sum(right.values()),
        "of": len(traces),
        "dimensions": {name: [right[name], count] for name, count in sorted(all_of.items())},
        "missed": sorted(trace["question_id"] for trace in traces if not trace["scored_correct"]),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchmark", default="reliability-v1")
    parser.add_argument("--form", choices=sorted(FORMS), default="agent")
    parser.add_argument("--floor", type=int, default=0, help="fail if fewer questions pass than this number")
    parser.add_argument("--out", type=Path, help="file for the score, as JSON")
    asked = parser.parse_args()
    report = run(asked.benchmark, asked.form)
    written = json.dumps(report, indent=2)
    print(written)
    if asked.out:
        asked.out.write_text(written + "\n", encoding="utf-8")
    if report["passed"] < asked.floor:
        print(f"only {report['passed']} of {report['of']} passed; the floor is {asked.floor}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
