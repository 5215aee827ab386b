"""The runs of `compare`: rounds of each shape and size, and the measurements of overhead."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from . import meters, overhead, ratios, report, server, talk
from .contestants import Contestant, Mnemic, Worker
from .rounds import Plan, measure

# Number of calls of each way, by the number of messages per call; the last key is the largest batch of the README.
ADDS = {1: 40, 2: 40, 100: 10}


def run(options: Namespace) -> dict[str, Any]:
    """Runs the requested measurements, prints tables, and returns the figures with their ratios."""
    with tempfile.TemporaryDirectory(prefix="mnemic-bench-", dir=options.folder) as name:
        folder = Path(name)
        outcome: dict[str, Any] = {"machine": meters.machine(folder), "figures": {}, "ratios": {}}
        print(f"machine: {outcome['machine']}\n")
        for shape in options.shapes:
            for size in options.sizes:
                figures, measured = rounds(options, folder, shape, size)
                outcome["figures"][f"{shape}, {size:,} records"] = figures
                outcome["ratios"].update(measured)
        if options.overhead:
            figures, measured = overheads(options, folder)
            outcome["figures"].update(figures)
            outcome["ratios"].update(measured)
        outcome["machine after"] = meters.machine(folder)
    print(report.ratios(outcome["ratios"]))
    return outcome


def rounds(options: Namespace, folder: Path, shape: str, size: int) -> tuple[dict[str, Any], dict[str, float]]:
    """Returns the median figures of each contestant over all rounds, and the medians of the ratios of each round."""
    label, all_figures = f"{shape}, {size:,} records", []
    plan = Plan(shape, size, options.questions, options.patience)
    for number in range(options.rounds):
        contestants = start(options, folder / f"{shape}-{size}-{number}")
        try:
            all_figures.append(measure(contestants, plan))
        finally:
            for it in contestants:
                it.close()
    figures = {name: middle([it[name] for it in all_figures]) for name in all_figures[0]}
    print(f"## {label}\n\n{report.contestants(figures)}\n")
    for sentence in report.stopped(figures, size):
        print(f"{sentence}\n")
    return figures, ratios.medians([ratios.of_round(label, it) for it in all_figures])


def start(options: Namespace, folder: Path) -> list[Contestant]:
    started: list[Contestant] = [Mnemic(server.start(options.binary, folder / "mnemic"))]
    started += [Worker(kind, folder / kind) for kind in ("mem0", "hybrid") if kind not in options.without]
    return started


def middle(all_figures: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: median(it[name] for it in all_figures) for name in all_figures[0]}


def overheads(options: Namespace, folder: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Returns figures and ratios of the API of mem0 and of the proxy."""
    endpoint = overhead.start_endpoint(options.model_ms)
    try:
        port = endpoint.url.rsplit(":", 1)[1]
        running = server.start(options.binary, folder / "overhead", overhead.SETTINGS.format(port=port))
        try:
            return measured_overheads(options, folder, running, endpoint)
        finally:
            running.stop()
    finally:
        endpoint.stop()


def measured_overheads(
    options: Namespace, folder: Path, running: server.Server, endpoint: overhead.Endpoint
) -> tuple[dict[str, Any], dict[str, float]]:
    figures: dict[str, Any] = {}
    measured: dict[str, float] = {}
    for size, count in ADDS.items():
        label = f"add, {size} message{'s' if size > 1 else ''} a call"
        figures[label] = overhead.adds(running, size, count)
        measured.update(ratios.of_ways(label, figures[label], "mem0 API", "native"))
    figures["search"] = overhead.searches(running, options.questions)
    measured.update(ratios.of_ways("search", figures["search"], "mem0 search", "query"))
    figures["chat"] = chats = overhead.proxied(running, endpoint, options.questions)
    extra = chats["model through the proxy"]["p50_ms"] - chats["model"]["p50_ms"]
    measured["chat: p50, query of the proxy's size / what the proxy adds"] = (
        chats["query of the proxy's size"]["p50_ms"] / extra
    )
    for label, ways in figures.items():
        print(f"## {label}\n\n{report.ways(ways)}\n")
    print(f"The proxy adds {extra:.1f} ms to a chat at p50; the model takes {options.model_ms} ms.\n")
    for batch in options.client_batches:
        label = f"1,000 messages, {batch} a call"
        figures[label] = whole = overhead.ingest_by_client(running, folder, batch, options.patience)
        times = whole["mem0 library"] / whole["mem0 client over Mnemic"]
        measured[f"{label}: mem0 client over Mnemic, times mem0 library"] = times
        print(f"{label}: {whole['mem0 client over Mnemic']:.2f} s with mem0's client over Mnemic, ")
        print(f"{whole['mem0 library']:.2f} s with mem0's own library ({times:.1f} times)\n")
    return figures, measured


def shapes_of(text: str) -> list[str]:
    """Returns the shapes in an argument."""
    named = text.split(",")
    unknown = [it for it in named if it not in talk.SHAPES]
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: is none of {', '.join(talk.SHAPES)}")
    return named
