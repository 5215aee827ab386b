"""A memory provider for agent-memory-benchmark (`memory_bench`).

Settings in the environment: `MNEMIC_URL`, `MNEMIC_KEY`, and `MNEMIC_TOKENS`, the budget of the evidence (2048).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from memory_bench.memory.base import MemoryProvider
from memory_bench.models import Document
from mnemic import Mnemic, UnknownSpaceError, models

from mnemic_benchmarks import memory

PREFIX = "amb"
# User of the documents that name no user.
NOBODY = "default"


def records_of(document: Any, number: int) -> list[dict[str, Any]]:
    """Returns a document as records of one session: its messages, or else its text."""
    turns = document.messages or [{"role": "user", "content": document.content}]
    return memory.records(turns, f"d{number}", memory.moment(document.timestamp))


class MnemicProvider(MemoryProvider):  # type: ignore[misc]
    """A space for each user of the benchmark."""

    name = "mnemic"
    description = "Mnemic: records kept word for word; evidence chosen inside a budget of tokens, without a language model."
    kind = "local"

    def __init__(self) -> None:
        self.memory = Mnemic()
        self.tokens = int(os.environ.get("MNEMIC_TOKENS", "2048"))
        # Documents stored so far, by their number. The ids of the benchmark do not reach the server.
        self.ids: list[str] = []

    def prepare(self, store_dir: Path, unit_ids: set[str] | None = None, reset: bool = True) -> None:
        """Deletes the data that an earlier run stored for these users."""
        if reset:
            self.ids.clear()
            for user in unit_ids or {NOBODY}:
                with suppress(UnknownSpaceError):
                    self.memory.space(self._space(user)).delete()

    def ingest(self, documents: list[Document]) -> None:
        by_user: dict[str, list[dict[str, Any]]] = {}
        for document in documents:
            made = records_of(document, len(self.ids))
            self.ids.append(document.id)
            by_user.setdefault(document.user_id or NOBODY, []).extend(made)
        for user, made in by_user.items():
            memory.store(self.memory, self._space(user), made)

    def retrieve(
        self, query: str, k: int = 10, user_id: str | None = None, query_timestamp: str | None = None
    ) -> tuple[list[Document], dict[str, Any] | None]:
        """Returns the lines of the evidence as documents, at most `k`."""
        found = self._ask(query, user_id, query_timestamp)
        items = found.pack.items[:k]
        documents = [Document(id=self._document(it), content=it.text, user_id=user_id) for it in items]
        return documents, found.model_dump(mode="json")

    def direct_answer(
        self, query: str, user_id: str | None = None, query_timestamp: str | None = None
    ) -> tuple[str, str, dict[str, Any] | None]:
        """Returns the short answer, or the refusal as a sentence, together with the evidence."""
        found = self._ask(query, user_id, query_timestamp)
        return memory.answer_in_words(found), found.pack.text, found.model_dump(mode="json")

    def _ask(self, query: str, user: str | None, at: str | None) -> models.QueryResponse:
        space = self.memory.create_space(self._space(user or NOBODY))
        return space.ask(query, tokens=self.tokens, asked_at=memory.moment(at))

    def _document(self, item: models.PackItem) -> str:
        """Returns the benchmark's id of the document that a line comes from."""
        number = item.external_ids[0].split("-")[0].removeprefix("d") if item.external_ids else ""
        return self.ids[int(number)] if number.isdigit() and int(number) < len(self.ids) else item.unit

    def _space(self, user: str) -> str:
        return memory.space_name(PREFIX, user)
