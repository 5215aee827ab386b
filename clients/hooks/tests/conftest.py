"""A real server with keys, and the hooks as an agent runs them: as processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest
from running import START_SECONDS, Server, key, serve

T = TypeVar("T")
HOOKS = Path(__file__).resolve().parents[1]
KEY = "9ae5d4a38cbd4d2d9b4e4d3c5d0b41c1"


@dataclass(frozen=True)
class Ran:
    """The output and the exit status of a hook."""

    status: int
    out: bytes
    err: str
    seconds: float

    def context(self) -> str:
        """Returns the additional context that Claude Code would show the model; empty if the hook printed nothing."""
        if not self.out:
            return ""
        printed = json.loads(self.out)["hookSpecificOutput"]
        assert printed["hookEventName"] == "UserPromptSubmit"
        return str(printed["additionalContext"])


@dataclass
class Agent:
    """An agent with the hooks, and access to its memory."""

    url: str
    space: str
    folder: Path
    session: str = "0b6b3f0e-5a52-4d6c-9f0e-0c1c6f3f9c11"
    settings: dict[str, str] = field(default_factory=dict)

    def run(self, script: str, *options: str, given: bytes) -> Ran:
        memory = {
            "MNEMIC_URL": self.url,
            "MNEMIC_SPACE": self.space,
            "MNEMIC_KEY": KEY,
            "XDG_STATE_HOME": str(self.folder / "state"),
        }
        begin = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-B", str(HOOKS / script), *options],
            input=given,
            capture_output=True,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), **memory, **self.settings},
            timeout=60,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr.decode(), time.monotonic() - begin)

    def hook(self, event: str, **more: Any) -> Ran:
        common = {
            "session_id": self.session,
            "transcript_path": str(self.transcript()),
            "cwd": "/",
            "hook_event_name": event,
        }
        return self.run("claude_code.py", given=json.dumps({**common, **more}).encode())

    def transcript(self) -> Path:
        return self.folder / "transcript.jsonl"

    def write(self, *lines: Any) -> None:
        """Adds lines to the transcript: bytes as they are, anything else as JSON."""
        with open(self.transcript(), "ab") as file:
            for line in lines:
                file.write((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")

    def ask(self, path: str, body: Any = None) -> Any:
        content = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        try:
            with urlopen(Request(f"{self.url}/v1/spaces/{self.space}/{path}", content, headers), timeout=30) as response:
                return json.load(response)
        except HTTPError as error:
            if error.code == 404:
                return {"items": []}
            raise

    def records(self) -> list[dict[str, Any]]:
        return sorted(self.ask("records?limit=1000")["items"], key=lambda it: str(it["observed_at"]))

    def texts(self, count: int) -> list[str]:
        """Waits for `count` stored texts and returns them: a text is listed a moment after the server accepts it."""
        eventually(lambda: len(self.records()) >= count)
        return [it["text"] for it in self.records()]

    def knows(self, *texts: str, session: str = "earlier") -> None:
        """Stores what Ann said in another session, and waits until it is searchable."""
        records = [{"text": it, "actor": "Ann", "session": session} for it in texts]
        stored = self.ask("records", {"records": records})
        self.ask("query", {"question": "What?", "after": stored["watermark"], "budget": {"ms": 20_000}})


def eventually(look: Callable[[], T | None]) -> T:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    pytest.fail("it did not come in time")


def turn(role: str, text: Any, at: int = 0, **more: Any) -> dict[str, Any]:
    """Returns a line of a transcript as Claude Code writes it, `at` seconds after noon."""
    content = text if role == "user" else [{"type": "text", "text": text}]
    moment = f"2026-05-07T12:{at // 60:02}:{at % 60:02}.000Z"
    message = {"role": role, "content": content}
    return {"type": role, "uuid": str(uuid4()), "timestamp": moment, "isSidechain": False, "message": message, **more}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from serve(tmp_path_factory.mktemp("server"), key("owner", KEY, '["*"]'))


@pytest.fixture
def agent(server: Server, tmp_path: Path) -> Agent:
    """An agent with an empty memory."""
    return Agent(server.url, f"test-{uuid4().hex[:12]}", tmp_path)
