"""A space: remember, ask, recall, erase."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from mnemic import models
from mnemic._async.events import AsyncEvents
from mnemic._async.memory import AsyncMemory
from mnemic._async.transport import read
from mnemic._records import (
    After,
    Imported,
    Numbered,
    RecordLike,
    batches_of,
    defaults_of,
    fields,
    lines_of,
    records_of,
    watermark_of,
)
from mnemic._request import Request, given, labels
from mnemic.errors import ConflictError, InvalidError, RecordsRejectedError

Strategy = Literal["route", "explore", "reconstruct", "recollect", "navigate", "auto"]
Style = Literal["short", "infer", "free"]


class AsyncSpace(AsyncMemory):
    """An isolated memory: of a user, an agent or a project."""

    async def create(self) -> models.Space:
        """Creates the space, if there is none of that name."""
        return await self._transport.fetch(models.Space, Request("PUT", self._path()))

    async def info(self) -> models.Space:
        """Returns what the space holds."""
        return await self._transport.fetch(models.Space, Request("GET", self._path()))

    async def remember(
        self,
        what: RecordLike | Iterable[RecordLike],
        *,
        actor: str | None = None,
        session: str | None = None,
        observed_at: datetime | str | None = None,
        metadata: Mapping[str, str] | None = None,
        tags: Iterable[str] | None = None,
        idempotency_key: str | None = None,
        wait: bool | float = False,
    ) -> models.Accepted:
        """Stores what happened: a text, a record, or several; they are on disk when this returns, and seen by
        `records` and by questions a moment later.

        `actor`, `session`, `observed_at`, `metadata` and `tags` are for records that do not say them. With `wait`, it
        returns once they are searchable; facts, entities and pages follow later. Raises `RecordsRejectedError` if some were
        not taken: the others are stored all the same.
        """
        records = records_of(what, defaults_of(actor, session, observed_at, metadata, tags))
        accepted = await self._add(records, idempotency_key or str(uuid4()))
        if any(item.status != "rejected" for item in accepted.items):
            await self._wait_if(accepted, wait)
        if any(item.status == "rejected" for item in accepted.items):
            raise RecordsRejectedError(accepted)
        return accepted

    async def import_records(
        self, source: str | Path | Iterable[RecordLike], *, batch: int = 500, wait: bool | float = False
    ) -> Imported:
        """Stores many records: of a file of JSON lines, named by its path, or of anything that yields them.

        Records without an id get one from their place and content, so importing the same again stores nothing twice. Records
        that cannot be used are left out and named in what is returned.
        """
        imported = Imported()
        for numbered in batches_of(lines_of(source, imported), batch):
            await self._import(numbered, imported)
        if imported.watermark is not None:
            await self._wait_if(imported.watermark, wait)
        return imported

    async def _import(self, batch: list[Numbered], imported: Imported) -> None:
        """Sends a batch; one that is refused as a whole is halved until the records at fault stand alone."""
        waiting = [batch]
        while waiting:
            part = waiting.pop()
            try:
                accepted = await self._add([it.record for it in part], str(uuid4()))
            except (InvalidError, ConflictError) as error:
                if len(part) == 1:
                    imported.reject(part[0].index, error.detail or str(error))
                else:
                    half = len(part) // 2
                    waiting.extend([part[half:], part[:half]])
            else:
                imported.note(part, accepted)
                imported.watermark = accepted.watermark

    async def _add(self, records: list[dict[str, Any]], key: str) -> models.Accepted:
        request = Request("POST", self._path("records"), body={"records": records}, idempotency_key=key)
        return await self._transport.fetch(models.Accepted, request)

    async def ask(
        self,
        question: str,
        *,
        tokens: int | None = None,
        budget: models.Budget | Mapping[str, Any] | None = None,
        filter: models.Filter | Mapping[str, Any] | None = None,
        strategy: Strategy | None = None,
        limits: models.Limits | Mapping[str, Any] | None = None,
        style: Style | None = None,
        after: After | None = None,
        as_of: datetime | str | None = None,
        asked_at: datetime | str | None = None,
        answer: bool = True,
        explain: int = 0,
        ranked: int = 0,
        metadata: bool = False,
    ) -> models.QueryResponse:
        """Returns the verdict, the evidence for a model of yours (`pack.text`), and a short answer if it is likely right.

        `tokens` bounds the evidence; `budget` has that and the other bounds. `after` names a write that must be seen: its
        watermark, or what `remember` returned. `limits` bounds the loop of a strategy, and `style` says how a language
        model of the server words the answer; both need `model_calls` in the budget.
        """
        spent = {**given(tokens=tokens), **given(budget=budget).get("budget", {})}
        body = given(
            question=question,
            budget=spent or None,
            filter=filter,
            strategy=strategy,
            limits=limits,
            style=style,
            after=watermark_of(after),
            as_of=as_of,
            asked_at=asked_at,
            answer=answer,
            explain=explain or None,
            ranked=ranked or None,
            metadata=metadata or None,
        )
        usual = 30_000 if spent.get("model_calls") else 2_000
        extra = (spent.get("ms") or usual) / 1000
        request = Request("POST", self._path("query"), body=body, extra_time=extra)
        return await self._transport.fetch(models.QueryResponse, request)

    async def recall(
        self,
        message: str,
        *,
        actor: str | None = None,
        session: str | None = None,
        after: After | None = None,
        at: datetime | str | None = None,
        limit: int | None = None,
        filter: models.LabelFilter | Mapping[str, Any] | None = None,
        sensitive: bool = False,
        ms: int | None = None,
    ) -> models.RecallResponse:
        """Returns what a message wakes that is worth saying unasked; mostly nothing, and `silent` says why.

        With a `filter` of tags and metadata, hints tell only what the records say that it takes. A hint is said once in a
        session, so a call whose response was lost is not sent again.
        """
        body = given(
            message=message,
            actor=actor,
            session=session,
            after=watermark_of(after),
            at=at,
            limit=limit,
            filter=filter,
            sensitive=sensitive or None,
            budget=None if ms is None else {"ms": ms},
        )
        request = Request("POST", self._path("recall"), body=body, repeatable=False, extra_time=(ms or 0) / 1000)
        return await self._transport.fetch(models.RecallResponse, request)

    async def dismiss(self, hints: Iterable[str | models.Hint], *, session: str | None = None) -> None:
        """Says that these hints are not wanted again, in any session."""
        ids = [it.id if isinstance(it, models.Hint) else it for it in hints]
        await self._transport.send(Request("POST", self._path("recall", "dismiss"), body=given(hints=ids, session=session)))

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        as_of: datetime | str | None = None,
        tags: Iterable[str] | None = None,
        filter: models.LabelFilter | Mapping[str, Any] | None = None,
    ) -> models.ToolOutcome:
        """Calls a tool; a call that cannot be used gives an `error` that a model can read.

        With `tags` and `filter`, it sees only what records with all these tags say, and those that the filter takes.
        """
        params = {"as_of": as_of, **labels(tags, filter)}
        request = Request("POST", self._path("tools", name), params, body=dict(arguments or {}))
        return await self._transport.fetch(models.ToolOutcome, request)

    def records(
        self,
        *,
        session: str | None = None,
        actor: str | None = None,
        from_: datetime | str | None = None,
        until: datetime | str | None = None,
        tags: Iterable[str] | None = None,
        filter: models.LabelFilter | Mapping[str, Any] | None = None,
        page_size: int = 100,
    ) -> AsyncIterator[models.Record]:
        """Lists records, all or some, in the order in which they were stored; with `tags`, those that have all of them."""
        params = {"session": session, "actor": actor, "from": from_, "until": until, **labels(tags, filter)}
        return self._transport.pages(models.Record, self._path("records"), params, page_size)

    async def record(self, id: str) -> models.Record:
        """Returns one record, by your id or Mnemic's; of several versions the newest."""
        return await self._transport.fetch(models.Record, Request("GET", self._path("records", id)))

    async def put_record(
        self, id: str, record: RecordLike, *, must_exist: bool = False, wait: bool | float = False
    ) -> models.Accepted:
        """Stores a record under an id, or, if there is one with other content, its next version, which takes its place.

        Session and actor are those of the version before, unless the record says them. What the newest version says already
        changes nothing. With `must_exist`, an id that does not exist raises `NotFoundError`.
        """
        headers = {"if-match": "*"} if must_exist else {}
        request = Request("PUT", self._path("records", id), body=fields(record), more_headers=headers)
        accepted = await self._transport.fetch(models.Accepted, request)
        await self._wait_if(accepted, wait)
        return accepted

    async def versions(self, id: str) -> list[models.Record]:
        """Returns all versions of a record, the first one first."""
        return (
            await self._transport.fetch(models.RecordVersions, Request("GET", self._path("records", id, "versions")))
        ).items

    async def erase_record(self, id: str, *, wait: bool | float = False) -> models.Curated:
        """Erases a record, all versions of it, with all that derives only from it, for good."""
        done = await self._transport.fetch(models.Curated, Request("DELETE", self._path("records", id)))
        await self._wait_if(done, wait)
        return done

    async def erase_session(self, id: str, *, wait: bool | float = False) -> int:
        """Erases the records of a session with all that derives only from them, for good; returns how many."""
        records = 0
        while True:
            response = await self._transport.send(Request("DELETE", self._path("sessions", id)))
            erased = read(models.Erased, response.content)
            records += erased.records
            if not erased.more:
                await self._wait_if(erased, wait)
                return records

    async def delete(self) -> bool:
        """Erases the space and everything in it, for good.

        Returns true if every store has erased it, false if one is away: the server then finishes it by itself.
        """
        return (await self._transport.send(Request("DELETE", self._path()))).status_code == 204

    def erasures(self, *, page_size: int = 100) -> AsyncIterator[models.Erasure]:
        """Lists the receipts of what was erased under the name of this space."""
        return self._transport.pages(models.Erasure, self._path("erasures"), {}, page_size)

    async def erasure(self, id: str) -> models.Erasure:
        """Returns one receipt; it holds no word of what was erased."""
        return await self._transport.fetch(models.Erasure, Request("GET", self._path("erasures", id)))

    async def check_erasure(self, id: str) -> models.ErasureCheck:
        """Looks now, in every store, for what was erased, and says what is there."""
        return await self._transport.fetch(models.ErasureCheck, Request("POST", self._path("erasures", id, "check")))

    def events(self, *, last_event_id: str | None = None) -> AsyncEvents:
        """Returns the events of the space as they happen: what is searchable, what derives from it, what is erased.

        >>> async with space.events() as events:
        ...     async for event in events:
        ...         print(event.kind, event.watermark)

        They begin when the stream opens, on entering the context or with the first event that is waited for, or after the
        event `last_event_id`. A stream that breaks off is opened again and goes on after the last event.
        """
        return AsyncEvents(self._transport, self._path("events"), last_event_id)

    async def rebuild(self) -> models.Rebuild:
        """Begins to derive the space again from its records."""
        return await self._transport.fetch(models.Rebuild, Request("POST", self._path("rebuild")))

    async def rebuild_progress(self) -> models.Rebuild:
        """Returns how far the latest rebuild is."""
        return await self._transport.fetch(models.Rebuild, Request("GET", self._path("rebuild")))
