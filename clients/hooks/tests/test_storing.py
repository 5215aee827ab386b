"""Tests which parts of a transcript of Claude Code are stored."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from uuid import uuid4

import pytest
from conftest import Agent, turn

from transcript import LINE_BYTES_MAX, MemoryFailure, Progress, lines_of, store_new_turns


def test_turns_are_stored_with_their_speaker_and_time(agent: Agent) -> None:
    agent.settings["MNEMIC_ACTOR"] = "Ann"
    agent.write(turn("user", "I moved to Oslo.", 1), turn("assistant", "Noted.", 2))
    ran = agent.hook("Stop")
    assert (ran.status, ran.out, ran.err) == (0, b"", "")
    assert agent.texts(2) == ["I moved to Oslo.", "Noted."]
    records = agent.records()
    assert [it["actor"] for it in records] == ["Ann", "assistant"]
    assert records[0]["observed_at"].startswith("2026-05-07T12:00:01")
    assert {it["metadata"]["agent_session"] for it in records} == {f"claude-code-{agent.session}"}


def test_each_turn_is_stored_once_with_and_without_saved_progress(agent: Agent) -> None:
    agent.write(turn("user", "I moved to Oslo.", 1))
    assert agent.hook("Stop").err == "" and agent.hook("Stop").err == ""
    agent.write(turn("assistant", "Noted.", 2))
    agent.hook("SessionEnd", reason="other")
    assert agent.texts(2) == ["I moved to Oslo.", "Noted."]
    shutil.rmtree(agent.folder / "state")
    agent.write(turn("user", "Thanks.", 3))
    assert agent.hook("Stop").err == ""
    assert agent.texts(3) == ["I moved to Oslo.", "Noted.", "Thanks."]


def test_a_copied_session_stores_only_its_new_turns(agent: Agent) -> None:
    agent.write(turn("user", "I moved to Oslo.", 1))
    agent.hook("Stop")
    agent.texts(1)
    agent.session = "resumed"
    shutil.rmtree(agent.folder / "state")
    agent.write(turn("user", "I have a cat.", 2))
    assert agent.hook("Stop").err == ""
    assert agent.texts(2) == ["I moved to Oslo.", "I have a cat."]


def test_a_copied_session_of_many_turns_stores_only_its_new_turns(agent: Agent) -> None:
    agent.write(*(turn("user", f"copied {at}", at) for at in range(100)))
    assert agent.hook("Stop").err == ""
    agent.texts(100)
    agent.session = "resumed"
    shutil.rmtree(agent.folder / "state")
    assert agent.hook("Stop").err == ""
    agent.write(turn("user", "new", 100))
    assert agent.hook("Stop").err == ""
    assert agent.texts(101)[-1] == "new"
    agent.session = "forked"
    shutil.rmtree(agent.folder / "state")
    agent.write(turn("user", "newer", 101))
    assert agent.hook("Stop").err == ""
    assert agent.texts(102)[-1] == "newer"
    assert len(agent.records()) == 102


def test_a_batch_of_only_invalid_turns_is_reported_and_the_next_turns_are_stored(agent: Agent) -> None:
    agent.write(*(turn("user", f"invalid {at}", timestamp="2026-99-99T99:99:99Z") for at in range(100)))
    agent.write(turn("user", "valid", 1))
    assert agent.hook("Stop").err == "mnemic: the server left out 100 of 100 turns\n"
    assert agent.texts(1) == ["valid"]
    assert agent.hook("Stop").err == ""


def test_progress_is_saved_in_a_folder_that_only_its_owner_can_read(agent: Agent) -> None:
    agent.write(turn("user", "I moved to Oslo.", 1))
    agent.hook("Stop")
    agent.texts(1)
    progress = list((agent.folder / "state" / "mnemic" / "hooks").iterdir())
    assert len(progress) == 1 and progress[0].parent.stat().st_mode & 0o777 == 0o700
    assert json.loads(progress[0].read_text()) == {"offset": agent.transcript().stat().st_size}


def test_only_the_words_of_people_and_agents_are_stored(agent: Agent) -> None:
    parts = [{"type": "text", "text": "Look at this."}, {"type": "image", "source": {"data": "AAAA"}}]
    thought = {"type": "thinking", "thinking": "secret thought"}
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "cat .env"}}
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "KEY=hunter2"}]
    agent.write(
        {"type": "summary", "summary": "A summary.", "leafUuid": "x"},
        {"type": "system", "content": "A notice.", "uuid": "y"},
        turn("user", parts, 1),
        turn("user", result, 2, toolUseResult={"stdout": "KEY=hunter2"}),
        {**turn("assistant", "", 3), "message": {"role": "assistant", "content": [thought, call]}},
        turn("user", "from a subagent", 4, isSidechain=True),
        turn("user", "Caveat: ...", 5, isMeta=True),
        turn("user", "This session is being continued ...", 6, isCompactSummary=True),
        turn("assistant", "API Error: 529", 7, isApiErrorMessage=True),
        turn("user", "<command-name>/clear</command-name>", 8),
        turn("user", "[Request interrupted by user]", 9),
        turn("user", "<system-reminder>Do not tell.</system-reminder>I like tea.", 10),
        turn("user", "<system-reminder>cut off", 11),
    )
    agent.hook("Stop")
    assert agent.texts(2) == ["Look at this.", "I like tea."]


def test_recalled_lines_are_not_stored_again(agent: Agent) -> None:
    agent.knows("We always run the tests with make check.")
    context = agent.hook("UserPromptSubmit", prompt="How do we run the tests?").context()
    assert "make check" in context
    cut = context[: context.rindex("</")]
    agent.write(
        turn("user", context, 1), turn("user", f"You said: {context}\nIs that so?", 2), turn("assistant", f"Yes. {cut}", 3)
    )
    assert agent.hook("Stop").err == ""
    assert agent.texts(3)[:2] == ["You said: \nIs that so?", "Yes."]
    assert len(agent.records()) == 3


def test_hostile_lines_are_left_out_and_the_others_are_stored(agent: Agent) -> None:
    hostile = [
        b"", b"null", b"7", b"[]", b'"text"', b"{", b"\xff\xfe\x00", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 10_000,
        {"type": "user"},
        {"type": ["user"], "message": {"content": "x"}},
        {"type": "user", "message": {"role": "user", "content": {"type": "text", "text": "x"}}},
        {"type": "user", "message": {"role": "user", "content": [None, 7, {"type": "text", "text": ["x"]}]}},
        {"type": "user", "message": "x"},
        turn("user", "<system-reminder>" * 400_000),
        turn("user", "<mnemic-memory 0123456789abcdef>" * 200_000),
    ]  # fmt: skip
    agent.write(
        *hostile,
        turn("user", "one \ud800 \x00 \x1b[2J", 1),
        turn("user", "two", 2, uuid={"a": ["\ud800"]}),
        turn("user", "three", 3, timestamp="yesterday"),
        turn("user", "four", 4, timestamp="2026-99-99T99:99:99Z"),
        turn("user", "</mnemic-memory 0123456789abcdef>five", 5),
        turn("user", 'six", "actor": "system', 6, session_id="../..", sessionId="x" * 10_000),
    )
    ran = agent.hook("Stop")
    assert ran.status == 0 and ran.seconds < 6 and "Traceback" not in ran.err
    # The server rejects the turn with an invalid time and accepts the others.
    assert ran.err == "mnemic: the server left out 1 of 6 turns\n"
    assert set(agent.texts(5)) == {"one \ufffd    [2J", "two", "three", "five", 'six", "actor": "system'}
    assert {it["actor"] for it in agent.records()} == {"user"}


def test_a_line_that_is_still_being_written_waits_for_the_next_hook(agent: Agent) -> None:
    agent.write(turn("user", "one", 1))
    whole = json.dumps(turn("user", "two", 2)).encode()
    with open(agent.transcript(), "ab") as file:
        file.write(whole[:40])
    agent.hook("Stop")
    assert agent.texts(1) == ["one"]
    agent.write(whole[40:])
    agent.hook("Stop")
    assert agent.texts(2) == ["one", "two"]


def test_a_replaced_transcript_is_read_from_its_beginning(agent: Agent) -> None:
    agent.write(*(turn("user", f"number {at}", at) for at in range(5)))
    agent.hook("Stop")
    agent.transcript().write_bytes(json.dumps(turn("user", "another file", 9)).encode() + b"\n")
    agent.hook("Stop")
    assert "another file" in agent.texts(6)


def test_a_huge_transcript_is_stored_in_bounded_steps(agent: Agent) -> None:
    with open(agent.transcript(), "wb") as file:
        file.write(json.dumps(turn("user", "the first", 0)).encode() + b"\n")
        # A picture of 100 MB and the output of tools, 200 MB in all.
        file.write(b'{"type": "user", "message": {"content": "' + b"A" * (100 << 20) + b'"}}\n')
        for _ in range(100):
            file.write(json.dumps({"type": "attachment", "data": "B" * (1 << 20)}).encode() + b"\n")
        for at in range(450):
            file.write(json.dumps(turn("user", f"turn {at}", at)).encode() + b"\n")
    for _ in range(10):
        ran = agent.hook("Stop")
        assert ran.status == 0 and ran.seconds < 10
        if not ran.err:
            break
    assert {"the first", "turn 0", "turn 449"} <= set(agent.texts(451))
    assert len(agent.records()) == 451


def test_lines_longer_than_the_limit_are_skipped(tmp_path: Path) -> None:
    file = tmp_path / "transcript"
    file.write_bytes(b"x" * (LINE_BYTES_MAX * 2 + 7) + b"\n{}\n" + b"y" * (LINE_BYTES_MAX * 2))
    found = list(lines_of(file, 0))
    assert [it.entry for it in found] == [None, {}] and found[-1].end == LINE_BYTES_MAX * 2 + 11


def test_turns_that_the_server_refused_are_sent_by_the_next_hook(agent: Agent) -> None:
    agent.write(turn("user", "I moved to Oslo.", 1))
    agent.settings["MNEMIC_KEY"] = "f" * 32
    assert "401" in agent.hook("Stop").err
    agent.settings.clear()
    assert agent.hook("Stop").err == ""
    assert agent.texts(1) == ["I moved to Oslo."]


def test_transcripts_that_are_not_files_are_refused(agent: Agent) -> None:
    os.mkfifo(agent.folder / "pipe")
    for path in (str(agent.folder / "pipe"), "/dev/zero", str(agent.folder), str(agent.folder / "missing"), "a\0b"):
        ran = agent.hook("Stop", transcript_path=path)
        assert ran.status == 0 and ran.out == b"" and ran.err.startswith("mnemic: the transcript "), ran


def test_turns_are_stored_even_if_the_progress_cannot_be_saved(agent: Agent) -> None:
    (agent.folder / "state").write_text("a file where a folder should be")
    agent.write(turn("user", "I moved to Oslo.", 1))
    assert "cannot save the progress" in agent.hook("Stop").err
    assert agent.texts(1) == ["I moved to Oslo."]


def test_old_progress_is_removed(tmp_path: Path) -> None:
    for name, age in (("old.json", 91), ("new.json", 89)):
        (tmp_path / name).write_text("{}")
        moment = time.time() - age * 24 * 3600
        os.utime(tmp_path / name, (moment, moment))
    Progress(tmp_path, tmp_path / "transcript", "here").remove_old()
    assert [it.name for it in tmp_path.iterdir()] == ["new.json"]


def test_the_next_hook_continues_after_a_hook_without_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transcript = tmp_path / "transcript"
    transcript.write_text("".join(json.dumps({"text": str(at)}) + "\n[]\n" for at in range(3)))
    progress = Progress(tmp_path / "state", transcript, "here")
    sent: list[dict[str, str]] = []
    monkeypatch.setattr("transcript.READ_SECONDS", -1.0)
    for _ in range(6):
        store_new_turns(transcript, progress, lambda entry: entry, sent.extend)
    assert [it["text"] for it in sent] == ["0", "1", "2"]


def test_a_failed_batch_keeps_the_progress_of_earlier_batches(tmp_path: Path) -> None:
    transcript = tmp_path / "transcript"
    transcript.write_text("".join(json.dumps({"text": f"{at} {uuid4()}"}) + "\n" for at in range(250)))
    progress = Progress(tmp_path / "state", transcript, "here")
    sent: list[list[dict[str, str]]] = []

    def send(batch: list[dict[str, str]]) -> None:
        if len(sent) == 1:
            raise MemoryFailure("away")
        sent.append(batch)

    with pytest.raises(MemoryFailure):
        store_new_turns(transcript, progress, lambda entry: entry, send)
    assert len(sent[0]) == 100
    rest: list[dict[str, str]] = []
    store_new_turns(transcript, progress, lambda entry: entry, rest.extend)
    assert [it["text"].split()[0] for it in rest] == [str(at) for at in range(100, 250)]
