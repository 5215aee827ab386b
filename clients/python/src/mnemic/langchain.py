"""A LangChain retriever over a space. Needs `pip install 'mnemic[langchain]'`."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field

from mnemic import models
from mnemic._async.space import AsyncSpace
from mnemic._fence import question_of
from mnemic._sync.space import Space


class MnemicRetriever(BaseRetriever):
    """Finds the evidence for a question: dated lines within a token budget, the best first.

    >>> MnemicRetriever(space=memory.space("ann"), tokens=512).invoke("When did Ann repot the fern?")

    Each line is a document. Its metadata has the source records, the speaker, the time, and the verdict on the whole
    evidence. `ainvoke` uses `async_space` if it is set; otherwise it runs the sync space in a thread.

    The question is the end of the query, at most 2,000 characters, without characters that the server refuses. A query
    without words finds nothing.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    space: Space
    async_space: AsyncSpace | None = None
    tokens: int = 512
    # Further options of `Space.ask`: `filter`, `strategy`, `as_of`, `budget`.
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        question = question_of(query)
        if not question:
            return []
        return documents(self.space.ask(question, tokens=self.tokens, answer=False, **self.options))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        if self.async_space is None:
            return await super()._aget_relevant_documents(query, run_manager=run_manager)
        question = question_of(query)
        if not question:
            return []
        return documents(await self.async_space.ask(question, tokens=self.tokens, answer=False, **self.options))


def documents(found: models.QueryResponse) -> list[Document]:
    """Returns the lines of the evidence as documents, in the same order."""
    return [
        Document(
            id=item.unit,
            page_content=item.text,
            metadata={
                "actor": item.actor,
                "observed_at": item.observed_at.isoformat(),
                "probability": item.probability,
                "records": item.external_ids,
                "session": item.session,
                "verdict": found.verdict.status,
            },
        )
        for item in found.pack.items
    ]
