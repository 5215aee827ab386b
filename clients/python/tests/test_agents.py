"""The session inside the OpenAI Agents SDK, compared with the SDK's own session in SQLite."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from conftest import eventually
from running import Server

from mnemic import AsyncMnemic, Mnemic, NotFoundError, Space
from mnemic._fence import memory_block

agents = pytest.importorskip("mnemic.agents")

BLOCK = memory_block("Where does Ann live?", "Ann: I moved to Oslo.")
ITEMS: list[dict[str, Any]] = [
    {"role": "developer", "content": "Speak like a pirate."},
    {"role": "user", "content": "  I repotted the fern.\r\n\tIt had outgrown the pot.  "},
    {
        "role": "user",
        "content": [{"type": "input_text", "text": "Look:"}, {"type": "input_image", "image_url": "https://x/y"}],
    },
    {
        "type": "reasoning",
        "id": "r1",
        "summary": [{"type": "summary_text", "text": "Hm."}],
        "encrypted_content": "A" * 9_000,
    },
    {"type": "function_call", "id": "f1", "call_id": "c1", "name": "weather", "arguments": '{"city": "Oslo"}'},
    {"type": "function_call", "call_id": "c2", "name": "\u0007", "arguments": "{\u0000"},
    {"type": "function_call_output", "call_id": "c1", "output": "\u001b[1mSunny\u001b[0m, \ud800 12 degrees"},
    {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "Two parts"}, {"text": ""}]},
    {"type": "function_call_output", "call_id": "c3", "output": BLOCK},
    {"type": "function_call_output", "call_id": "c4", "output": "A long page. " * 3_000},
    {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "status": "completed",
        "content": [
            {
                "type": "output_text",
                "text": f"{BLOCK} It is sunny 🌱.",
                "annotations": [{"n": 1.5, "x": None}],
                "logprobs": [],
            },
            {"type": "output_text", "text": "Øre and øl.", "annotations": []},
            {"type": "refusal", "refusal": "No more."},
        ],
    },
    {"role": "user", "content": "Thanks."},
    {"role": "user", "content": "Thanks."},
    {"role": "user", "content": ""},
    {"type": "something_new", "item": {"texts": [["content"], 0, 1]}},
]


@asynccontextmanager
async def opened(server: Server, space: Space, name: str = "monday", **options: Any) -> AsyncIterator[Any]:
    async with AsyncMnemic(server.url) as memory:
        yield agents.MnemicSession(name, space=memory.space(space.name), **options)


def run(server: Server, space: Space, use: Callable[[Any], Awaitable[None]], **options: Any) -> None:
    async def main() -> None:
        async with opened(server, space, **options) as session:
            await use(session)

    asyncio.run(main())


def test_the_session_behaves_like_the_session_in_sqlite(server: Server, space: Space) -> None:
    from agents.memory import Session, SQLiteSession

    async def use(session: Any) -> None:
        assert isinstance(session, Session)
        ours: Any = session
        theirs: Any = SQLiteSession("monday")
        assert await ours.get_items() == await theirs.get_items() == []
        assert await ours.pop_item() is None
        for each in (ours, theirs):
            await each.add_items(ITEMS[:5])
            await each.add_items([])
            await each.add_items(ITEMS[5:])
        for limit in (None, 0, 1, 4, 100):
            assert await ours.get_items(limit) == await theirs.get_items(limit)
        assert await ours.get_items() == ITEMS
        for _ in range(4):
            assert await ours.pop_item() == await theirs.pop_item()
        assert await ours.get_items() == await theirs.get_items() == ITEMS[:-4]
        await ours.add_items([ITEMS[-4]])
        assert (await ours.get_items())[-1] == ITEMS[-4]
        await ours.clear_session()
        assert await ours.get_items() == []
        await ours.clear_session()
        theirs.close()

    run(server, space, use)


def test_a_session_of_a_space_that_does_not_exist_is_empty(server: Server, space: Space) -> None:
    space.delete()

    async def use(session: Any) -> None:
        assert await session.get_items() == []
        assert await session.pop_item() is None
        await session.clear_session()

    run(server, space, use)


def test_questions_find_statements_and_not_recalled_lines(server: Server, space: Space) -> None:
    run(server, space, lambda session: session.add_items(ITEMS), actor="Ann")
    assert "Ann: " in space.ask("What did Ann do with the fern?", tokens=64).pack.text
    records = list(space.records(session="monday"))
    assert {it.actor for it in records} == {"Ann", "assistant", "developer", "tool"}
    assert [it.tool.name for it in records if it.tool] == ["weather"]
    assert all("Oslo" not in it.text and "pirate" not in it.text for it in records)
    assert "Oslo." not in space.ask("Where does Ann live? Oslo?", tokens=4_000).pack.text


def test_popped_and_cleared_items_are_erased_permanently(server: Server, space: Space) -> None:
    space.remember({"id": "other", "text": "I play chess.", "session": "tuesday"}, wait=True)

    async def use(session: Any) -> None:
        await session.add_items(ITEMS[:2])
        popped = [it.id for it in space.records(session="monday")][-1]
        assert await session.pop_item() == ITEMS[1]
        with pytest.raises(NotFoundError):
            space.record(popped)
        await session.clear_session()

    run(server, space, use)
    assert [it.id for it in space.records()] == ["other"]
    erasures = eventually(lambda: list(space.erasures()))
    assert all(space.check_erasure(it.id).absent for it in erasures)


def test_records_of_other_programs_are_not_items_and_sessions_are_separate(server: Server, space: Space) -> None:
    space.remember("I play chess.", session="monday", wait=True)

    async def use(session: Any) -> None:
        other = agents.MnemicSession("tuesday", space=session.space)
        await asyncio.gather(session.add_items(ITEMS[:3]), other.add_items(ITEMS[3:6]))
        assert await session.get_items() == ITEMS[:2] + ITEMS[2:3]
        assert await other.get_items() == ITEMS[3:6]

    run(server, space, use)


def test_an_item_that_is_too_large_is_refused_and_nothing_is_stored(server: Server, space: Space) -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64," + "A" * 40_000}

    async def use(session: Any) -> None:
        with pytest.raises(ValueError, match=r"message item has 4\d+ bytes of JSON; at most 30000"):
            await session.add_items([ITEMS[1], {"role": "user", "content": [picture]}])
        assert await session.get_items() == []

    run(server, space, use)


def test_many_items_keep_their_order_and_the_settings_limit_them(server: Server, space: Space) -> None:
    from agents.memory import SessionSettings

    items = [{"role": "user", "content": f"Sentence number {index}."} for index in range(601)]

    async def use(session: Any) -> None:
        await session.add_items(items)
        assert await session.get_items() == items[-3:]
        assert await session.get_items(601) == items

    run(server, space, use, session_settings=SessionSettings(limit=3))


def test_an_agent_continues_its_session(server: Server, memory: Mnemic, space: Space) -> None:
    from agents import Agent, RunConfig, Runner, function_tool
    from agents.testing import ScriptedModel, assistant_message, function_call

    @function_tool
    def weather(city: str) -> str:
        return f"It is sunny in {city}."

    steps = [
        [function_call("weather", {"city": "Odense"}, call_id="c1")],
        [assistant_message("Sunny.")],
        [assistant_message("Yes.")],
    ]
    model = ScriptedModel(steps)
    agent = Agent(name="a", model=model, tools=[weather])

    async def use(session: Any) -> None:
        quiet = RunConfig(tracing_disabled=True)
        assert (await Runner.run(agent, "I moved to Odense.", session=session, run_config=quiet)).final_output == "Sunny."
        again = agents.MnemicSession("monday", space=session.space)
        assert (await Runner.run(agent, "Still there?", session=again, run_config=quiet)).final_output == "Yes."
        assert model.last_call is not None
        seen: Any = model.last_call.input
        assert [it.get("type", it.get("role")) for it in seen] == [
            "user", "function_call", "function_call_output", "message", "user",
        ]  # fmt: skip
        assert seen[2]["output"] == "It is sunny in Odense."
        assert (await session.get_items())[:-1] == seen

    run(server, space, use)
    assert "Odense" in memory.space(space.name).ask("Where do I live? Odense?").pack.text
