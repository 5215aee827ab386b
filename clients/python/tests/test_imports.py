"""Tests of imports of chat messages and of records without ids, without a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from mnemic import AsyncMnemic, Imported, Mnemic, Rejected
from mnemic._records import lines_of

TOO_LONG: dict[str, Any] = {
    "type": "urn:mnemic:problem:invalid",
    "title": "invalid",
    "status": 422,
    "detail": "tool.arguments: is too long",
}
NOTHING = {**TOO_LONG, "detail": "records: must be 1 to 1000, this request has 0"}
CALL = {"id": "m1", "role": "assistant", "content": "Let me look.", "tool_calls": [{"id": "c1"}, {"id": "c2"}]}
SYSTEM = {"role": "system", "content": "Be short."}


def item(index: int, id: str, problem: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"index": index, "id": id, "status": "rejected" if problem else "accepted", "problem": problem}


def taken(*items: dict[str, Any], left_out: int = 0) -> httpx.Response:
    return httpx.Response(202, json={"watermark": "w", "items": items, "left_out": left_out})


def imported(source: Any, answer: Callable[[list[Any]], httpx.Response]) -> Imported:
    """Imports into a server that answers each batch of records; the sync and the async client have the same result."""

    def handle(request: httpx.Request) -> httpx.Response:
        return answer(json.loads(request.content)["records"])

    async def in_async() -> Imported:
        async with httpx.AsyncClient(transport=httpx.MockTransport(handle)) as http:
            return await AsyncMnemic("http://memory", http=http).space("ann").import_records(source)

    with httpx.Client(transport=httpx.MockTransport(handle)) as http:
        result = Mnemic("http://memory", http=http).space("ann").import_records(source)
    assert asyncio.run(in_async()) == result
    return result


def test_a_rejected_tool_call_is_reported_by_its_message_and_its_id() -> None:
    items = [item(0, "first"), item(1, "m1"), item(1, "m1/1"), item(1, "m1/2", TOO_LONG)]
    result = imported([{"id": "first", "text": "Hello."}, CALL], lambda records: taken(*items))
    assert (result.accepted, result.rejected_count) == (3, 1)
    assert result.rejected == [Rejected(1, TOO_LONG["detail"], "m1/2")]


def test_a_rejected_record_beyond_the_batch_is_reported_by_its_id_alone() -> None:
    items = [item(0, "m1"), item(1, "m1/1"), item(2, "m1/2", TOO_LONG)]
    result = imported([CALL], lambda records: taken(*items))
    assert (result.accepted, result.rejected_count, result.watermark) == (2, 1, "w")
    assert result.rejected == [Rejected(None, TOO_LONG["detail"], "m1/2")]


@pytest.mark.parametrize("message", [SYSTEM, {"role": "user", "content": " "}])
def test_messages_that_are_not_stored_are_counted_in_any_batch(message: dict[str, Any]) -> None:
    def answer(records: list[Any]) -> httpx.Response:
        kept = [it for it in records if "text" in it]
        if not kept:
            return httpx.Response(422, json=NOTHING)
        return taken(*(item(0, it["id"]) for it in kept), left_out=len(records) - len(kept))

    for source in ([{"text": "Hello."}, message], [message]):
        result = imported(source, answer)
        assert (result.left_out, result.rejected_count, result.accepted) == (1, 0, len(source) - 1)


@pytest.mark.parametrize("detail", ["tool.arguments: is too long", "records: must be 1 to 10, this request has 20", ""])
def test_a_refused_record_is_no_message_that_is_left_out(detail: str) -> None:
    result = imported([SYSTEM], lambda records: httpx.Response(422, json={**TOO_LONG, "detail": detail}))
    assert (result.left_out, result.rejected_count) == (0, 1)


def test_a_record_whose_id_is_null_gets_the_same_id_in_each_import(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text('{"id": null, "text": "A fine day."}\n{"id": "7", "text": "Another."}\n', encoding="utf-8")
    first, second = ([it.record["id"] for it in lines_of(file, Imported())] for _ in range(2))
    assert first == second
    assert first[0].startswith("line-") and first[1] == "7"
    assert next(iter(lines_of([{"id": None, "text": "A fine day."}], Imported()))).record["id"].startswith("line-")
