"""The store inside LangGraph, compared with LangGraph's own store in memory."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict
from uuid import uuid4

import pytest

from mnemic import Mnemic

langgraph = pytest.importorskip("mnemic.langgraph")

NAMESPACES = [("memories", "ann"), ("memories", "Bo Ø"), ("notes",)]


@pytest.fixture
def store(memory: Mnemic) -> Any:
    return langgraph.MnemicStore(memory, prefix=f"g{uuid4().hex[:8]}")


def filled(store: Any) -> Any:
    for index, namespace in enumerate(NAMESPACES):
        store.put(namespace, "food", {"text": "I like sushi.", "rank": index})
        store.put(namespace, "pet", {"text": "My dog is called Rex.", "rank": 10 + index, "tags": ["a", "b"]})
    store.put(NAMESPACES[0], "food", {"text": "I like pasta.", "rank": 5})
    store.delete(NAMESPACES[1], "pet")
    return store


def said(items: list[Any]) -> list[Any]:
    return sorted((it.namespace, it.key, str(it.value)) for it in items)


def test_the_store_behaves_like_the_store_in_memory(store: Any) -> None:
    from langgraph.store.memory import InMemoryStore

    ours, theirs = filled(store), filled(InMemoryStore())
    for namespace in NAMESPACES:
        for key in ("food", "pet", "nothing"):
            got, wanted = ours.get(namespace, key), theirs.get(namespace, key)
            assert (got and got.value) == (wanted and wanted.value)
    for prefix in [(), ("memories",), ("memories", "ann"), ("nobody",)]:
        for wanted in [None, {"rank": 5}, {"rank": {"$gte": 2}}, {"rank": {"$lt": 3}, "text": "I like sushi."}]:
            assert said(ours.search(prefix, filter=wanted)) == said(theirs.search(prefix, filter=wanted))
    listed: list[dict[str, Any]] = [
        {},
        {"prefix": ("memories",)},
        {"suffix": ("ann",)},
        {"max_depth": 1},
        {"prefix": ("*", "ann")},
    ]
    for options in listed:
        assert ours.list_namespaces(**options) == theirs.list_namespaces(**options)
    assert len(ours.search((), limit=2)) == 2
    assert len(ours.search((), limit=2, offset=4)) == 1


def test_a_query_finds_by_meaning_and_ranks(store: Any) -> None:
    filled(store)
    found = store.search(NAMESPACES[0], query="What does she eat? Pasta?")
    assert found[0].key == "food"
    assert found[0].score is not None
    assert found[0].value["text"] == "I like pasta."
    assert store.search(NAMESPACES[0], query="Which dog?")[0].key == "pet"


def test_an_item_keeps_the_time_of_its_creation(store: Any) -> None:
    store.put(("t",), "k", {"text": "One."})
    first = store.get(("t",), "k")
    store.put(("t",), "k", {"text": "Two."})
    second = store.get(("t",), "k")
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at


def test_values_that_cannot_be_stored_are_refused(store: Any) -> None:
    with pytest.raises(ValueError, match="at most 30000"):
        store.put(("t",), "k", {"text": "x" * 40_000})
    store.put(("t",), "k", {"text": "word " * 4_000})
    assert len(store.get(("t",), "k").value["text"]) == 20_000
    with pytest.raises(ValueError, match="too long"):
        store.put(("x" * 80,), "k", {})


def test_a_prefix_with_a_dot_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'my\.app' contains a dot.*use `-` instead"):
        langgraph.MnemicStore(Mnemic("http://memory"), prefix="my.app")


def test_a_graph_remembers_between_threads(store: Any) -> None:
    from langgraph.graph import END, START, StateGraph
    from langgraph.store.base import BaseStore

    class State(TypedDict, total=False):
        said: str
        known: list[str]

    def node(state: State, *, store: BaseStore) -> State:
        known = store.search(("users", "ann"), query=state["said"])
        store.put(("users", "ann"), uuid4().hex, {"text": state["said"]})
        return {"known": [it.value["text"] for it in known]}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    graph = builder.compile(store=store)
    assert graph.invoke({"said": "I moved to Odense."})["known"] == []
    assert graph.invoke({"said": "Where do I live? Odense?"})["known"] == ["I moved to Odense."]
    assert asyncio.run(store.asearch(("users", "ann"), query="Odense"))[0].score is not None
