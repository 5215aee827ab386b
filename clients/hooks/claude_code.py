#!/usr/bin/env python3
"""A memory for Claude Code, as a hook: recalls before a prompt, and stores each turn after it ends. See README.md.

Reads the JSON of the hook on stdin. For `UserPromptSubmit` it prints the recalled lines as additional context; for
`Stop` and `SessionEnd` it stores the turns of the transcript that are not stored yet.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from memory import RECALL_SECONDS, STORE_SECONDS, Memory, MemoryFailure, read_input, recall, run, settings_of, store
from transcript import Progress, object_of, record_of, spoken, store_new_turns

COMMAND = re.compile(r"/[\w:.-]+(?:\s|\Z)")


def hook() -> None:
    given = object_of(read_input().encode("utf-8", "replace"))
    if given is None:
        raise MemoryFailure("the input is not a JSON object for a hook of Claude Code")
    event = given.get("hook_event_name")
    if event == "UserPromptSubmit":
        show_recalled(given)
    elif event in ("Stop", "SessionEnd"):
        store_turns(given)
    else:
        raise MemoryFailure("this hook is for UserPromptSubmit, Stop and SessionEnd")


def session_of(given: dict[str, Any]) -> str:
    """Returns the name of the session: the id from Claude Code, or a digest of an id that is not plain."""
    name = given.get("session_id")
    if not isinstance(name, str) or not name:
        raise MemoryFailure("the input has no session_id")
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]
    return name if re.fullmatch(r"[A-Za-z0-9-]{1,64}", name) else digest


def show_recalled(given: dict[str, Any]) -> None:
    prompt = given.get("prompt")
    if not isinstance(prompt, str):
        raise MemoryFailure("the input has no prompt")
    said = spoken(prompt)
    if not said or COMMAND.match(said):
        return
    session = session_of(given)
    memory = Memory(settings_of(os.environ), RECALL_SECONDS)
    block = recall(memory, said, f"claude-code-{session}")
    if block:
        context = {"hookEventName": "UserPromptSubmit", "additionalContext": block}
        print(json.dumps({"hookSpecificOutput": context}))


def store_turns(given: dict[str, Any]) -> None:
    path = given.get("transcript_path")
    if not isinstance(path, str) or not path or "\0" in path:
        raise MemoryFailure("the transcript has no path")
    session = session_of(given)
    transcript = Path(path).expanduser()
    settings = settings_of(os.environ)
    memory = Memory(settings, STORE_SECONDS)
    where = f"{settings.host} {settings.port} {settings.prefix} {settings.space}"
    progress = Progress(state_folder(), transcript, where)
    store_new_turns(
        transcript,
        progress,
        lambda entry: record_of(entry, session, settings.actor),
        lambda batch: store(memory, batch),
    )
    if given["hook_event_name"] == "SessionEnd":
        progress.remove_old()


def state_folder() -> Path:
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "mnemic" / "hooks"


if __name__ == "__main__":
    sys.exit(run(hook))
