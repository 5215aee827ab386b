#!/usr/bin/env python3
"""A filter for any agent: passes its input on unchanged, and stores it. See README.md.

The input is the text of one actor or, with --messages, JSON lines with `role` and `content`; only lines of `user` and
`assistant` are stored. The same text by the same actor in the same session is stored once.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from memory import (
    BATCH_CHARS,
    BATCH_RECORDS,
    INPUT_BYTES_MAX,
    SESSION_KEY,
    STORE_SECONDS,
    Memory,
    Refusal,
    clean,
    run,
    say,
    settings_of,
    store,
)
from transcript import object_of, text_of

# Statuses of a refusal that concerns only the records of the batch.
BATCH_REFUSED = (400, 409, 413, 422)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--session", default="default", help="name of the conversation")
    parser.add_argument("--actor", help="the speaker; default: MNEMIC_ACTOR")
    parser.add_argument("--messages", action="store_true", help="the input is JSON lines with role and content")
    options = parser.parse_args()
    raw = passed_on()

    def hook() -> None:
        settings = settings_of(os.environ)
        if options.messages:
            found, wrong = said_in(raw, settings.actor)
            if wrong:
                say(f"{wrong} lines are no messages with `role` and `content` and are left out")
        else:
            found = [(options.actor or settings.actor, raw.decode("utf-8", "replace"))]
        records = [record for actor, text in found if (record := record_of(actor, text, options.session))]
        if not records:
            return
        memory = Memory(settings, STORE_SECONDS)
        for batch in batches_of(records):
            try:
                store(memory, batch)
            except Refusal as refusal:
                if refusal.status not in BATCH_REFUSED:
                    raise
                # Without a hook that sends them again, one refused batch must not stop the others.
                say(f"{refusal}; {len(batch)} turns are left out")

    return run(hook)


def passed_on() -> bytes:
    """Copies the input to stdout while it arrives, and returns its first 16 MiB."""
    kept = bytearray()
    is_read = True
    for piece in iter(lambda: os.read(sys.stdin.fileno(), 1 << 16), b""):
        if is_read:
            try:
                sys.stdout.buffer.write(piece)
                sys.stdout.buffer.flush()
            except BrokenPipeError:
                # The reader of stdout is gone; the rest of the input is stored nevertheless.
                is_read = False
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        kept += piece[: INPUT_BYTES_MAX - len(kept)]
    if len(kept) == INPUT_BYTES_MAX:
        say("only the first 16 MiB of the input are read")
    return bytes(kept)


def said_in(raw: bytes, person: str) -> tuple[list[tuple[str, str]], int]:
    """Returns the actor and the text of each message of `user` and `assistant` in JSON lines, and the number of lines that
    are neither empty nor a message."""
    found = []
    wrong = 0
    for line in raw.split(b"\n"):
        if not line.strip():
            continue
        message = object_of(line)
        if message is None or not is_message(message):
            wrong += 1
        elif message["role"] in ("user", "assistant"):
            found.append((person if message["role"] == "user" else "assistant", text_of(message.get("content"))))
    return found, wrong


def is_message(entry: dict[str, Any]) -> bool:
    """Returns whether an object has a role, and the content that the role needs. A call of a tool needs no content."""
    role = entry.get("role")
    if role not in ("user", "assistant"):
        return isinstance(role, str)
    calls = entry.get("tool_calls") or entry.get("function_call")
    return isinstance(entry.get("content"), (str, list)) or bool(role == "assistant" and calls)


def batches_of(records: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Returns records in batches of at most `BATCH_RECORDS`. The record that reaches `BATCH_CHARS` ends its batch."""
    batch: list[dict[str, Any]] = []
    size = 0
    for record in records:
        batch.append(record)
        size += len(record["text"])
        if len(batch) >= BATCH_RECORDS or size >= BATCH_CHARS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def record_of(actor: str, text: str, session: str) -> dict[str, Any] | None:
    """Returns a record whose id derives from session, actor and text; `None` if the text is empty."""
    text = clean(text)
    if not text:
        return None
    digest = hashlib.sha256("\n".join((session, actor, text)).encode("utf-8", "replace")).hexdigest()
    return {
        "id": f"said-{digest[:32]}",
        "actor": actor,
        "session": session,
        "text": text,
        "metadata": {SESSION_KEY: session},
    }


if __name__ == "__main__":
    sys.exit(main())
