"""The memory inside LlamaIndex's own agents and chat engines."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from conftest import eventually
from running import Server

from mnemic import AsyncMnemic, Space

llamaindex = pytest.importorskip("mnemic.llamaindex")

HAZELNUTS = "My sister Oona is allergic to hazelnuts."
QUESTION = "What is Oona allergic to?"


def message(role: str, text: str) -> Any:
    from llama_index.core.base.llms.types import ChatMessage

    return ChatMessage(role=role, content=text)


def memory_of(space: Space, *, session: str = "monday", kind: Any = None, token_limit: int = 30_000, **options: Any) -> Any:
    from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

    # Each history has its own table: histories in memory share one engine by default.
    store = SQLAlchemyChatStore(table_name=f"t{uuid4().hex}")
    block = llamaindex.MnemicMemoryBlock(space=space, **options)
    kind = kind or llamaindex.MnemicMemory
    return kind.from_defaults(session_id=session, memory_blocks=[block], chat_store=store, token_limit=token_limit)


def stored(space: Space) -> list[tuple[str, str, str]]:
    return [(it.actor, it.session, it.text) for it in space.records()]


def test_a_later_session_gets_the_evidence_for_the_last_message(space: Space) -> None:
    first = memory_of(space, actor="Ann")
    first.put(message("user", HAZELNUTS))
    first.put_messages([message("assistant", "Noted."), message("tool", "3 rows"), message("system", "Be kind.")])
    assert eventually(lambda: len(stored(space)) == 2)
    assert stored(space) == [("Ann", "monday", HAZELNUTS), ("assistant", "monday", "Noted.")]
    later = memory_of(space, session="tuesday", tokens=64)
    assert later.get() == []
    later.put(message("user", QUESTION))
    shown = later.get()
    assert [it.role for it in shown] == ["system", "user"]
    assert "Oona is allergic to hazelnuts" in shown[0].content
    assert "<mnemic-memory " in shown[0].content and "never instructions" in shown[0].content
    assert shown[1].content == QUESTION
    assert later.get(input="Who plays chess?")[-1].content == QUESTION


def test_evidence_excludes_messages_in_the_history(space: Space) -> None:
    memory = memory_of(space)
    memory.put_messages([message("user", HAZELNUTS), message("assistant", "Noted."), message("user", QUESTION)])
    assert eventually(lambda: "hazelnuts" in space.ask(QUESTION).pack.text)
    assert [it.role for it in memory.get()] == ["user", "assistant", "user"]
    narrowed = memory_of(
        space, session="tuesday", options={"filter": {"actors": ["Bo"], "metadata": {"key": "x", "exists": False}}}
    )
    narrowed.put(message("user", QUESTION))
    assert [it.role for it in narrowed.get()] == ["user"]
    wide = memory_of(space, session="tuesday", options={"filter": {"metadata": {"key": "x", "exists": False}}})
    assert "hazelnuts" in wide.get(input=QUESTION)[0].content


def test_recalled_lines_are_not_stored_again(space: Space) -> None:
    space.remember(HAZELNUTS, actor="Ann", wait=True)
    memory = memory_of(space)
    memory.put(message("user", QUESTION))
    shown = memory.get()[0].content
    assert "hazelnuts" in shown
    end = shown.index(">", shown.index("</mnemic-memory")) + 1
    block = shown[shown.index("The block below") : end]
    memory.put_messages([message("assistant", block), message("assistant", f"Of those nuts. {block}")])
    assert eventually(lambda: len(stored(space)) == 3)
    texts = [text for _, _, text in stored(space)]
    assert sum("hazelnuts" in it for it in texts) == 1
    assert texts[-1] == "Of those nuts."


def test_the_same_message_of_a_session_is_stored_once(space: Space) -> None:
    memory = memory_of(space)
    memory.put_messages([message("user", HAZELNUTS), message("user", HAZELNUTS)])
    memory.put(message("user", HAZELNUTS))
    memory_of(space, session="tuesday").put(message("user", HAZELNUTS))
    assert eventually(lambda: len(stored(space)) == 2)
    assert [session for _, session, _ in stored(space)] == ["monday", "tuesday"]


def test_a_plain_memory_stores_messages_that_leave_its_history(space: Space) -> None:
    from llama_index.core.memory import Memory

    memory = memory_of(space, kind=Memory, token_limit=100)
    turns = [("user" if index % 2 == 0 else "assistant", f"{index} " + "word " * 20) for index in range(8)]
    memory.put_messages([message("user", HAZELNUTS), message("assistant", "Noted.")])
    assert stored(space) == []
    memory.put_messages([message(*turn) for turn in turns])
    assert eventually(lambda: HAZELNUTS in [text for _, _, text in stored(space)])
    assert all(it.additional_kwargs == {} for it in memory.get_all())
    assert len(stored(space)) < 10
    memory.put(message("user", QUESTION))
    assert "hazelnuts" in memory.get()[0].content


def test_the_memory_is_also_asynchronous(server: Server, space: Space) -> None:
    async def main() -> None:
        async with AsyncMnemic(server.url) as client:
            both = client.space(space.name)
            await memory_of(space, async_space=both).aput(message("user", HAZELNUTS))
            accepted = await both.remember("I play chess.", wait=True)
            assert accepted.items
            choices: list[dict[str, Any]] = [{"async_space": both}, {}]
            for options in choices:
                later = memory_of(space, session="tuesday", **options)
                await later.aput_messages([message("user", QUESTION)])
                assert "hazelnuts" in (await later.aget())[0].content

    asyncio.run(main())


def test_refused_characters_are_removed_and_long_texts_are_truncated(space: Space) -> None:
    memory = memory_of(space)
    memory.put_messages([message("user", "a\u0000b"), message("user", " \u0007 ")])
    assert eventually(lambda: len(stored(space)) == 1)
    assert stored(space) == [("user", "monday", "ab")]
    assert memory.get(input="a?")
    (record,) = llamaindex.MnemicMemoryBlock(space=space)._records([message("user", "word " * 60_000)], "monday")
    assert len(record["text"]) == 250_000


def test_an_agent_remembers_between_sessions(space: Space) -> None:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.llms.mock import MockFunctionCallingLLM

    prompts: list[list[Any]] = []

    def reply(messages: Any, **_: Any) -> Any:
        prompts.append(list(messages))
        return message("assistant", "Noted.")

    async def main() -> None:
        agent = FunctionAgent(llm=MockFunctionCallingLLM(response_generator=reply), tools=[], streaming=False)
        await agent.run(HAZELNUTS, memory=memory_of(space))
        await asyncio.to_thread(eventually, lambda: "hazelnuts" in space.ask(QUESTION).pack.text)
        await agent.run(QUESTION, memory=memory_of(space, session="tuesday"))

    asyncio.run(main())
    assert "hazelnuts" in str(prompts[-1][0].content)
    assert eventually(lambda: len(stored(space)) == 4)
    assert stored(space)[0] == ("user", "monday", HAZELNUTS)
