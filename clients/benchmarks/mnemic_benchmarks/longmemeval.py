"""Writes a retrieval log of a LongMemEval file, in the format of the data set's own `print_retrieval_metrics.py`.

    python -m mnemic_benchmarks.longmemeval --data longmemeval_s.json --out mnemic_retrievallog_turn.jsonl

The labels of a question are read only after its turns are ranked, and the ids of its sessions never reach the server: in
this data set they say which session holds the answer.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

from mnemic import Mnemic

from mnemic_benchmarks import memory

CUTOFFS = (1, 3, 5, 10, 30, 50)
# Number of units ranked for a question; several units may belong to one turn.
RANKED = 200


@dataclass(frozen=True)
class Turn:
    """A turn of a haystack: the numbers of its session and of the turn in it, both from 0."""

    session: int
    number: int


def records(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the turns of a haystack as records, with positions as ids: `s3-0` is the first turn of session 3."""
    made = []
    for number, (turns, date) in enumerate(zip(entry["haystack_sessions"], entry["haystack_dates"], strict=True)):
        made += memory.records(turns, f"s{number}", memory.moment(date))
    return made


def ranked_turns(external_ids: Iterable[Sequence[str]]) -> list[Turn]:
    """Returns the turns of ranked units, each once, in the order of the units."""
    order: dict[Turn, None] = {}
    for ids in external_ids:
        for it in ids:
            found = re.fullmatch(r"s(\d+)-(\d+)", it)
            if found:
                order.setdefault(Turn(int(found[1]), int(found[2])))
    return list(order)


def turn_id(entry: Mapping[str, Any], turn: Turn) -> str:
    """Returns the data set's id of a turn; `noans` in place of `answer` marks a turn without the answer."""
    session = entry["haystack_session_ids"][turn.session]
    labelled = entry["haystack_sessions"][turn.session][turn.number].get("has_answer", False)
    name = f"{session}_{turn.number + 1}"
    return name if labelled else name.replace("answer", "noans")


def user_turns(entry: Mapping[str, Any]) -> list[Turn]:
    """Returns the turns of the user, which are the corpus of the data set."""
    sessions = enumerate(entry["haystack_sessions"])
    return [Turn(at, n) for at, turns in sessions for n, turn in enumerate(turns) if turn["role"] == "user"]


def session_id(entry: Mapping[str, Any], session: int) -> str:
    """Returns the data set's id of a session; `noans` in place of `answer` if no turn of the user has the answer."""
    turns = entry["haystack_sessions"][session]
    labelled = any(turn.get("has_answer") for turn in turns if turn["role"] == "user")
    name: str = entry["haystack_session_ids"][session]
    return name if labelled else name.replace("answer", "noans")


def gain(relevances: Sequence[bool]) -> float:
    """Returns the discounted cumulative gain as the data set defines it: the first two places count in full."""
    return sum(1.0 / log2(max(place, 2)) for place, hit in enumerate(relevances, start=1) if hit)


def metrics(ranking: Sequence[str], corpus: Sequence[str]) -> dict[str, float]:
    """Returns recall and NDCG of a ranking at each cutoff; a document is right if its id contains `answer`."""
    right = {it for it in corpus if "answer" in it}
    measured = {}
    for cutoff in CUTOFFS:
        top = ranking[:cutoff]
        ideal = gain([True] * min(len(right), cutoff))
        measured[f"recall_any@{cutoff}"] = float(bool(right & set(top)))
        measured[f"recall_all@{cutoff}"] = float(right <= set(top))
        measured[f"ndcg_any@{cutoff}"] = gain([it in right for it in top]) / ideal if ideal else 0.0
    return measured


def log_entry(entry: Mapping[str, Any], ranking: Sequence[Turn]) -> dict[str, Any]:
    """Returns a line of the log: the ranked turns of the user, and the metrics of turns and of sessions.

    A session has the rank of its first turn, whoever spoke. Turns that were not ranked are left out, so nothing is right
    by chance.
    """
    corpus = user_turns(entry)
    listed = set(corpus)
    turns = [it for it in ranking if it in listed]
    sessions = list(dict.fromkeys(it.session for it in ranking))
    items = [
        {
            "corpus_id": turn_id(entry, it),
            "text": entry["haystack_sessions"][it.session][it.number]["content"],
            "timestamp": entry["haystack_dates"][it.session],
        }
        for it in turns
    ]
    every_session = range(len(entry["haystack_sessions"]))
    return {
        "question_id": entry["question_id"],
        "question_type": entry["question_type"],
        "question": entry["question"],
        "retrieval_results": {
            "query": entry["question"],
            "ranked_items": items,
            "metrics": {
                "session": metrics(
                    [session_id(entry, it) for it in sessions], [session_id(entry, it) for it in every_session]
                ),
                "turn": metrics([item["corpus_id"] for item in items], [turn_id(entry, it) for it in corpus]),
            },
        },
    }


def rank(server: Mnemic, entry: Mapping[str, Any], space: str) -> list[Turn]:
    """Stores the haystack of a question in a separate space, ranks its turns, and deletes the space."""
    try:
        memory.store(server, space, records(entry))
        asked_at = memory.moment(entry.get("question_date"))
        found = server.space(space).ask(entry["question"], asked_at=asked_at, ranked=RANKED)
        return ranked_turns(unit.external_ids for unit in found.ranked or [])
    finally:
        server.space(space).delete()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a file of LongMemEval")
    parser.add_argument("--out", type=Path, required=True, help="file for the log, with one line per question")
    parser.add_argument("--limit", type=int, help="maximum number of questions")
    asked = parser.parse_args()
    entries = json.loads(asked.data.read_text(encoding="utf-8"))[: asked.limit]
    with Mnemic() as server, asked.out.open("w", encoding="utf-8") as out:
        for number, entry in enumerate(entries):
            line = log_entry(entry, rank(server, entry, f"longmemeval-{number}"))
            out.write(json.dumps(line) + "\n")
            print(f"{number + 1} of {len(entries)}: {entry['question_id']}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
