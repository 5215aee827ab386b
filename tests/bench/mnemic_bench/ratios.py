"""Ratios between figures of one run. On a shared machine they are more reliable than the figures. Greater is better for
Mnemic.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

# Share by which a ratio may shrink before a check fails.
TOLERANCE = 0.2

# Name of the ratio, the figure, and whether a greater figure is better.
COMPARED = (
    ("ingest records/s", "ingest_per_second", True),
    ("ingest CPU", "ingest_cpu_ms", False),
    ("question p50", "question_p50_ms", False),
    ("question p95", "question_p95_ms", False),
    ("question CPU", "question_cpu_ms", False),
    ("memory", "resident_mb", False),
    ("disk", "disk_mb", False),
)
# Ratios that a check ignores: one slow question in twenty decides a 95th percentile, and the flush time of the disk
# decides how many records per second any contestant can add. Both are reported.
UNCHECKED = ("question p95", "ingest records/s", "1,000 messages")


def of_round(label: str, figures: dict[str, dict[str, float]]) -> dict[str, float]:
    """Returns the factors by which Mnemic was better than each other contestant."""
    ours, ratios = figures["Mnemic"], {}
    for name, theirs in figures.items():
        if name == "Mnemic" or theirs["records"] < ours["records"]:
            continue
        for ratio, figure, more_is_better in COMPARED:
            better, worse = (ours, theirs) if more_is_better else (theirs, ours)
            if worse[figure] > 0:
                ratios[f"{label}: {ratio}, times {name}"] = better[figure] / worse[figure]
    return ratios


def of_ways(label: str, figures: dict[str, dict[str, float]], way: str, over: str) -> dict[str, float]:
    """Returns the cost of `over` divided by the cost of `way`: 1 if `way` adds nothing, 0.5 if `way` takes twice as
    much.
    """
    return {
        f"{label}: {name}, {over} / {way}": figures[over][figure] / figures[way][figure]
        for name, figure in (("p50", "p50_ms"), ("CPU", "cpu_ms"))
        if figures[way][figure] > 0
    }


def medians(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    """Returns the median of each ratio that all rounds have."""
    names = [name for name in rounds[0] if all(name in it for it in rounds)]
    return {name: median(it[name] for it in rounds) for name in names}


def is_checked(name: str) -> bool:
    return not any(it in name for it in UNCHECKED)


def lost(baseline: dict[str, float], measured: dict[str, float]) -> list[str]:
    """Returns a sentence for each ratio of the baseline that is now missing or more than a fifth smaller."""
    sentences = []
    for name, before in baseline.items():
        if not is_checked(name):
            continue
        now = measured.get(name)
        if now is None:
            sentences.append(f"{name}: was not measured; it was {before:.2f}")
        elif now < before * (1 - TOLERANCE):
            sentences.append(f"{name}: {now:.2f}, and it was {before:.2f}")
    return sentences
