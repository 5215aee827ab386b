"""Tests of the filters for any agent."""

from __future__ import annotations

import json

from conftest import Agent


def test_a_remembered_text_is_recalled(agent: Agent) -> None:
    said = b"We always run the tests with make check.\n"
    ran = agent.run("remember.py", "--session", "monday", "--actor", "Ann", given=said)
    assert (ran.status, ran.out, ran.err) == (0, said, "")
    assert agent.texts(1) == [said.decode().strip()] and agent.records()[0]["actor"] == "Ann"
    agent.knows("I repotted the fern yesterday.")
    ran = agent.run("recall.py", given=b"How do we run the tests?")
    assert ran.out.startswith(b"The block below") and b"make check" in ran.out
    assert b"make check" in agent.run("recall.py", "--session", "tuesday", given=b"How do we run the tests?").out
    assert b"make check" not in agent.run("recall.py", "--session", "monday", given=b"How do we run the tests?").out


def test_empty_and_unrelated_messages_recall_nothing(agent: Agent) -> None:
    agent.knows("I repotted the fern yesterday.")
    for given in (b"", b" \n", b"Write me a poem about trains"):
        ran = agent.run("recall.py", given=given)
        assert (ran.status, ran.out, ran.err) == (0, b"", "")


def test_the_same_text_is_stored_once(agent: Agent) -> None:
    for _ in range(2):
        assert agent.run("remember.py", given=b"I like tea.").err == ""
    assert agent.texts(1) == ["I like tea."] and len(agent.records()) == 1


def test_messages_are_stored_line_by_line(agent: Agent) -> None:
    messages = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "I like tea."},
        {"role": "assistant", "content": [{"type": "text", "text": "Noted."}, {"type": "tool_use", "name": "x"}]},
        {"role": "tool", "content": "KEY=hunter2"},
    ]
    given = b"\n".join([b"not JSON", b"[" * 100_000, *(json.dumps(it).encode() for it in messages)])
    ran = agent.run("remember.py", "--messages", given=given)
    assert (ran.status, ran.out, ran.err) == (0, given, "")
    assert sorted(agent.texts(2)) == ["I like tea.", "Noted."]
    assert {it["text"]: it["actor"] for it in agent.records()} == {"I like tea.": "user", "Noted.": "assistant"}


def test_a_recalled_block_is_passed_on_but_not_stored(agent: Agent) -> None:
    agent.knows("We always run the tests with make check.")
    block = agent.run("recall.py", given=b"How do we run the tests?").out
    ran = agent.run("remember.py", given=block + b"How do we run the tests?")
    assert ran.out == block + b"How do we run the tests?" and ran.err == ""
    assert sorted(agent.texts(2)) == ["How do we run the tests?", "We always run the tests with make check."]
    ran = agent.run("remember.py", given=block)
    assert ran.out == block and ran.err == "" and len(agent.records()) == 2


def test_bytes_that_are_not_text_are_passed_on_unchanged(agent: Agent) -> None:
    given = bytes(range(256)) * 100
    assert agent.run("remember.py", given=given).out == given
