"""The store inside LangGraph, compared with LangGraph's own store in memory."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict
from uuid import uuid4

import httpx
import pytest
from running import Server

from mnemic import ForbiddenError, Mnemic, NotFoundError

langgraph = pytest.importorskip("mnemic.langgraph")

NAMESPACES = [("memories", "ann"), ("memories", "Bo Ø"), ("notes",)]
FILTERS: list[dict[str, Any] | None] = [
    None,
    {"rank": 5},
    {"rank": {"$gte": 2, "$ne": 12}},
    {"rank": {"$lt": 3}, "text": "I like sushi."},
    {"meta": {"k": 1}},
    {"meta": {"more": {"x": "y"}}},
    {"meta": {"k": {"$ne": 7}, "more": {}}},
    {"meta": {}},
    {"tags": ["a", "b"]},
    {"tags": ["a"]},
    {"rank": {"k": 1}},
]


@pytest.fixture
def store(memory: Mnemic) -> Any:
    return langgraph.MnemicStore(memory, prefix=f"g{uuid4().hex[:8]}")


def filled(store: Any) -> Any:
    for index, namespace in enumerate(NAMESPACES):
        store.put(namespace, "food", {"text": "I like sushi.", "rank": index})
        store.put(namespace, "pet", {"text": "My dog is called Rex.", "rank": 10 + index, "tags": ["a", "b"]})
        store.put(namespace, "task", {"done": 1, "rank": 20 + index, "meta": {"k": index, "more": {"x": "y", "z": None}}})
    store.put(NAMESPACES[0], "food", {"text": "I like pasta.", "rank": 5})
    store.put(NAMESPACES[0], "task", {"done": True, "rank": 20, "meta": {"k": 7}})
    store.delete(NAMESPACES[1], "pet")
    return store


def said(items: list[Any]) -> list[Any]:
    return sorted((it.namespace, it.key, str(it.value)) for it in items)


def test_the_store_behaves_like_the_store_in_memory(store: Any) -> None:
    from langgraph.store.memory import InMemoryStore

    ours, theirs = filled(store), filled(InMemoryStore())
    for namespace in NAMESPACES:
        for key in ("food", "pet", "task", "food#v2", "nothing"):
            got, wanted = ours.get(namespace, key), theirs.get(namespace, key)
            assert (got and got.value) == (wanted and wanted.value)
    for prefix in [(), ("memories",), ("memories", "ann"), ("nobody",)]:
        for wanted in FILTERS:
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
    assert len(ours.search((), limit=2, offset=7)) == 1
    assert repr(ours.get(NAMESPACES[0], "task").value["done"]) == "True"


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


def test_a_value_that_cannot_be_stored_is_refused_and_leaves_the_former_one(store: Any) -> None:
    store.put(("t",), "k", {"text": "The former value."})
    with pytest.raises(ValueError, match="at most 30000"):
        store.put(("t",), "k", {"text": "x" * 40_000})
    with pytest.raises(TypeError):
        store.put(("t",), "k", {"text": object()})
    assert store.get(("t",), "k").value == {"text": "The former value."}
    store.put(("t",), "k", {"text": "word " * 4_000})
    assert len(store.get(("t",), "k").value["text"]) == 20_000
    with pytest.raises(ValueError, match="too long"):
        store.put(("x" * 80,), "k", {})


def test_a_value_with_control_characters_is_stored_unchanged(store: Any) -> None:
    store.put(("t",), "k", {"text": "The former value."})
    value = {"text": "The log says:\x1b[31m failed\x00\x85", "empty": "\x07"}
    store.put(("t",), "k", value)
    assert store.get(("t",), "k").value == value
    assert store.search(("t",), query="What does the log say?")[0].value == value
    store.put(("t",), "controls", {"text": "\x1b"})
    assert store.get(("t",), "controls").value == {"text": "\x1b"}


def test_only_the_newest_value_is_found_and_all_values_are_deleted(store: Any, memory: Mnemic) -> None:
    for text in ("I like sushi.", "I like pasta.", "I like soup."):
        store.put(("t",), "food", {"text": text})
    store.put(("t",), "pet", {"text": "My dog is called Rex."})
    texts = [it.value["text"] for it in store.search(("t",))]
    assert texts == ["I like soup.", "My dog is called Rex."]
    assert [it.key for it in store.search(("t",), query="Who likes soup?")] == ["food", "pet"]
    assert store.search(("t",), filter={"text": "I like sushi."}) == []
    space = memory.space(langgraph.name_of(store.prefix, ("t",)))
    assert [it.id for it in space.versions("food")] == ["food", "food#v2", "food#v3"]
    store.delete(("t",), "food#v2")
    assert store.get(("t",), "food").value == {"text": "I like soup."}
    store.delete(("t",), "food")
    assert store.get(("t",), "food") is None
    assert [it.id for it in space.records()] == ["pet"]
    with pytest.raises(NotFoundError):
        space.versions("food")
    store.put(("t",), "food", {"text": "I like bread."})
    assert store.get(("t",), "food").value == {"text": "I like bread."}


def test_former_values_are_erased_once_there_are_enough_of_them(
    store: Any, memory: Mnemic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(langgraph, "VERSIONS_KEPT", 3)
    space = memory.space(langgraph.name_of(store.prefix, ("t",)))
    kept = []
    for count in range(5):
        store.put(("t",), "k", {"count": count})
        kept.append([it.id for it in space.versions("k")])
        assert store.get(("t",), "k").value == {"count": count}
    assert kept == [["k"], ["k", "k#v2"], ["k", "k#v2", "k#v3"], ["k"], ["k", "k#v2"]]


class Forbidding(httpx.HTTPTransport):
    """Refuses erasures, as a server does for a key without the right `admin`."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "DELETE":
            problem = {"type": "urn:mnemic:problem:forbidden", "title": "Not allowed", "status": 403, "detail": ""}
            return httpx.Response(403, json=problem)
        return super().handle_request(request)


