"""The report of a run under load: latencies by kind and time window, fairness between spaces, and memory over time."""

from __future__ import annotations

from argparse import Namespace
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from . import meters
from .load import Call, Load, Sample
from .report import table

# A space with fewer questions than this is not compared.
QUESTIONS_MIN = 5


def latencies(calls: Sequence[Call]) -> dict[str, dict[str, float]]:
    """Returns the latencies of successful requests by kind, in milliseconds, and the numbers of refused and failed
    requests.
    """
    by_kind: dict[str, list[Call]] = defaultdict(list)
    for it in calls:
        by_kind[it.kind].append(it)
    return {kind: percentiles(by_kind[kind]) for kind in sorted(by_kind)}


def percentiles(calls: Sequence[Call]) -> dict[str, float]:
    taken = [it.seconds * 1e3 for it in calls if it.outcome == "done"]
    shares = {f"p{round(share * 100)}_ms": round(meters.percentile(taken, share), 1) for share in (0.5, 0.95, 0.99)}
    outcomes = {name: sum(it.outcome == name for it in calls) for name in ("refused", "failed")}
    return {"count": len(taken), **shares, **outcomes}


def windows(load: Load) -> list[dict[str, Any]]:
    """Returns the latencies of each time window."""
    width = load.options.window
    by_window: dict[int, list[Call]] = defaultdict(list)
    for it in load.calls:
        by_window[int(it.due // width)].append(it)
    return [{"from_s": at * width, "to_s": (at + 1) * width, **latencies(by_window[at])} for at in sorted(by_window)]


def fairness(calls: Sequence[Call]) -> dict[str, float]:
    """Returns p50 and p95 of the questions in the slowest space and in the median space, with the ratios of the two."""
    by_space: dict[int, list[float]] = defaultdict(list)
    for it in calls:
        if it.kind == "question" and it.outcome == "done":
            by_space[it.space].append(it.seconds * 1e3)
    found: dict[str, float] = {}
    for share, name in ((0.5, "p50"), (0.95, "p95")):
        of_spaces = sorted(meters.percentile(it, share) for it in by_space.values() if len(it) >= QUESTIONS_MIN)
        if of_spaces:
            middle, worst = meters.percentile(of_spaces, 0.5), of_spaces[-1]
            found |= {f"median_space_{name}_ms": round(middle, 1), f"worst_space_{name}_ms": round(worst, 1)}
            found[f"worst_over_median_{name}"] = round(worst / middle, 2)
    return {**found, "spaces": sum(len(it) >= QUESTIONS_MIN for it in by_space.values())}


def slope_per_minute(samples: Sequence[Sample]) -> float:
    """Returns the growth of resident memory in MB per minute, by least squares; 0 for fewer than two samples."""
    if len(samples) < 2:
        return 0.0
    at = [it.at / 60 for it in samples]
    held = [it.resident_mb for it in samples]
    mean_at, mean_held = sum(at) / len(at), sum(held) / len(held)
    spread = sum((it - mean_at) ** 2 for it in at)
    return sum((x - mean_at) * (y - mean_held) for x, y in zip(at, held, strict=True)) / spread if spread else 0.0


def memory(samples: Sequence[Sample]) -> dict[str, float]:
    """Returns resident memory at the start, at its peak and at the end, and its growth in the second half of the run."""
    half = samples[len(samples) // 2 :]
    records = half[-1].records - half[0].records
    growth = slope_per_minute(half)
    minutes = (half[-1].at - half[0].at) / 60
    return {
        "start_mb": round(samples[0].resident_mb, 1),
        "most_mb": round(max(it.resident_mb for it in samples), 1),
        "end_mb": round(samples[-1].resident_mb, 1),
        "second_half_mb_per_minute": round(growth, 2),
        "second_half_kb_per_record": round(1024 * growth * minutes / records, 1) if records else 0.0,
    }


def outcome(load: Load) -> dict[str, Any]:
    """Returns all figures of a run."""
    first, last = load.samples[0], load.samples[-1]
    return {
        "options": settings(load.options),
        "machine": meters.machine(load.server.folder),
        "latencies": latencies(load.calls),
        "windows": windows(load),
        "fairness": fairness(load.calls),
        "memory": memory(load.samples),
        "cpu_cores_used": round((last.cpu_seconds - first.cpu_seconds) / max(last.at - first.at, 1e-9), 2),
        "records_at_start": first.records,
        "records_at_end": sum(load.stored),
        "failed": sum(it.outcome == "failed" for it in load.calls),
        "refused": sum(it.outcome == "refused" for it in load.calls),
        "problems": load.problems,
        "samples": [vars(it) for it in load.samples],
    }


def settings(options: Namespace) -> dict[str, Any]:
    return {name: value if isinstance(value, int | float) else str(value) for name, value in vars(options).items()}


def show(figures: dict[str, Any]) -> str:
    """Returns a short report."""
    rows = [
        [kind, *(f"{it[name]:,.0f}" for name in ("count", "p50_ms", "p95_ms", "p99_ms", "refused", "failed"))]
        for kind, it in figures["latencies"].items()
    ]
    lines = [table(["", "answers", "p50 ms", "p95 ms", "p99 ms", "refused", "failed"], rows), ""]
    of_windows = [
        [
            f"{it['from_s']:.0f}-{it['to_s']:.0f} s",
            *(f"{it['question'][name]:,.0f}" for name in ("count", "p50_ms", "p95_ms")),
        ]
        for it in figures["windows"]
        if "question" in it
    ]
    lines += [table(["questions by time", "answers", "p50 ms", "p95 ms"], of_windows), ""]
    fair, held = figures["fairness"], figures["memory"]
    if "worst_over_median_p50" in fair:
        lines.append(
            f"Fairness over {fair['spaces']} spaces: the p50 of the slowest is {fair['worst_over_median_p50']} times "
            f"that of the median space, its p95 {fair['worst_over_median_p95']} times."
        )
    lines.append(
        f"Memory: {held['start_mb']} MB at the start, {held['most_mb']} at most, {held['end_mb']} at the end; "
        f"in the second half {held['second_half_mb_per_minute']} MB a minute, "
        f"{held['second_half_kb_per_record']} KB a new record."
    )
    lines.append(
        f"Records: {figures['records_at_start']:,} at the start, {figures['records_at_end']:,} at the end. CPU: "
        f"{figures['cpu_cores_used']} cores. Failed: {figures['failed']}, refused: {figures['refused']}."
    )
    return "\n".join([*lines, *figures["problems"]])
