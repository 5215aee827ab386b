"""The retriever inside LangChain's own machinery."""

from __future__ import annotations

import asyncio

import pytest
from running import Server

from mnemic import AsyncMnemic, Space

langchain = pytest.importorskip("mnemic.langchain")


def test_a_chain_gets_the_evidence(space: Space) -> None:
    from langchain_core.runnables import RunnableLambda

    space.remember(
        [{"id": "m1", "text": "I repotted the fern."}, {"id": "m2", "text": "I play chess."}], actor="Ann", wait=True
    )
    retriever = langchain.MnemicRetriever(space=space, tokens=64)
    chain = retriever | RunnableLambda(lambda found: found)
    first = chain.invoke("What did Ann do with the fern?")[0]
    assert "fern" in first.page_content
    assert first.metadata["records"] == ["m1"]
    assert first.metadata["actor"] == "Ann"
    narrowed = langchain.MnemicRetriever(space=space, options={"filter": {"actors": ["Bo"]}})
    assert narrowed.invoke("What did Ann do with the fern?") == []


def test_a_query_that_the_server_would_refuse_is_sent_in_another_form(server: Server, space: Space) -> None:
    space.remember("I repotted the fern.", actor="Ann", wait=True)
    retriever = langchain.MnemicRetriever(space=space)
    query = "Nothing of this matters. " * 1_000 + "What about\x00 the fern?\x1b[0m"
    assert "fern" in retriever.invoke(query)[0].page_content
    assert retriever.invoke(" \x00\n") == []

    async def main() -> None:
        async with AsyncMnemic(server.url) as memory:
            both = langchain.MnemicRetriever(space=space, async_space=memory.space(space.name))
            assert "fern" in (await both.ainvoke(query))[0].page_content
            assert await both.ainvoke("") == []

    asyncio.run(main())


def test_the_retriever_is_also_asynchronous(server: Server, space: Space) -> None:
    space.remember("I repotted the fern.", actor="Ann", wait=True)

    async def main() -> None:
        async with AsyncMnemic(server.url) as memory:
            both = langchain.MnemicRetriever(space=space, async_space=memory.space(space.name))
            assert "fern" in (await both.ainvoke("What about the fern?"))[0].page_content
        threaded = langchain.MnemicRetriever(space=space)
        assert "fern" in (await threaded.ainvoke("What about the fern?"))[0].page_content

    asyncio.run(main())
