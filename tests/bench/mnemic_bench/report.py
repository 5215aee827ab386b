"""Tables of the measurements, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

COLUMNS = (
    ("records/s until searchable", "ingest_per_second", 0),
    ("until all is derived, s more", "settle_seconds", 1),
    ("CPU ms a record", "ingest_cpu_ms", 2),
    ("question p50 ms", "question_p50_ms", 1),
    ("p95 ms", "question_p95_ms", 1),
    ("CPU ms a question", "question_cpu_ms", 1),
    ("named found %", "found_percent", 0),
    ("resident MB", "resident_mb", 0),
    ("disk MB", "disk_mb", 1),
)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table in Markdown."""
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def contestants(figures: dict[str, dict[str, float]]) -> str:
    """Returns the figures of the contestants, one row for each."""
    heads = ["", *(title for title, _, _ in COLUMNS)]
    rows = [[name, *(f"{it[figure]:,.{digits}f}" for _, figure, digits in COLUMNS)] for name, it in figures.items()]
    return table(heads, rows)


def stopped(figures: dict[str, dict[str, float]], size: int) -> list[str]:
    """Returns a sentence for each contestant that did not store all records."""
    return [
        f"{name} had {it['records']:,.0f} of {size:,} records when its time was up; its other figures are of these."
        for name, it in figures.items()
        if it["records"] < size
    ]


def ways(figures: dict[str, dict[str, float]]) -> str:
    """Returns the figures of the ways, one row for each."""
    rows = [
        [name, f"{it['p50_ms']:.1f}", f"{it['p95_ms']:.1f}", f"{it['cpu_ms']:.1f}", f"{it['calls']:.0f}"]
        for name, it in figures.items()
    ]
    return table(["", "p50 ms", "p95 ms", "CPU ms of the server", "calls"], rows)


def ratios(measured: dict[str, float]) -> str:
    """Returns the ratios, one row for each."""
    return table(["ratio, greater is better for Mnemic", ""], [[name, f"{value:.2f}"] for name, value in measured.items()])
