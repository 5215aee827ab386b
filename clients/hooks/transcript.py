"""Reads the turns of a transcript of Claude Code: JSON lines, one a message or something else that happened.

The file grows while an agent works, is written by another program, and holds whatever people, pages and programs said. A
line that cannot be read is left out; at most one line and one batch are in memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory import BATCH_CHARS, BATCH_RECORDS, SESSION_KEY, MemoryFailure, Refusal, clean, say

LINE_BYTES_MAX = 8 << 20
# Seconds that a hook reads; the next one goes on. What is left of the time of a hook is for sending what was read.
READ_SECONDS = 3.0
# State of transcripts that nobody added to for so long is removed.
STATE_SECONDS_MAX = 90 * 24 * 3600

# What Claude Code itself puts into or in place of what the person says.
REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.S)
NOT_SAID = re.compile(
    r"<(?:command-(?:name|message|args)|local-command-\w+|bash-(?:input|stdout|stderr)|task-notification)>"
    r"|\[Request interrupted by user"
)
MOMENT = re.compile(r"(?:19|20|21)\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")


@dataclass(frozen=True)
class Line:
    """A line: where it ends, in bytes of the file, and its object; `None` if it is none, or too long."""

    end: int
    entry: dict[str, Any] | None


def lines_of(path: Path, start: int) -> Iterator[Line]:
    """Returns the whole lines of a file from a byte on. What follows the last line break is still being written."""
    with open(path, "rb") as file:
        # A file that is shorter now, or has no line there, is another one.
        if start and (start > os.fstat(file.fileno()).st_size or file.seek(start - 1) < 0 or file.read(1) != b"\n"):
            start = file.seek(0)
        while raw := file.readline(LINE_BYTES_MAX):
            is_whole = raw.endswith(b"\n")
            piece = raw
            while piece and not piece.endswith(b"\n"):
                piece = file.readline(LINE_BYTES_MAX)
            if not piece:
                return
            yield Line(file.tell(), object_of(raw) if is_whole else None)


def object_of(raw: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def text_of(content: Any) -> str:
    """Returns what the content of a message says: a text, or the parts that are texts; no tools, pictures or thoughts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [it.get("text") for it in parts if isinstance(it, dict) and it.get("type") == "text"]
    return "\n".join(it for it in texts if isinstance(it, str))


def spoken(text: str) -> str:
    """Returns what a person or an agent says in a text; empty if only a program speaks."""
    said = clean(REMINDER.sub("", text))
    return "" if NOT_SAID.match(said) else said


def record_of(entry: dict[str, Any], session: str, actor: str) -> dict[str, Any] | None:
    """Returns the record of an entry; `None` if nobody speaks in it. Its id derives from the entry alone."""
    role, message = entry.get("type"), entry.get("message")
    skipped = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
    if role not in ("user", "assistant") or not isinstance(message, dict) or any(entry.get(it) for it in skipped):
        return None
    text = spoken(text_of(message.get("content")))
    if not text:
        return None
    moment = entry.get("timestamp")
    is_moment = isinstance(moment, str) and MOMENT.fullmatch(moment)
    digest = hashlib.sha256(json.dumps([entry.get("uuid"), moment, role, text]).encode()).hexdigest()
    return {
        "id": f"claude-code-{digest[:32]}",
        "session": f"claude-code-{session}",
        "actor": actor if role == "user" else "assistant",
        "text": text,
        "metadata": {SESSION_KEY: f"claude-code-{session}"},
        **({"observed_at": moment} if is_moment else {}),
    }


class Progress:
    """How far a transcript is stored, in a small file. Without it everything is sent again, and changes nothing."""

    def __init__(self, folder: Path, transcript: Path, where: str) -> None:
        """`where` names the memory, so that each has a progress of its own."""
        name = hashlib.sha256(f"{where}\n{transcript.resolve()}".encode("utf-8", "replace")).hexdigest()[:32]
        self._file = folder / f"{name}.json"

    def read(self) -> int:
        """Returns the byte of the transcript that is next."""
        try:
            offset = json.loads(self._file.read_text(encoding="utf-8"))["offset"]
        except (OSError, ValueError, KeyError, TypeError):
            return 0
        return offset if isinstance(offset, int) and offset >= 0 else 0

    def write(self, offset: int) -> None:
        written = self._file.with_suffix(f".{os.getpid()}")
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            written.write_text(json.dumps({"offset": offset}), encoding="utf-8")
            os.replace(written, self._file)
        except OSError as error:
            say(f"cannot note what is stored ({type(error).__name__}); the next hook sends it again")

    def remove_old(self) -> None:
        """Removes the progress of transcripts that nobody added to for 90 days."""
        before = time.time() - STATE_SECONDS_MAX
        for file in self._file.parent.glob("*"):
            try:
                if file.stat().st_mtime < before:
                    file.unlink()
            except OSError:
                continue


def store_new_turns(
    transcript: Path, progress: Progress, record: Callable[[dict[str, Any]], Any], send: Callable[[list[Any]], None]
) -> None:
    """Sends the turns that are not stored yet, batch by batch, each of which is noted. Raises what `send` raises."""
    until = time.monotonic() + READ_SECONDS
    try:
        mode = transcript.stat().st_mode
    except (OSError, ValueError):
        raise MemoryFailure("the transcript cannot be read") from None
    if not stat.S_ISREG(mode):
        raise MemoryFailure("the transcript is not a file")
    start = end = progress.read()
    batch: list[Any] = []
    size = 0
    for line in lines_of(transcript, start):
        end = line.end
        turn = record(line.entry) if line.entry is not None else None
        if turn is not None:
            batch.append(turn)
            size += len(turn["text"])
        if time.monotonic() > until:
            say("the transcript is long; the next hook goes on")
            break
        if len(batch) >= BATCH_RECORDS or size >= BATCH_CHARS:
            send_batch(batch, send)
            progress.write(end)
            batch, size, start = [], 0, end
    if batch:
        send_batch(batch, send)
    if end != start:
        progress.write(end)


def send_batch(batch: list[Any], send: Callable[[list[Any]], None]) -> None:
    """Sends a batch. One that is too large for the server is left out, or it would keep back all that follow."""
    try:
        send(batch)
    except Refusal as refusal:
        if refusal.status != 413:
            raise
        say(f"{refusal}; {len(batch)} turns are left out")
