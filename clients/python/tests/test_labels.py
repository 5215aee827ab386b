"""Tests of tags and filters in lists, questions, recall and tools."""

from __future__ import annotations

import httpx
import pytest

from mnemic import InvalidError, Mnemic, Space, models
from mnemic._records import RecordLike

TALK: list[RecordLike] = [
    {"id": "fern", "text": "I repotted the fern.", "tags": ["home", "plants"]},
    {"id": "report", "text": "I finished the report about the fern.", "tags": ["work"], "metadata": {"pages": "12"}},
    {"id": "cat", "text": "The cat sleeps on the sofa."},
]


@pytest.fixture
def tagged(space: Space) -> Space:
    space.remember(TALK, actor="Ann", session="monday", tags=["home"], wait=True)
    return space


def test_tags_are_a_default_for_records_that_name_none(tagged: Space) -> None:
    assert {it.id: it.tags for it in tagged.records()} == {"fern": ["home", "plants"], "report": ["work"], "cat": ["home"]}
    tagged.remember({"id": "dog", "text": "The dog barks."}, tags="home", wait=True)
    assert tagged.record("dog").tags == ["home"]


def test_lists_are_filtered_by_tags_and_filters(tagged: Space) -> None:
    def listed(**options: object) -> list[str | None]:
        return [it.id for it in tagged.records(**options, page_size=1)]  # type: ignore[arg-type]

    assert listed(tags=["home"]) == ["fern", "cat"]
    assert listed(tags=["plants", "home"]) == ["fern"]
    assert listed(tags="work") == ["report"]
    assert listed(tags=[]) == ["fern", "report", "cat"]
    assert listed(filter={"tags": {"any": ["plants", "work"]}}) == ["fern", "report"]
    assert listed(filter={"metadata": {"key": "pages", "gt": 9}}) == ["report"]
    assert listed(filter=models.LabelFilter(tags=models.TagFilter(none=["home"]))) == ["report"]
    assert [it.external_ids for it in tagged.units(tags=["home", "plants"])] == [["fern"]]
    assert [it.external_ids for it in tagged.units(filter={"tags": {"all": ["work"]}})] == [["report"]]


def test_a_question_and_a_tool_see_only_records_that_match_a_filter(tagged: Space) -> None:
    at_work = {"tags": {"any": ["work"]}}
    found = tagged.ask("What about the fern?", filter=at_work, answer=False)
    assert [it.external_ids for it in found.pack.items] == [["report"]]
    everything = tagged.ask("What about the fern?", answer=False)
    assert {it.external_ids[0] for it in everything.pack.items} >= {"fern", "report"}
    for narrowed in (
        tagged.call_tool("lexical_retrieve", {"query": "fern"}, filter=at_work),
        tagged.call_tool("lexical_retrieve", {"query": "fern"}, tags=["work"]),
    ):
        assert "report" in str(narrowed.result)
        assert "repotted" not in str(narrowed.result)
    assert "repotted" in str(tagged.call_tool("lexical_retrieve", {"query": "fern"}).result)


def test_recall_uses_only_records_that_match_a_filter(space: Space) -> None:
    space.remember(
        "I am going to Lisbon with my sister Oona on 3 April.", actor="Ann", session="monday", tags=["travel"], wait=True
    )
    message = "What shall I pack for Lisbon with Oona?"
    kept_back = space.recall(message, actor="Ann", session="one", ms=20_000, filter={"tags": {"any": ["work"]}})
    assert kept_back.hints == []
    said = space.recall(message, actor="Ann", session="two", ms=20_000, filter={"tags": {"any": ["travel"]}})
    assert any("Lisbon" in it.text for it in said.hints), said.silent


def test_a_filter_that_cannot_be_read_names_the_place(tagged: Space) -> None:
    for attempt in (
        lambda: list(tagged.records(filter={"metadata": {"not": {"key": "pages", "more": 3}}})),
        lambda: tagged.recall("Hello.", filter={"metadata": {"not": {"key": "pages", "more": 3}}}),
    ):
        with pytest.raises(InvalidError, match="more"):
            attempt()


def test_several_tags_are_sent_as_repeated_parameters() -> None:
    seen: list[httpx.URL] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url)
        return httpx.Response(200, json={"items": []})

    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        list(Mnemic("http://server", http=http).space("ann").records(tags=("a&b", "c")))
    assert seen[0].params.get_list("tag") == ["a&b", "c"]
