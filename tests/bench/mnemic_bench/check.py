"""Compares a run with a baseline. A loss has to appear in repeated runs before it is reported, since other load on the
machine affects single runs.
"""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

from . import comparison, ratios


def best_of(runs: list[dict[str, float]]) -> dict[str, float]:
    """Returns the greatest value of each ratio."""
    return {name: max(it[name] for it in runs if name in it) for name in {name for it in runs for name in it}}


def run(options: Namespace) -> dict[str, Any]:
    """Repeats the run until no ratio is lost, up to the number of tries in the options; `lost` has the remaining
    losses.
    """
    baseline = json.loads(options.check.read_text(encoding="utf-8"))["ratios"]
    runs: list[dict[str, float]] = []
    outcome: dict[str, Any] = {}
    for number in range(1, max(1, options.tries) + 1):
        outcome = comparison.run(options)
        runs.append(outcome["ratios"])
        outcome["lost"] = ratios.lost(baseline, best_of(runs))
        print(f"\nrun {number} against {options.check}: {len(outcome['lost'])} ratios lost more than a fifth")
        for sentence in outcome["lost"]:
            print(f"  {sentence}")
        if not outcome["lost"]:
            break
    return outcome
