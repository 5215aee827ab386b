"""Tests of percentiles and ratios, and of the checks of them."""

import pytest

from mnemic_bench import check, meters, ratios
from mnemic_bench.load import Call, Sample
from mnemic_bench.load_report import fairness, latencies, memory
from mnemic_bench.rounds import in_turn


def test_percentiles_are_values_that_were_measured() -> None:
    assert meters.percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert meters.percentile([float(it) for it in range(1, 101)], 0.95) == 95.0
    assert meters.percentile([7.0], 0.99) == 7.0
    assert meters.percentile([], 0.5) == 0.0


def test_the_first_contestant_changes_with_each_round() -> None:
    assert [in_turn(["a", "b", "c"], it)[0] for it in range(4)] == ["a", "b", "c", "a"]
    assert in_turn(["a", "b", "c"], 1) == ["b", "c", "a"]


def figures(per_second: float, p50: float, records: int = 10) -> dict[str, float]:
    return {
        "records": records,
        "ingest_per_second": per_second,
        "ingest_cpu_ms": 1.0,
        "question_p50_ms": p50,
        "question_p95_ms": p50,
        "question_cpu_ms": 1.0,
        "resident_mb": 10.0,
        "disk_mb": 0.0,
    }


def test_a_ratio_above_one_means_that_mnemic_was_better() -> None:
    found = ratios.of_round("x", {"Mnemic": figures(300, 5), "mem0": figures(100, 20), "hybrid": figures(600, 1)})
    assert found["x: ingest records/s, times mem0"] == 3
    assert found["x: question p50, times mem0"] == 4
    assert found["x: ingest records/s, times hybrid"] == 0.5
    assert found["x: question p50, times hybrid"] == 0.2
    assert "x: disk, times mem0" not in found, "nothing was measured"


def test_a_contestant_that_ran_out_of_time_is_not_compared() -> None:
    found = ratios.of_round("x", {"Mnemic": figures(300, 5), "mem0": figures(100, 20, records=9)})
    assert found == {}


def test_a_way_that_adds_nothing_has_the_ratio_one() -> None:
    ways = {"native": {"p50_ms": 10.0, "cpu_ms": 4.0}, "mem0 API": {"p50_ms": 10.0, "cpu_ms": 8.0}}
    found = ratios.of_ways("add", ways, "mem0 API", "native")
    assert found == {"add: p50, native / mem0 API": 1.0, "add: CPU, native / mem0 API": 0.5}


def test_a_ratio_counts_as_lost_if_it_shrank_by_more_than_a_fifth() -> None:
    baseline = {"question p50": 10.0, "question CPU": 10.0, "memory": 2.0, "question p95": 10.0}
    lost = ratios.lost(baseline, {"question p50": 8.01, "question CPU": 7.99, "question p95": 1.0})
    assert len(lost) == 2
    assert lost[0].startswith("question CPU: 7.99")
    assert lost[1].startswith("memory: was not measured")


def test_a_check_uses_the_best_of_its_runs() -> None:
    runs = [{"a": 1.0, "b": 3.0}, {"a": 2.0, "b": 1.0}]
    assert check.best_of(runs) == {"a": 2.0, "b": 3.0}


def test_medians_are_of_ratios_that_every_round_has() -> None:
    assert ratios.medians([{"a": 1.0, "b": 1.0}, {"a": 5.0}, {"a": 2.0}]) == {"a": 2.0}


def call(space: int, seconds: float, outcome: str = "done", kind: str = "question") -> Call:
    return Call(kind, space, 0.0, seconds, outcome)


def test_refused_and_failed_requests_have_no_latency() -> None:
    found = latencies([call(0, 0.1), call(0, 9.0, "refused"), call(0, 9.0, "failed")])
    assert found["question"] == {"count": 1, "p50_ms": 100, "p95_ms": 100, "p99_ms": 100, "refused": 1, "failed": 1}


def test_fairness_compares_the_slowest_space_with_the_median_one() -> None:
    calls = [call(space, seconds) for space, seconds in ((1, 0.1), (2, 0.2), (3, 0.6)) for _ in range(5)]
    # The space has too few questions to be compared.
    found = fairness([*calls, call(4, 9.0)])
    assert (found["median_space_p50_ms"], found["worst_space_p50_ms"], found["worst_over_median_p50"]) == (200, 600, 3)
    assert found["spaces"] == 3


def test_memory_growth_is_measured_in_the_second_half() -> None:
    held = [100.0, 300.0, 300.0, 303.0, 306.0]
    samples = [Sample(60.0 * at, mb, 0.0, 0.0, 1024 * at) for at, mb in enumerate(held)]
    found = memory(samples)
    assert found["second_half_mb_per_minute"] == pytest.approx(3)
    assert found["second_half_kb_per_record"] == pytest.approx(3)
    assert found["most_mb"] == 306