def test_without_the_right_to_erase_former_values_stay(
    store: Any, memory: Mnemic, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(langgraph, "VERSIONS_KEPT", 2)
    through = langgraph.MnemicStore(Mnemic(server.url, http=httpx.Client(transport=Forbidding())), prefix=store.prefix)
    for count in range(3):
        through.put(("t",), "k", {"count": count})
    assert through.get(("t",), "k").value == {"count": 2}
    assert len(memory.space(langgraph.name_of(store.prefix, ("t",))).versions("k")) == 3
    long = "k" * 256
    through.put(("t",), long, {"count": 1})
    with pytest.raises(ForbiddenError):
        through.put(("t",), long, {"count": 2})
    assert through.get(("t",), long).value == {"count": 1}


@pytest.mark.parametrize("key", ["k" * 253, "k" * 254, "ø" * 128])
def test_a_value_under_the_longest_keys_is_replaced(store: Any, key: str) -> None:
    for count in range(3):
        store.put(("t",), key, {"count": count})
        assert store.get(("t",), key).value == {"count": count}
    assert len(store.search(("t",))) == 1


class Counted(httpx.HTTPTransport):
    """Counts the requests that read a list of records, and those that read one record."""

    lists = 0
    records = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            self.lists += request.url.path.endswith("/records")
            self.records += "/records/" in request.url.path
        return super().handle_request(request)


def test_a_query_reads_only_the_items_that_the_result_needs(store: Any, server: Server) -> None:
    filled(store)
    counted = Counted()
    through = langgraph.MnemicStore(Mnemic(server.url, http=httpx.Client(transport=counted)), prefix=store.prefix)
    assert through.search(NAMESPACES[0], query="Which dog?", limit=1)[0].key == "pet"
    assert (counted.lists, counted.records) == (0, 1)
    assert len(through.search(NAMESPACES[0], query="Which dog?", limit=3)) == 3
    assert counted.lists <= 1
    assert len(through.search(NAMESPACES[0], limit=3)) == 3
    assert counted.lists >= 1


@pytest.mark.parametrize("query", ["Which dog? " * 2_000 + "Which dog?", "Which\x00 dog?\x1b[0m", "\ud800Which dog?"])
def test_a_query_that_the_server_would_refuse_is_sent_in_another_form(store: Any, query: str) -> None:
    filled(store)
    assert store.search(NAMESPACES[0], query=query)[0].key == "pet"


def test_a_query_without_words_ranks_nothing(store: Any) -> None:
    filled(store)
    assert {it.score for it in store.search(NAMESPACES[0], query="\x00 ")} == {None}


@pytest.mark.parametrize("name", ["my_space", "caf_c3", "my_61pp"])
def test_spaces_and_records_of_other_programs_are_left_out(store: Any, memory: Mnemic, name: str) -> None:
    foreign = memory.create_space(f"{store.prefix}.{name}")
    foreign.remember("Not an item.", wait=True)
    store.put(("t",), "k", {"text": "An item."})
    memory.space(langgraph.name_of(store.prefix, ("t",))).remember({"id": "other", "text": "Not an item."}, wait=True)
    assert [it.key for it in store.search(())] == ["k"]
    assert [it.key for it in store.search((), query="Which item?")] == ["k"]
    assert store.list_namespaces() == [("t",)]
    assert store.get(("t",), "other") is None


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
