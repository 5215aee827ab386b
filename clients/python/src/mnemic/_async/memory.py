"""Data that a space derives from its records (units, facts, topics, pages, entities), and the curations of users."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime
from typing import Any, Literal
from uuid import uuid4

import anyio

from mnemic import models
from mnemic._async.transport import AsyncTransport, M
from mnemic._records import After, watermark_of
from mnemic._request import WAIT_SLICE_MS, Request, given, labels, path
from mnemic.errors import DeadlineError

Aspect = Literal[
    "preference", "attribute", "relation", "place", "work", "plan", "possession", "count", "habit", "instruction"
]
Origin = Literal["rule", "model"]
Dimension = Literal["topic", "figure", "place", "preference", "event"]
Time = datetime | str | None


class AsyncMemory:
    """The derived data of a space."""

    def __init__(self, transport: AsyncTransport, name: str) -> None:
        self._transport = transport
        self.name = name

    def _path(self, *parts: str) -> str:
        return path("spaces", self.name, *parts)

    async def progress(self, watermark: After | None = None) -> models.Progress:
        """Returns whether a write is searchable, and the number of records that wait to be written."""
        request = Request("GET", self._path("progress"), {"watermark": watermark_of(watermark)})
        return await self._transport.fetch(models.Progress, request)

    async def wait(self, watermark: After, *, timeout: float | None = None) -> models.Progress:
        """Waits until a write is searchable; raises `DeadlineError` after the timeout."""
        left = int((self._transport.settings.wait if timeout is None else timeout) * 1000)
        while True:
            slice_ms = min(max(left, 0), WAIT_SLICE_MS)
            params = {"watermark": watermark_of(watermark), "wait_ms": slice_ms}
            request = Request("GET", self._path("progress"), params, extra_time=slice_ms / 1000)
            try:
                return await self._transport.fetch(models.Progress, request)
            except DeadlineError:
                left -= slice_ms
                if left <= 0:
                    raise
                await anyio.sleep(0)

    async def _wait_if(self, watermark: After, wait: bool | float) -> None:
        if wait is not False:
            await self.wait(watermark, timeout=None if wait is True else wait)

    def units(
        self,
        *,
        session: str | None = None,
        actor: str | None = None,
        as_of: Time = None,
        tags: Iterable[str] | None = None,
        filter: models.LabelFilter | Mapping[str, Any] | None = None,
        page_size: int = 100,
    ) -> AsyncIterator[models.UnitView]:
        """Lists the units in use, in the order of their latest changes; with `tags`, the turns of records that have all
        of the tags.
        """
        params = {"session": session, "actor": actor, "as_of": as_of, **labels(tags, filter)}
        return self._transport.pages(models.UnitView, self._path("units"), params, page_size)

    async def unit(self, id: str, *, as_of: Time = None) -> models.UnitView:
        """Returns one unit."""
        return await self._one(models.UnitView, "units", id, as_of)

    def facts(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        aspect: Aspect | None = None,
        current: bool | None = None,
        origin: Origin | None = None,
        as_of: Time = None,
        page_size: int = 100,
    ) -> AsyncIterator[models.Fact]:
        """Lists facts, both valid and former ones; with `current=True` only the valid ones.

        With `origin`, the list has only facts found by rules (`rule`), or only facts found by a language model
        (`model`).
        """
        params = {
            "subject": subject,
            "predicate": predicate,
            "aspect": aspect,
            "current": current,
            "origin": origin,
            "as_of": as_of,
        }
        return self._transport.pages(models.Fact, self._path("facts"), params, page_size)

    async def fact(self, id: str, *, as_of: Time = None) -> models.Fact:
        """Returns one fact."""
        return await self._one(models.Fact, "facts", id, as_of)

    def entities(self, *, name: str | None = None, as_of: Time = None, page_size: int = 100) -> AsyncIterator[models.Entity]:
        """Lists people, places and other named things; `name` may be an alias or a role."""
        return self._transport.pages(models.Entity, self._path("entities"), {"name": name, "as_of": as_of}, page_size)

    async def entity(self, id: str, *, as_of: Time = None) -> models.Entity:
        """Returns one entity."""
        return await self._one(models.Entity, "entities", id, as_of)

    def topics(self, *, as_of: Time = None, page_size: int = 100) -> AsyncIterator[models.Topic]:
        """Lists topics."""
        return self._transport.pages(models.Topic, self._path("topics"), {"as_of": as_of}, page_size)

    async def topic(self, id: str, *, as_of: Time = None) -> models.TopicView:
        """Returns one topic with the units nearest to its centre."""
        return await self._one(models.TopicView, "topics", id, as_of)

    def pages(
        self,
        *,
        dimension: Dimension | None = None,
        archived: bool | None = None,
        as_of: Time = None,
        page_size: int = 100,
    ) -> AsyncIterator[models.PageHead]:
        """Lists pages, without their sections."""
        params = {"dimension": dimension, "archived": archived, "as_of": as_of}
        return self._transport.pages(models.PageHead, self._path("pages"), params, page_size)

    async def page(self, id: str, *, as_of: Time = None) -> models.Page:
        """Returns one page with its sections."""
        return await self._one(models.Page, "pages", id, as_of)

    def merges(
        self,
        *,
        of: Literal["entities", "units"] | None = None,
        undone: bool | None = None,
        page_size: int = 100,
    ) -> AsyncIterator[models.Merge]:
        """Lists merges, in which objects were treated as the same, with the reasons."""
        return self._transport.pages(models.Merge, self._path("merges"), {"of": of, "undone": undone}, page_size)

    async def merge(self, id: str) -> models.Merge:
        """Returns one merge."""
        return await self._one(models.Merge, "merges", id, None)

    def curations(self, *, page_size: int = 100) -> AsyncIterator[models.Curation]:
        """Lists the curations of users: the audit log."""
        return self._transport.pages(models.Curation, self._path("curations"), {}, page_size)

    async def curation(self, id: str) -> models.Curation:
        """Returns one curation, by your id or by Mnemic's id."""
        return await self._one(models.Curation, "curations", id, None)

    async def correct_fact(
        self, fact: str, object: str, *, reason: str | None = None, id: str | None = None, wait: bool | float = False
    ) -> models.Curated:
        """Replaces the value of a fact."""
        return await self._curate({"kind": "correct_fact", "fact": fact, "object": object}, reason, id, wait)

    async def retire_fact(
        self, fact: str, *, reason: str | None = None, id: str | None = None, wait: bool | float = False
    ) -> models.Curated:
        """Withdraws a fact: it stays in the lists but is no longer used."""
        return await self._curate({"kind": "retire_fact", "fact": fact}, reason, id, wait)

    async def undo_merge(
        self, merge: str, *, reason: str | None = None, id: str | None = None, wait: bool | float = False
    ) -> models.Curated:
        """Undoes a merge: the two objects are separate again."""
        return await self._curate({"kind": "undo_merge", "merge": merge}, reason, id, wait)

    async def undo_label(
        self, topic: str, *, reason: str | None = None, id: str | None = None, wait: bool | float = False
    ) -> models.Curated:
        """Removes the label and the summary that a language model gave a topic."""
        return await self._curate({"kind": "undo_label", "topic": topic}, reason, id, wait)

    async def undo_summary(
        self, page: str, *, reason: str | None = None, id: str | None = None, wait: bool | float = False
    ) -> models.Curated:
        """Removes the summaries that a language model wrote of a page and its sections."""
        return await self._curate({"kind": "undo_summary", "page": page}, reason, id, wait)

    async def pin_unit(
        self, unit: str, *, reason: str | None = None, id: str | None = None, wait: bool | float = False
    ) -> models.Curated:
        """Ranks a unit before others of its kind."""
        return await self._curate({"kind": "pin_unit", "unit": unit}, reason, id, wait)

    async def forget_unit(
        self, unit: str, *, reason: str | None = None, id: str | None = None, wait: bool | float = False
    ) -> models.Curated:
        """Excludes a unit from search; its record stays."""
        return await self._curate({"kind": "forget_unit", "unit": unit}, reason, id, wait)

    async def undo(
        self, curation: str, *, reason: str | None = None, id: str | None = None, wait: bool | float = False
    ) -> models.Curated:
        """Undoes an earlier curation; an erasure cannot be undone."""
        return await self._curate({"kind": "undo", "curation": curation}, reason, id, wait)

    async def _curate(
        self, act: Mapping[str, Any], reason: str | None, id: str | None, wait: bool | float
    ) -> models.Curated:
        body = given(act=act, reason=reason, id=id)
        request = Request("POST", self._path("curations"), body=body, idempotency_key=str(uuid4()))
        done = await self._transport.fetch(models.Curated, request)
        await self._wait_if(done, wait)
        return done

    async def _one(self, kind: type[M], among: str, id: str, as_of: Time) -> M:
        return await self._transport.fetch(kind, Request("GET", self._path(among, id), {"as_of": as_of}))
