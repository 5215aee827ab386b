"""Tests that the other stores find their records, so that all contestants do the same work."""

import json
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from mnemic_bench import talk
from mnemic_bench.connection import Connection, Unexpected
from mnemic_bench.contestants import Worker
from mnemic_bench.endpoint import Model, reply_to
from mnemic_bench.vectors import WIDTH, Embedder


def test_vectors_depend_on_the_text_alone() -> None:
    first, second = Embedder(), Embedder()
    second.vector("Something else was read before.")
    assert np.array_equal(first.vector("The old lantern."), second.vector("The old lantern."))
    assert first.vector("The old lantern.") @ first.vector("an old LANTERN") > 0.99
    assert first.vector("The old lantern.") @ first.vector("a new bicycle") < 0.5
    assert first.vector("").shape == (WIDTH,)


@pytest.mark.parametrize("kind", ["mem0", "hybrid"])
def test_a_store_finds_the_record_that_a_question_names(kind: str, tmp_path: Path) -> None:
    worker = Worker(kind, tmp_path / kind)
    try:
        assert worker.ask("Where is it?").texts == []
        done = worker.ingest("chat", 0, 60, patience=60, batch=20)
        assert (done.added, done.seconds > 0, done.cpu > 0) == (60, True, True)
        worker.ingest("chat", 60, 80, patience=60, batch=20)
        for number in (0, 2, 4):
            question = talk.question("chat", number, 80)
            found = worker.ask(question.text).texts
            assert 1 <= len(found) <= 10
            assert question.answer_word
            assert any(question.answer_word in it for it in found)
    finally:
        worker.close()


def test_a_store_without_time_adds_at_most_one_batch(tmp_path: Path) -> None:
    worker = Worker("hybrid", tmp_path / "hybrid")
    try:
        assert worker.ingest("chat", 0, 60, patience=1e-9, batch=20).added <= 20
    finally:
        worker.close()


def test_the_scripted_model_answers_in_the_format_of_openai() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    connection = Connection(f"http://127.0.0.1:{server.server_address[1]}")
    messages = [{"role": "user", "content": "What do I bring?"}]
    whole = connection.json("POST", "/v1/chat/completions", {"messages": messages})
    text = whole["choices"][0]["message"]["content"]
    assert text == reply_to(messages)
    assert text != reply_to([{"role": "user", "content": "Where?"}])
    _, body = connection.send("POST", "/v1/chat/completions", {"messages": messages, "stream": True})
    events = [it.removeprefix("data: ") for it in body.decode().strip().split("\n\n")]
    assert events.pop() == "[DONE]"
    assert "".join(json.loads(it)["choices"][0]["delta"]["content"] for it in events).strip() == text
    with pytest.raises(Unexpected):
        connection.json("POST", "/v1/chat/completions", {"messages": messages}, expected=202)
    connection.close()
    server.shutdown()
    server.server_close()
