"""Tests of the filters for any agent."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
from conftest import Agent

from memory import BATCH_RECORDS
from remember import batches_of, record_of, said_in


def test_a_remembered_text_is_recalled(agent: Agent) -> None:
    said = b"We always run the tests with make check.\n"
    ran = agent.run("remember.py", "--session", "monday", "--actor", "Ann", given=said)
    assert (ran.status, ran.out, ran.err) == (0, said, "")
    assert agent.texts(1) == [said.decode().strip()] and agent.records()[0]["actor"] == "Ann"
    agent.knows("I repotted the fern yesterday.")
    ran = agent.run("recall.py", given=b"How do we run the tests?")
    assert ran.out.startswith(b"The block below") and b"make check" in ran.out
    assert b"make check" in agent.run("recall.py", "--session", "tuesday", given=b"How do we run the tests?").out
    assert b"make check" not in agent.run("recall.py", "--session", "monday", given=b"How do we run the tests?").out


def test_empty_and_unrelated_messages_recall_nothing(agent: Agent) -> None:
    agent.knows("I repotted the fern yesterday.")
    for given in (b"", b" \n", b"Write me a poem about trains"):
        ran = agent.run("recall.py", given=given)
        assert (ran.status, ran.out, ran.err) == (0, b"", "")


def test_the_same_text_is_stored_once(agent: Agent) -> None:
    for _ in range(2):
        assert agent.run("remember.py", given=b"I like tea.").err == ""
    assert agent.texts(1) == ["I like tea."] and len(agent.records()) == 1


def test_messages_are_stored_line_by_line(agent: Agent) -> None:
    messages = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "I like tea."},
        {"role": "assistant", "content": [{"type": "text", "text": "Noted."}, {"type": "tool_use", "name": "x"}]},
        {"role": "tool", "content": "KEY=hunter2"},
    ]
    given = b"\n".join([b"not JSON", b"[" * 100_000, *(json.dumps(it).encode() for it in messages)])
    ran = agent.run("remember.py", "--messages", given=given)
    assert (ran.status, ran.out) == (0, given)
    assert ran.err == "mnemic: 2 lines are no messages with `role` and `content` and are left out\n"
    assert sorted(agent.texts(2)) == ["I like tea.", "Noted."]
    assert {it["text"]: it["actor"] for it in agent.records()} == {"I like tea.": "user", "Noted.": "assistant"}


def lines_of(count: int, words: int) -> bytes:
    """Returns `count` messages of five times `words` characters each."""
    return b"\n".join(json.dumps({"role": "user", "content": f"{it} " + "word " * words}).encode() for it in range(count))


def test_lines_that_are_no_messages_are_counted() -> None:
    messages: list[Any] = [
        {"role": "system", "content": "Be short."},
        {"role": "tool", "content": None},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
        {"role": "user", "content": []},
        {"role": "user", "content": "I like tea."},
    ]
    wrong: list[Any] = [
        [1],
        {"text": "I planted tulips."},
        {"role": "user", "text": "I planted tulips."},
        {"role": "user", "content": 42},
        {"role": "user", "content": None},
        {"role": 7, "content": "I planted tulips."},
    ]
    raw = "\n \n\r\n".join(json.dumps(it) for it in [*messages, *wrong]).encode() + b"\nplain text\n"
    found, count = said_in(raw, "Ann")
    assert [it for it in found if it[1]] == [("Ann", "I like tea.")]
    assert count == len(wrong) + 1


def test_messages_that_are_too_large_for_one_request_are_sent_in_several() -> None:
    records = [record for actor, text in said_in(lines_of(150, 10_000), "ann")[0] if (record := record_of(actor, text, "m"))]
    batches = list(batches_of(records))
    assert [it for batch in batches for it in batch] == records and len(records) == 150
    assert all(len(json.dumps({"records": it})) < 1 << 20 for it in batches)
    short = [{"text": "x"}] * (2 * BATCH_RECORDS + 1)
    assert [len(it) for it in batches_of(short)] == [BATCH_RECORDS, BATCH_RECORDS, 1]
    assert list(batches_of([])) == []


class Refuses(BaseHTTPRequestHandler):
    """A server that refuses its first request."""

    status = 413
    sent: ClassVar[list[int]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.sent.append(len(body["records"]))
        self.send_response(self.status if len(self.sent) == 1 else 202)
        answer = b'{"items": []}'
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("status", "sent", "says"),
    [(413, [100, 50], "mnemic: the server refuses the request (413); 100 turns are left out\n"), (401, [100], "")],
)
def test_a_refused_batch_does_not_stop_the_others(status: int, sent: list[int], says: str, tmp_path: Path) -> None:
    handler = type("Handler", (Refuses,), {"status": status, "sent": []})
    with HTTPServer(("127.0.0.1", 0), handler) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        agent = Agent(f"http://127.0.0.1:{http.server_port}", "ann", tmp_path)
        ran = agent.run("remember.py", "--messages", given=lines_of(150, 1))
        http.shutdown()
    assert (ran.status, ran.out, handler.sent) == (0, lines_of(150, 1), sent)
    assert ran.err == (says or "mnemic: the server refuses the request (401)\n")


def test_a_recalled_block_is_passed_on_but_not_stored(agent: Agent) -> None:
    agent.knows("We always run the tests with make check.")
    block = agent.run("recall.py", given=b"How do we run the tests?").out
    ran = agent.run("remember.py", given=block + b"How do we run the tests?")
    assert ran.out == block + b"How do we run the tests?" and ran.err == ""
    assert sorted(agent.texts(2)) == ["How do we run the tests?", "We always run the tests with make check."]
    ran = agent.run("remember.py", given=block)
    assert ran.out == block and ran.err == "" and len(agent.records()) == 2


def test_bytes_that_are_not_text_are_passed_on_unchanged(agent: Agent) -> None:
    given = bytes(range(256)) * 100
    assert agent.run("remember.py", given=given).out == given
