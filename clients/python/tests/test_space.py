"""Tests of the methods of a space, against a server."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from conftest import eventually

from mnemic import (
    ConflictError,
    DeadlineError,
    InvalidError,
    Mnemic,
    NotFoundError,
    RecordsRejectedError,
    Space,
    UnknownSpaceError,
    models,
)

MONDAY = datetime(2026, 3, 2, 18, tzinfo=timezone.utc)
FERN = "I repotted the fern yesterday, it had outgrown the old pot."


def test_remembered_records_are_found(space: Space) -> None:
    accepted = space.remember(FERN, actor="Ann", session="monday", observed_at=MONDAY, wait=True)
    assert [item.status for item in accepted.items] == ["accepted"]
    found = space.ask("When did Ann repot the fern?", tokens=256)
    assert "fern" in found.pack.text
    assert found.pack.tokens <= 256
    assert found.verdict.status in {"supported", "partial"}
    assert "zebra" not in found.pack.text


def test_a_question_after_a_write_sees_it(space: Space) -> None:
    accepted = space.remember({"text": FERN, "actor": "Ann"})
    assert "fern" in space.ask("What did Ann repot?", after=accepted).pack.text
    assert "fern" in space.ask("What did Ann repot?", after=accepted.watermark).pack.text


def test_fields_of_records_take_precedence_over_defaults(space: Space) -> None:
    space.remember(
        ["Good morning.", models.NewRecord(text="Hello.", actor="Bo"), {"text": "Bye.", "id": "bye"}],
        actor="Ann",
        session="s1",
        metadata={"source": "test"},
        wait=True,
    )
    records = list(space.records(session="s1"))
    assert [it.actor for it in records] == ["Ann", "Bo", "Ann"]
    assert records[0].metadata == {"source": "test"}
    assert space.record("bye").text == "Bye."


def test_lists_follow_all_pages(space: Space) -> None:
    space.remember([{"id": f"m{index}", "text": f"This is sentence number {index}."} for index in range(7)], wait=True)
    by_threes = [it.id for it in space.records(page_size=3)]
    assert sorted(by_threes) == [f"m{index}" for index in range(7)]
    assert by_threes == [it.id for it in space.records(page_size=100)]
    turns = [it for it in space.units(page_size=3) if it.grain == "turn"]
    assert sorted(it.external_ids[0] for it in turns) == sorted(by_threes)


def test_a_rejected_record_is_an_error_and_the_others_are_stored(space: Space) -> None:
    with pytest.raises(RecordsRejectedError) as error:
        space.remember([{"id": "good", "text": "Kept."}, {"id": "bad"}], wait=True)
    assert [it.id for it in error.value.rejected] == ["bad"]
    assert space.record("good").text == "Kept."
    with pytest.raises(NotFoundError):
        space.record("bad")


def test_other_content_under_a_known_id_is_refused(space: Space) -> None:
    space.remember({"id": "m1", "text": "One."}, wait=True)
    assert space.remember({"id": "m1", "text": "One."}).items[0].status == "duplicate"
    with pytest.raises((ConflictError, RecordsRejectedError)):
        space.remember({"id": "m1", "text": "Another."})
    assert space.record("m1").text == "One."


def test_facts_are_listed_corrected_and_restored(space: Space) -> None:
    space.remember("I live in Aarhus.", actor="Ann", observed_at=MONDAY, wait=True)
    fact = eventually(lambda: next(iter(space.facts(subject="Ann", current=True)), None))
    assert fact.object == "Aarhus"
    assert space.fact(fact.id).predicate == fact.predicate
    assert fact.id in {it.id for it in space.facts(origin="rule")}
    assert list(space.facts(origin="model")) == []
    done = space.correct_fact(fact.id, "Odense", reason="she said Odense", wait=True)
    assert [it.object for it in space.facts(subject="Ann", current=True)] == ["Odense"]
    assert [it.id for it in space.curations()] == [done.curation.id]
    space.undo(done.curation.id, wait=True)
    assert [it.object for it in space.facts(subject="Ann", current=True)] == ["Aarhus"]
    space.retire_fact(fact.id, wait=True)
    assert list(space.facts(subject="Ann", current=True)) == []


def test_entities_topics_pages_and_merges_are_lists(space: Space) -> None:
    space.remember(["I live in Aarhus.", "My sister Oona plays chess."], actor="Ann", wait=True)
    ann = eventually(lambda: next(iter(space.entities(name="ann")), None))
    assert space.entity(ann.id).name == ann.name
    page = eventually(lambda: next(iter(space.pages()), None))
    assert space.page(page.id).title == page.title
    for topic in space.topics():
        assert space.topic(topic.id).topic.label == topic.label
    assert list(space.merges(of="units")) == []
    assert next(iter(space.units(actor="Ann"))).actor == "Ann"


def test_a_forgotten_unit_is_not_found(space: Space) -> None:
    space.remember([FERN, "The cat sleeps on the sofa."], actor="Ann", wait=True)
    unit = next(it for it in space.units() if "fern" in it.text)
    assert "fern" in space.ask("What about the fern?").pack.text
    space.forget_unit(unit.id, wait=True)
    assert "fern" not in space.ask("What about the fern?").pack.text


def test_recall_says_why_it_is_silent(space: Space) -> None:
    space.remember("I am allergic to peanuts.", actor="Ann", session="monday", wait=True)
    said = space.recall("Good morning!", actor="Ann", session="tuesday")
    assert said.hints == []
    assert said.silent
    woken = space.recall("I will order the peanut noodles.", actor="Ann", session="tuesday", sensitive=True)
    space.dismiss(woken.hints, session="tuesday") if woken.hints else None


def test_tools_are_called_by_name(space: Space, memory: Mnemic) -> None:
    space.remember(FERN, actor="Ann", wait=True)
    assert "semantic_retrieve" in {it.name for it in memory.tools()}
    outcome = space.call_tool("lexical_retrieve", {"query": "fern"})
    assert outcome.error is None
    assert "fern" in str(outcome.result)
    refused = space.call_tool("lexical_retrieve", {"nothing": 1})
    assert refused.error is not None
    assert refused.error.code == "bad_arguments"


def test_a_record_gets_versions(space: Space) -> None:
    with pytest.raises(NotFoundError):
        space.put_record("city", "I live in Aarhus.", must_exist=True)
    assert space.put_record("city", {"text": "I live in Aarhus.", "actor": "Ann"}, wait=True).items[0].status == "accepted"
    assert space.put_record("city", "I live in Odense.", must_exist=True, wait=True).items[0].status == "accepted"
    assert space.put_record("city", "I live in Odense.").items[0].status == "duplicate"
    assert [(it.id, it.text, it.actor) for it in space.versions("city")] == [
        ("city", "I live in Aarhus.", "Ann"),
        ("city#v2", "I live in Odense.", "Ann"),
    ]
    assert space.record("city").text == "I live in Odense."


def test_the_label_of_a_topic_is_removed(space: Space) -> None:
    talk = [{"text": f"I repotted fern number {it} in the garden.", "session": f"s{it % 4}"} for it in range(12)]
    space.remember(talk, actor="Ann", wait=True)
    topic = eventually(lambda: next(iter(space.topics()), None))
    assert space.undo_label(topic.id, reason="misleading").curation.act.kind == "undo_label"
    with pytest.raises(NotFoundError, match="topic"):
        space.undo_label(str(uuid4()))


def test_the_summary_of_a_page_is_removed(space: Space) -> None:
    space.remember([{"text": "I live in Odense with my dog Rex."}, {"text": "I work as a nurse."}], actor="Ann", wait=True)
    page = eventually(lambda: next(iter(space.pages()), None))
    assert space.undo_summary(page.id, reason="misleading").curation.act.kind == "undo_summary"
    with pytest.raises(NotFoundError, match="page"):
        space.undo_summary(str(uuid4()))


def test_an_erased_record_is_gone(space: Space) -> None:
    space.remember([{"id": "fern", "text": FERN}, {"id": "cat", "text": "The cat sleeps."}], wait=True)
    assert "fern" in space.ask("What about the fern?").pack.text
    space.erase_record("fern", wait=True)
    assert "fern" not in space.ask("What about the fern?").pack.text
    with pytest.raises(NotFoundError):
        space.record("fern")
    assert space.record("cat").text == "The cat sleeps."


def test_an_erased_session_is_gone(space: Space) -> None:
    space.remember(["One.", "Two."], session="old")
    space.remember("Three.", session="new", wait=True)
    assert space.erase_session("old", wait=True) == 2
    assert [it.text for it in space.records()] == ["Three."]


@pytest.mark.parametrize(("wait", "last"), [(False, []), (True, ["GET w3"])])
def test_a_long_session_is_erased_in_requests_that_wait_for_each_other(wait: bool, last: list[str]) -> None:
    sent: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(f"{request.method} {request.url.params.get('watermark', '')}".strip())
        if request.method == "GET":
            return httpx.Response(200, json={"watermark": "w", "written": True, "backlog": 0})
        number = sent.count("DELETE")
        erased = {"erasure": "e", "session": "s", "records": 10, "watermark": f"w{number}", "more": number < 3}
        return httpx.Response(202, json=erased)

    space = Mnemic("http://memory", http=httpx.Client(transport=httpx.MockTransport(answer))).space("ann")
    assert space.erase_session("old", wait=wait) == 30
    assert sent == ["DELETE", "GET w1", "DELETE", "GET w2", "DELETE", *last]


def test_an_erasure_has_a_receipt_that_can_be_checked(space: Space) -> None:
    space.remember([{"id": "fern", "text": FERN}, "The cat sleeps."], wait=True)
    assert list(space.erasures()) == []
    space.erase_record("fern", wait=True)
    receipt = next(iter(space.erasures()))
    assert space.erasure(receipt.id).erased["records"] == 1
    assert space.check_erasure(receipt.id).absent


def test_a_deleted_space_is_unknown(memory: Mnemic, space: Space) -> None:
    assert space.name in {it.space for it in memory.spaces()}
    assert space.delete() is True
    with pytest.raises(UnknownSpaceError):
        space.info()
    assert space.name not in {it.space for it in memory.spaces()}


def test_an_import_is_harmless_to_repeat(space: Space, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    lines = ['{"text": "Yes."}', '{"text": "Yes."}', "no json", "", '{"actor": "Ann"}', '{"text": "No.", "id": "no"}']
    file.write_text("\n".join(lines), encoding="utf-8")
    first = space.import_records(file, batch=2, wait=True)
    assert (first.accepted, first.duplicates, first.rejected_count) == (3, 0, 2)
    assert [it.index for it in first.rejected] == [2, 4]
    again = space.import_records(file, batch=3, wait=True)
    assert (again.accepted, again.duplicates, again.rejected_count) == (0, 3, 2)
    assert space.info().records == 3  # all of them, since the first import waited


def test_the_readings_of_an_export_are_counted_and_not_sent(space: Space, tmp_path: Path) -> None:
    file = tmp_path / "export.jsonl"
    lines = [
        '{"text": "One.", "id": "one"}',
        '{"reading": {"kind": "passage"}}',
        '{"text": "Two.", "reading": {}}',
        '{"reading": 7}',
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    imported = space.import_records(file, wait=True)
    assert (imported.accepted, imported.readings_left_out, imported.rejected_count) == (1, 1, 2)
    assert [it.index for it in imported.rejected] == [2, 3]
    listed = space.import_records([{"reading": {"kind": "passage"}}, {"text": "Three.", "id": "three"}], wait=True)
    assert (listed.accepted, listed.readings_left_out, listed.rejected_count) == (1, 1, 0)
    assert [it.id for it in space.records()] == ["one", "three"]


def test_listed_records_can_be_imported_into_another_space(memory: Mnemic, space: Space) -> None:
    space.remember([FERN, "The cat sleeps."], actor="Ann", session="monday", observed_at=MONDAY, wait=True)
    other = memory.create_space(f"test-{uuid4().hex[:12]}")
    assert other.import_records(space.records(), wait=True).accepted == 2
    assert [it.text for it in other.records()] == [it.text for it in space.records()]


def test_waiting_for_a_write_ends(space: Space) -> None:
    accepted = space.remember("One.")
    assert space.wait(accepted).written
    assert space.progress(accepted).written
    other = space.remember([f"Sentence {index} of many." for index in range(1000)])
    with pytest.raises(DeadlineError) as error:
        space.wait(other, timeout=0)
    assert error.value.problem.progress is not None
    space.wait(other, timeout=60)


def test_a_time_without_a_zone_is_refused(space: Space) -> None:
    with pytest.raises(ValueError, match="no zone"):
        space.remember("One.", observed_at=datetime(2026, 3, 2))


def test_the_error_of_an_invalid_request_names_the_field(space: Space) -> None:
    with pytest.raises(InvalidError) as error:
        space.ask("When?", budget={"tokens": 10, "enough": 7})
    assert "enough" in error.value.detail
    assert error.value.status == 422


def test_a_space_is_derived_again(space: Space) -> None:
    space.remember(FERN, actor="Ann", wait=True)
    assert space.rebuild().state in {"running", "done"}
    assert space.rebuild_progress().space == space.name
