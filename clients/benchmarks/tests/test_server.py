"""Tests of the adapters against a real server."""

from __future__ import annotations

import pytest
from mnemic import Mnemic
from test_memory import ENTRY

from mnemic_benchmarks import longmemeval
from mnemic_benchmarks.benchd import MnemicAdapter
from mnemic_benchmarks.longmemeval import Turn
from mnemic_benchmarks.omnimemeval import MnemicClient

pytestmark = pytest.mark.usefixtures("server")

TURNS = [
    {"role": "user", "content": "My sister Oona moved to Oslo last week.", "timestamp": "2026-03-02T18:00:00Z"},
    {"role": "assistant", "content": "How nice for her!"},
]


def test_a_question_of_benchd_sees_only_its_own_turns() -> None:
    adapter = MnemicAdapter()
    adapter.setup()
    adapter.reset()
    adapter.ingest(TURNS)
    assert adapter.recall("Where does Oona live?").startswith("Oslo\n")
    adapter.reset()
    adapter.ingest([{"role": "user", "content": "I like tea."}])
    assert adapter.recall("Where does Oona live?").startswith("I don't know")
    space = adapter.space
    adapter.teardown()
    with Mnemic() as memory:
        assert space not in [it.space for it in memory.spaces()]


def test_turns_of_a_haystack_are_ranked_and_the_space_is_deleted() -> None:
    with Mnemic() as memory:
        ranking = longmemeval.rank(memory, ENTRY, "longmemeval-test")
        assert ranking[0] == Turn(0, 0)
        assert "longmemeval-test" not in [it.space for it in memory.spaces()]
    line = longmemeval.log_entry(ENTRY, ranking)["retrieval_results"]["metrics"]
    assert (line["turn"]["recall_all@1"], line["session"]["recall_all@1"]) == (1.0, 1.0)


def test_omnimemeval_adds_searches_and_deletes() -> None:
    client = MnemicClient()
    client.add([{"role": "user", "content": "I adopted a dog named Fern.", "chat_time": "2026-03-02T18:00:00Z"}], "Ann 1")
    assert "Fern" in client.search("What is the dog called?", "Ann 1", 20)
    assert "Fern" not in client.search("What is the dog called?", "Ben 2", 20)
    client.delete_user("Ann 1")
    assert client.search("What is the dog called?", "Ann 1", 20) == ""
