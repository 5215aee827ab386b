"""Reads the turns of a transcript of Claude Code: JSON lines, each a message or another event.

The file grows while an agent works, is written by another program, and contains untrusted text of people, pages and
programs. A line that cannot be read is left out; at most one line and one batch are in memory.
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
# Seconds that a hook reads; the next hook continues. The remaining time of a hook is for sending the turns.
READ_SECONDS = 3.0
# Age in seconds, since the last change, at which the progress of a transcript is removed.
STATE_SECONDS_MAX = 90 * 24 * 3600

# Text that Claude Code itself adds to a message of the person, or writes in its place.
REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.S)
NOT_SAID = re.compile(
    r"<(?:command-(?:name|message|args)|local-command-\w+|bash-(?:input|stdout|stderr)|task-notification)>"
    r"|\[Request interrupted by user"
)
MOMENT = re.compile(r"(?:19|20|21)\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")


@dataclass(frozen=True)
class Line:
    """A line: the byte offset of its end, and its JSON object; `None` if the line is no object or is too long."""

    end: int
    entry: dict[str, Any] | None


def lines_of(path: Path, start: int) -> Iterator[Line]:
    """Returns the complete lines of a file from a byte on. Text after the last line break is still being written."""
    with open(path, "rb") as file:
        # If the file is shorter now, or no line starts there, another file has replaced it.
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
    """Returns the text of a message: its content, or its parts of type text; no tools, pictures or thoughts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [it.get("text") for it in parts if isinstance(it, dict) and it.get("type") == "text"]
    return "\n".join(it for it in texts if isinstance(it, str))


def spoken(text: str) -> str:
    """Returns the words of a person or an agent in a text; empty if a program wrote the text."""
    said = clean(REMINDER.sub("", text))
    return "" if NOT_SAID.match(said) else said


def record_of(entry: dict[str, Any], session: str, actor: str) -> dict[str, Any] | None:
    """Returns the record of an entry; `None` if neither person nor agent speaks. The id derives from the entry alone."""
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
    """The stored part of a transcript, in a small file. Without it, all turns are sent again, which changes nothing."""

    def __init__(self, folder: Path, transcript: Path, where: str) -> None:
        """Opens the progress for the memory `where`; each memory has its own progress."""
        name = hashlib.sha256(f"{where}\n{transcript.resolve()}".encode("utf-8", "replace")).hexdigest()[:32]
        self._file = folder / f"{name}.json"

    def read(self) -> int:
        """Returns the byte offset in the transcript of the next line to read."""
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
            say(f"cannot save the progress ({type(error).__name__}); the next hook sends the same turns again")

    def remove_old(self) -> None:
        """Removes the progress of transcripts without a new turn for 90 days."""
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
    """Sends the new turns in batches and saves the progress after each batch. Raises the errors of `send`."""
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
            say("the transcript is long; the next hook continues")
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
    """Sends a batch. A batch that is too large for the server is left out; otherwise it would block all later ones."""
    try:
        send(batch)
    except Refusal as refusal:
        if refusal.status != 413:
            raise
        say(f"{refusal}; {len(batch)} turns are left out")
