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
    says_nothing_is_left,
    watermark_of,
)
from mnemic._request import Request, budget_of, given, labels, question_time
from mnemic.errors import ConflictError, InvalidError, RecordsRejectedError

Strategy = Literal["route", "explore", "reconstruct", "recollect", "navigate", "auto"]
Style = Literal["short", "infer", "free"]


class AsyncSpace(AsyncMemory):
    """An isolated memory: of a user, an agent or a project."""

    async def create(self) -> models.Space:
        """Creates the space if it does not exist."""
        return await self._transport.fetch(models.Space, Request("PUT", self._path()))

    async def info(self) -> models.Space:
        """Returns the description of the space and its counts."""
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
        """Stores a text, a record, or several. The records are on disk when this returns, and visible to `records` and
        to questions a moment later.

        `actor`, `session`, `observed_at`, `metadata` and `tags` apply to records that do not set them. With `wait`, the
        call returns when the records are searchable; facts, entities and pages follow later. Raises
        `RecordsRejectedError` if some records were rejected; the others are stored.
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
        """Stores many records, from a file of JSON lines given by its path, or from any iterable.

        Records without an id, or with null, get one derived from their position and content, so a repeated import stores
        nothing twice. Invalid records are left out and listed in the result. Chat messages that the server does not store
        (system, developer and empty ones) are counted in `left_out`. A file of `mnemic export` ends with the readings of
        a language model; they are counted in `readings_left_out` and not sent.
        """
        imported = Imported()
        for numbered in batches_of(lines_of(source, imported), batch):
            await self._import(numbered, imported)
        if imported.watermark is not None:
            await self._wait_if(imported.watermark, wait)
        return imported

    async def _import(self, batch: list[Numbered], imported: Imported) -> None:
        """Sends a batch. A batch that is refused as a whole is halved until each refused record is alone."""
        waiting = [batch]
        while waiting:
            part = waiting.pop()
            try:
                accepted = await self._add([it.record for it in part], str(uuid4()))
            except (InvalidError, ConflictError) as error:
                if len(part) == 1 and says_nothing_is_left(error.detail):
                    # The message is no mistake of the caller.
                    imported.left_out += 1
                elif len(part) == 1:
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
        verbatim: bool = True,
    ) -> models.QueryResponse:
        """Returns the verdict, the evidence for your own model (`pack.text`), and a short answer if it is likely to be
        right.

        `tokens` limits the evidence; `budget` has this limit and the others. `after` is a write that the question must
        see: its watermark, or the result of `remember`. `limits` restricts the loop of a strategy, and `style` is the
        form of the answer that a language model of the server writes; both need `model_calls` in the budget.
        With `verbatim`, the evidence has only original texts of records, word for word.
        """
        limited = budget_of(budget, tokens=tokens)
        body = given(
            question=question,
            budget=limited or None,
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
            verbatim=verbatim,
        )
        request = Request("POST", self._path("query"), body=body, extra_time=question_time(limited))
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
        budget: models.RecallBudget | Mapping[str, Any] | None = None,
    ) -> models.RecallResponse:
        """Returns hints for a message. Most messages give none, and `silent` states the reason.

        A hint is a related memory that is worth mentioning without a question. With a `filter` of tags and metadata,
        only matching records are used. A hint is given once in a session, so the call is not repeated if its response
        was lost.

        `ms` limits the time in milliseconds; `budget` has this limit and the others. With `model_calls` in the budget, a
        language model of the server decides which related memories become hints.
        """
        limited = budget_of(budget, ms=ms)
        body = given(
            message=message,
            actor=actor,
            session=session,
            after=watermark_of(after),
            at=at,
            limit=limit,
            filter=filter,
            sensitive=sensitive or None,
            budget=limited or None,
        )
        request = Request("POST", self._path("recall"), body=body, repeatable=False, extra_time=question_time(limited))
        return await self._transport.fetch(models.RecallResponse, request)

    async def dismiss(self, hints: Iterable[str | models.Hint], *, session: str | None = None) -> None:
        """Dismisses hints, so that they are not given again in any session."""
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
        """Calls a tool; an invalid call returns an `error` that a model can read.

        With `tags` and `filter`, the tool uses only records that have all of the tags and match the filter.
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
        """Lists all or filtered records, in the order in which they were stored; with `tags`, records that have all of
        the tags.
        """
        params = {"session": session, "actor": actor, "from": from_, "until": until, **labels(tags, filter)}
        return self._transport.pages(models.Record, self._path("records"), params, page_size)

    async def record(self, id: str) -> models.Record:
        """Returns one record, by your id or by Mnemic's id; the newest if it has several versions."""
        return await self._transport.fetch(models.Record, Request("GET", self._path("records", id)))

    async def put_record(
        self, id: str, record: RecordLike, *, must_exist: bool = False, wait: bool | float = False
    ) -> models.Accepted:
        """Stores a record under an id. If a record with other content exists, stores the next version, which replaces
        it.

        Session and actor are those of the previous version unless the record sets them. Content equal to the newest
        version changes nothing. With `must_exist`, an id that does not exist raises `NotFoundError`.

        The call has no `Idempotency-Key`: a repeated request changes nothing, because its content is that of the newest
        version.
        """
        headers = {"if-match": "*"} if must_exist else {}
        request = Request("PUT", self._path("records", id), body=fields(record), more_headers=headers)
        accepted = await self._transport.fetch(models.Accepted, request)
        await self._wait_if(accepted, wait)
        return accepted

    async def versions(self, id: str) -> list[models.Record]:
        """Returns all versions of a record, oldest first."""
        pages = self._transport.pages(models.Record, self._path("records", id, "versions"), {}, 1000)
        return [it async for it in pages]

    async def erase_record(self, id: str, *, wait: bool | float = False) -> models.Curated | None:
        """Erases a record with all its versions and all data that derive only from it, permanently.

        Your id of one version, such as `a#v2`, erases all versions too. Mnemic's id erases only the version that it names.

        Returns None if a repeated request finds no record with this id after the response of an earlier one was lost,
        or was 502 or 503, which a proxy also sends if it lost the response. If the earlier request erased the record,
        `erasures` lists its receipt; there is no watermark to wait for.
        """
        done = await self._transport.erase(models.Curated, self._path("records", id))
        if done is not None:
            await self._wait_if(done, wait)
        return done

    async def erase_session(self, id: str, *, wait: bool | float = False) -> int:
        """Erases the records of a session with all data that derive only from them, permanently; returns their number,
        which is too low if a response was lost and the request was repeated.

        A long session is erased in several requests. Each one waits until the previous one was applied, also without
        `wait`. If that takes too long, `DeadlineError` is raised; a repeated call erases the rest.
        """
        records = 0
        while True:
            erased = await self._transport.erase(models.Erased, self._path("sessions", id))
            if erased is None:
                return records
            records += erased.records
            if not erased.more:
                await self._wait_if(erased, wait)
                return records
            # The next request would select the same records until this erasure is applied.
            await self._wait_if(erased, wait or True)

    async def delete(self) -> bool:
        """Erases the space with all its data, permanently.

        Returns true if every store has erased it, and false if a store is unreachable or the erasure takes long; the
        server then completes it later.
        """
        return (await self._transport.send(Request("DELETE", self._path()))).status_code == 204

    def erasures(self, *, page_size: int = 100) -> AsyncIterator[models.Erasure]:
        """Lists the receipts of erasures in spaces with this name."""
        return self._transport.pages(models.Erasure, self._path("erasures"), {}, page_size)

    async def erasure(self, id: str) -> models.Erasure:
        """Returns one receipt; it contains no erased text."""
        return await self._transport.fetch(models.Erasure, Request("GET", self._path("erasures", id)))

    async def check_erasure(self, id: str) -> models.ErasureCheck:
        """Searches every store for the erased data now, and returns the result."""
        return await self._transport.fetch(models.ErasureCheck, Request("POST", self._path("erasures", id, "check")))

    def events(self, *, last_event_id: str | None = None) -> AsyncEvents:
        """Returns the events of the space as they happen: new searchable records, new derived data, erasures.

        >>> async with space.events() as events:
        ...     async for event in events:
        ...         print(event.kind, event.watermark)

        The events begin when the stream opens (on entering the context, or at the first iteration), or after the event
        `last_event_id`. A broken stream is opened again and continues after the last event.
        """
        return AsyncEvents(self._transport, self._path("events"), last_event_id)

    async def rebuild(self) -> models.Rebuild:
        """Starts a rebuild of the space from its records. The call is not repeated if its response was lost."""
        return await self._transport.fetch(models.Rebuild, Request("POST", self._path("rebuild"), repeatable=False))

    async def rebuild_progress(self) -> models.Rebuild:
        """Returns the progress of the latest rebuild that this server process started."""
        return await self._transport.fetch(models.Rebuild, Request("GET", self._path("rebuild")))
