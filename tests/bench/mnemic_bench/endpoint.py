"""A scripted language model: chat completions in the format of OpenAI, after a fixed time.

`python -m mnemic_bench.endpoint PORT MILLISECONDS` serves until it is stopped.
"""

from __future__ import annotations

import json
import sys
import time
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WORDS = 60


def reply_to(messages: list[dict[str, Any]]) -> str:
    """Returns a reply of sixty words that depends only on the last message."""
    said = str(messages[-1].get("content", "")) if messages else ""
    digest = sha256(said.encode()).hexdigest()
    return " ".join(["I would bring it on the day you named,", digest[:12], *(["and then we will see"] * (WORDS // 5))])


class Model(BaseHTTPRequestHandler):
    """An HTTP handler for chat completions."""

    protocol_version = "HTTP/1.1"
    # Without this setting, the head and the body of a response are delayed by each other.
    disable_nagle_algorithm = True
    wbufsize = -1
    seconds = 0.0

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        time.sleep(self.seconds)
        text = reply_to(request.get("messages", []))
        if request.get("stream"):
            self.stream(text)
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            body = {"id": "c", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice]}
            self.answer("application/json", json.dumps(body).encode())

    def stream(self, text: str) -> None:
        events = []
        for word in text.split():
            choice = {"index": 0, "delta": {"content": word + " "}, "finish_reason": None}
            chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted", "choices": [choice]}
            events.append(f"data: {json.dumps(chunk)}\n\n")
        self.answer("text/event-stream", "".join([*events, "data: [DONE]\n\n"]).encode())

    def answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Suppresses the log."""


def main() -> None:
    Model.seconds = float(sys.argv[2]) / 1e3
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Model)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()
