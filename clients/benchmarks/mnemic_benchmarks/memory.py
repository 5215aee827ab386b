"""Functions that all adapters share: they make records of conversations and ask questions.

Nothing of a benchmark but turns and questions reaches the server: no labels, no gold answers, and no ids, which in some data
sets name the session with the answer.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from mnemic import Mnemic, models

# Number of records in one request.
BATCH = 500
# Longest wait, in seconds, until facts and pages of the stored records are derived.
DERIVED_WITHIN = 60.0
# Maximum length of the name of a space, in characters.
NAME_MAX = 64


def space_name(prefix: str, user: str) -> str:
    """Returns the name of a space for a user of a benchmark: characters that a name may not contain become `-`."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", user.lower()).strip("-.")
    return f"{prefix}-{plain}"[:NAME_MAX]


def moment(timestamp: str | None) -> str | None:
    """Returns a timestamp as RFC 3339 in UTC, or None if it is empty.

    Takes ISO 8601 with and without a zone, and the form `2023/05/20 (Sat) 02:21` of LongMemEval; one without a zone is UTC.
    Raises `ValueError` for anything else.
    """
    if not timestamp:
        return None
    plain = re.sub(r"\s*\([A-Za-z]{3}\)", "", timestamp.strip()).replace("/", "-").replace("Z", "+00:00")
    read = datetime.fromisoformat(plain)
    if read.tzinfo is None:
        read = read.replace(tzinfo=timezone.utc)
    return read.astimezone(timezone.utc).isoformat()


def records(turns: Iterable[Mapping[str, Any]], session: str, at: str | None = None) -> list[dict[str, Any]]:
    """Returns the turns of a session as records, in their order; a turn without text is left out.

    The actor is the name in a turn, or else its role. `at` is the time of turns that have none. The ids count turns from 0.
    """
    made = []
    for number, turn in enumerate(turns):
        text = str(turn.get("content") or "").strip()
        if not text:
            continue
        record = {
            "id": f"{session}-{number}",
            "session": session,
            "actor": str(turn.get("name") or turn.get("role") or "user"),
            "text": text,
        }
        observed_at = moment(turn.get("timestamp") or turn.get("chat_time")) or at
        if observed_at:
            record["observed_at"] = observed_at
        made.append(record)
    return made


def store(memory: Mnemic, space: str, new: list[dict[str, Any]]) -> None:
    """Stores records and returns once they are searchable and facts and pages are derived from them.

    Raises `TimeoutError` if that takes longer than a minute.
    """
    if not new:
        return
    target = memory.create_space(space)
    for start in range(0, len(new), BATCH):
        target.remember(new[start : start + BATCH], wait=True)
    end = time.monotonic() + DERIVED_WITHIN
    while target.progress().deriving:
        if time.monotonic() > end:
            raise TimeoutError(f"facts of the space {space} are not derived within {DERIVED_WITHIN:.0f} s")
        time.sleep(0.02)


def answer_in_words(found: models.QueryResponse) -> str:
    """Returns the short answer. If there is none, returns a sentence that states the verdict and its reasons."""
    if found.answer is not None:
        return found.answer.text
    why = "; ".join(found.verdict.reasons) or "no reason is given"
    if found.verdict.status == "insufficient":
        return f"I don't know, there is no information about that: {why}."
    return f"There is no short answer ({found.verdict.status}): {why}."


def reply_to_agent(found: models.QueryResponse) -> str:
    """Returns the text for an agent: the answer in words, followed by the evidence."""
    return f"{answer_in_words(found)}\n{found.pack.text}".strip()
