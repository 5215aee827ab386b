"""Tests that records contain nothing of the benchmark except the conversations."""

from __future__ import annotations

import pytest
from mnemic import models

from mnemic_benchmarks import longmemeval, memory
from mnemic_benchmarks.longmemeval import Turn

ENTRY = {
    "question_id": "q1",
    "question_type": "multi-session",
    "question": "Where did Ann move?",
    "question_date": "2023/06/01 (Thu) 10:00",
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 09:00"],
    "haystack_session_ids": ["answer_1", "other_2"],
    "haystack_sessions": [
        [
            {"role": "user", "content": "I moved to Oslo.", "has_answer": True},
            {"role": "assistant", "content": "How nice!", "has_answer": False},
            {"role": "user", "content": "It rains.", "has_answer": False},
        ],
        [{"role": "user", "content": "I like tea."}],
    ],
}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2023/05/20 (Sat) 02:21", "2023-05-20T02:21:00+00:00"),
        ("2023-05-20T04:21:00+02:00", "2023-05-20T02:21:00+00:00"),
        ("2023-05-20T02:21:00Z", "2023-05-20T02:21:00+00:00"),
        (None, None),
        ("", None),
    ],
)
def test_timestamps_are_converted_to_utc(written: str | None, read: str | None) -> None:
    assert memory.moment(written) == read


def test_an_invalid_timestamp_is_refused() -> None:
    with pytest.raises(ValueError):
        memory.moment("yesterday")


def test_names_of_spaces_contain_only_allowed_characters() -> None:
    assert memory.space_name("amb", "User 7/Ann") == "amb-user-7-ann"
    assert len(memory.space_name("amb", "x" * 100)) == 64


def test_records_contain_turns_without_labels() -> None:
    made = longmemeval.records(ENTRY)
    assert [it["id"] for it in made] == ["s0-0", "s0-1", "s0-2", "s1-0"]
    assert made[0]["observed_at"] == "2023-05-20T02:21:00+00:00"
    assert not any("answer" in str(it) for it in made)


def test_the_log_contains_the_ids_of_the_data_set() -> None:
    ranking = longmemeval.ranked_turns([["s1-0"], ["s0-0", "s0-1"], ["s0-0"], ["elsewhere"]])
    assert ranking == [Turn(1, 0), Turn(0, 0), Turn(0, 1)]
    line = longmemeval.log_entry(ENTRY, ranking)["retrieval_results"]
    assert [it["corpus_id"] for it in line["ranked_items"]] == ["other_2_1", "answer_1_1"]
    turn, session = line["metrics"]["turn"], line["metrics"]["session"]
    assert (turn["recall_all@1"], turn["recall_all@3"]) == (0.0, 1.0)
    # The first two places count in full.
    assert (turn["ndcg_any@1"], turn["ndcg_any@3"]) == (0.0, 1.0)
    assert (session["recall_any@1"], session["recall_any@3"]) == (0.0, 1.0)


def test_a_ranking_that_misses_has_no_recall() -> None:
    line = longmemeval.log_entry(ENTRY, [Turn(1, 0)])["retrieval_results"]["metrics"]
    assert set(line["turn"].values()) == {0.0}


def test_gains_are_discounted_from_the_third_place_on() -> None:
    assert longmemeval.gain([True, True]) == 2.0
    assert longmemeval.gain([False, False, True]) == pytest.approx(0.6309, abs=1e-4)


def test_a_refusal_is_a_sentence() -> None:
    refused = {
        "verdict": {"status": "insufficient", "reasons": ["nothing on this is remembered"]},
        "pack": {"items": [], "tokens": 0, "budget": 1, "text": ""},
        "cost": {"tokens": 0, "model_calls": 0, "ms": 1.0, "steps": [], "units": 0, "candidates": 0},
        "degraded": [],
        "trace_id": "0",
        "weights": "0",
    }
    found = models.QueryResponse.model_validate(refused)
    assert (
        memory.answer_in_words(found) == "I don't know, there is no information about that: nothing on this is remembered."
    )
