"""Records in the form in which callers write them, and batches of them; the same for sync and async."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias
from uuid import UUID

from mnemic import models
from mnemic._request import given, listed, plain

# A text, a record, a record from a list, or the fields of a record.
RecordLike: TypeAlias = str | models.NewRecord | models.Record | Mapping[str, Any]
# A reference to a write: a watermark, or a response that contains one.
After: TypeAlias = str | models.Accepted | models.Curated | models.Erased

# Size limits of one request of an import, well below the server's limits.
BATCH_BYTES = 1 << 20
REJECTED_MAX = 1_000


@dataclass(frozen=True)
class Rejected:
    """A record that an import left out."""

    # Its position in the import, from 0; None if the server does not say which record of the batch it is.
    index: int | None
    reason: str
    # The id by which the server reports the record; a tool call of a chat message has an id of its own.
    id: str | None = None


@dataclass
class Imported:
    """The result of an import."""

    accepted: int = 0
    duplicates: int = 0
    # The lines of `mnemic export` with a reading of a language model instead of a record. They are not sent;
    # `mnemic import` sends them too.
    readings_left_out: int = 0
    rejected_count: int = 0
    # The first thousand rejected records.
    rejected: list[Rejected] = field(default_factory=list)
    # Chat messages that the server does not store: system and developer messages, and empty ones.
    left_out: int = 0
    watermark: str | None = None

    def reject(self, index: int | None, reason: str, id: str | None = None) -> None:
        self.rejected_count += 1
        if len(self.rejected) < REJECTED_MAX:
            self.rejected.append(Rejected(index, reason, id))

    def note(self, batch: list[Numbered], accepted: models.Accepted) -> None:
        self.left_out += accepted.left_out or 0
        for item in accepted.items:
            if item.status == "accepted":
                self.accepted += 1
            elif item.status == "duplicate":
                self.duplicates += 1
            else:
                why = (item.problem.detail or item.problem.title) if item.problem else "rejected"
                index = batch[item.index].index if 0 <= item.index < len(batch) else None
                self.reject(index, why, item.id or None)


@dataclass(frozen=True)
class Numbered:
    """A record with its position in the import, from 0."""

    index: int
    record: dict[str, Any]
    size: int


def records_of(what: RecordLike | Iterable[RecordLike], defaults: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the records to store as a list; the fields of a record take precedence over the defaults."""
    alone = isinstance(what, str | models.NewRecord | models.Record | Mapping)
    several: Iterable[RecordLike] = [what] if alone else what  # type: ignore[list-item,assignment]
    return [{**defaults, **fields(it)} for it in several]


def fields(record: RecordLike) -> dict[str, Any]:
    """Returns the fields of a record, without Mnemic's own id, which is derived from the caller's id."""
    if isinstance(record, str):
        return {"text": record}
    written = dict(plain(record))
    if is_uuid(written.get("record")):
        del written["record"]
    return written


def defaults_of(
    actor: str | None,
    session: str | None,
    observed_at: datetime | str | None,
    metadata: Mapping[str, str] | None,
    tags: Iterable[str] | None,
) -> dict[str, Any]:
    return given(actor=actor, session=session, observed_at=observed_at, metadata=metadata, tags=listed(tags))


def watermark_of(after: After | None) -> str | None:
    return after if after is None or isinstance(after, str) else after.watermark


def lines_of(source: str | Path | Iterable[RecordLike], imported: Imported) -> Iterator[Numbered]:
    """Returns records with ids, so that a repeated import stores each record once. A path is the path of a file of JSON
    lines.
    """
    if isinstance(source, str | Path):
        with open(source, "rb") as file:
            yield from lines_of_file(file, imported)
        return
    for index, item in enumerate(source):
        record = fields(item)
        if is_reading(record):
            imported.readings_left_out += 1
            continue
        yield numbered(index, record, json.dumps(record, sort_keys=True).encode())


def lines_of_file(file: Iterable[bytes], imported: Imported) -> Iterator[Numbered]:
    for index, line in enumerate(file):
        bare = line.removeprefix(b"\xef\xbb\xbf").strip()
        if not bare:
            continue
        try:
            record = json.loads(bare)
        except ValueError as error:
            imported.reject(index, f"line {index + 1} is not JSON: {error}")
            continue
        if not isinstance(record, dict):
            imported.reject(index, f"line {index + 1} is not a JSON object")
            continue
        if is_reading(record):
            imported.readings_left_out += 1
            continue
        yield numbered(index, fields(record), bare)


def numbered(index: int, record: dict[str, Any], content: bytes) -> Numbered:
    """Returns the record with an id: its own, or one by the rule of `mnemic import`. An id of None is no id."""
    if record.get("id") is None:
        digest = hashlib.sha256((index + 1).to_bytes(8, "big") + content).hexdigest()
        record = {**record, "id": f"line-{digest[:16]}"}
    return Numbered(index, record, len(content))


def says_nothing_is_left(detail: str) -> bool:
    """Returns true for the detail of the refusal of a request of which nothing is left: all its elements are chat messages
    that the server does not store.
    """
    return detail.startswith("records: ") and detail.endswith("this request has 0")


def is_reading(record: Mapping[str, Any]) -> bool:
    """Returns true for a line of `mnemic export` that has a reading of a language model instead of a record."""
    return record.keys() == {"reading"} and isinstance(record["reading"], Mapping)


def is_uuid(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(UUID(value))
    except ValueError:
        return False


def batches_of(lines: Iterable[Numbered], most: int) -> Iterator[list[Numbered]]:
    """Returns the records in batches of at most `most` records and one MiB; a longer record is a separate batch."""
    batch: list[Numbered] = []
    size = 0
    for line in lines:
        if batch and (len(batch) >= most or size + line.size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += line.size
    if batch:
        yield batch
