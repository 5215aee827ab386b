"""Tests of the proxy with memory: OpenAI's own client in front of it, and a scripted language model behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from conftest import KEYS, eventually
from running import key, serve

from mnemic import Mnemic

openai = pytest.importorskip("openai")

ASKED: list[dict[str, Any]] = []


class Parrot(BaseHTTPRequestHandler):
    """Replies in the format of OpenAI, as a whole or as a stream."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.whole(200, {"object": "list", "data": [{"id": "parrot", "object": "model", "created": 0, "owned_by": "x"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        ASKED.append({"key": self.headers["authorization"], **asked})
        if asked["model"] == "broken":
            self.whole(
                400, {"error": {"message": "no such model", "type": "invalid_request_error", "code": "model_not_found"}}
            )
        elif asked.get("stream"):
            self.stream(["Noted", " down."])
        else:
            self.whole(200, self.completion("chat.completion", {"message": {"role": "assistant", "content": "Noted."}}))

    def completion(self, kind: str, choice: dict[str, Any]) -> dict[str, Any]:
        choice = {"index": 0, "finish_reason": choice.get("finish_reason", "stop"), **choice}
        return {"id": "1", "object": kind, "created": 0, "model": "parrot", "choices": [choice]}

    def whole(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, words: list[str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for word in words:
            part = self.completion("chat.completion.chunk", {"delta": {"content": word}, "finish_reason": None})
            self.wfile.write(f"data: {json.dumps(part)}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    parrot = ThreadingHTTPServer(("127.0.0.1", 0), Parrot)
    Thread(target=parrot.serve_forever, daemon=True).start()
    upstream = f"http://127.0.0.1:{parrot.server_port}/v1"
    proxy = f'[gateway.proxy]\nenabled = true\nurl = "{upstream}"\nkey = "of the server"\n'
    for server in serve(tmp_path_factory.mktemp("proxy"), proxy + key("admin", KEYS["admin"], '["*"]')):
        yield server.url
    parrot.shutdown()


@pytest.fixture
def client(url: str) -> Any:
    return openai.OpenAI(base_url=f"{url}/v1", api_key=KEYS["admin"], max_retries=0)


def say(client: Any, text: str, **more: Any) -> Any:
    more = {"model": "parrot", "user": "ann", **more}
    return client.chat.completions.create(messages=[{"role": "user", "content": text}], **more)


def test_an_unmodified_client_has_a_memory(url: str, client: Any) -> None:
    assert say(client, "My sister Oona is allergic to hazelnuts.").choices[0].message.content == "Noted."
    assert ASKED[-1]["key"] == "Bearer of the server"
    with Mnemic(url, key=KEYS["admin"]) as memory:
        space = memory.space("ann")
        eventually(lambda: len(list(space.records())) == 2)
        eventually(lambda: "hazelnuts" in space.ask("What is Oona allergic to?").pack.text)
    raw = client.chat.completions.with_raw_response
    reply = raw.create(model="parrot", user="ann", messages=[{"role": "user", "content": "What is Oona allergic to?"}])
    assert reply.headers["x-mnemic-evidence"].startswith("lines=")
    assert reply.headers["x-mnemic-stored"] == "user,assistant"
    system, user = ASKED[-1]["messages"]
    assert system["role"] == "system" and "hazelnuts" in system["content"] and "<mnemic-memory " in system["content"]
    assert user == {"role": "user", "content": "What is Oona allergic to?"}


def test_streams_models_and_errors_follow_the_api_of_openai(client: Any) -> None:
    parts = list(say(client, "And a cat.", stream=True))
    assert "".join(it.choices[0].delta.content for it in parts) == "Noted down."
    assert [it.id for it in client.models.list()] == ["parrot"]
    with pytest.raises(openai.BadRequestError) as error:
        say(client, "Hi.", model="broken")
    assert error.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as error:
        say(client, "Hi.", user="Not A Space")
    assert error.value.code == "space_invalid"
