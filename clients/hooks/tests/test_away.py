"""Tests that hooks never stop the agent: without a server, with another kind of server, and with invalid settings."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from conftest import KEY, Agent, Ran, turn
from running import free_port

from memory import settings_of

PROMPT = "How do we run the tests?"


def hooks(agent: Agent) -> list[Ran]:
    """Runs every hook; asserts that each prints nothing on stdout, succeeds, and does not show the key."""
    agent.write(turn("user", "I moved to Oslo."))
    ran = [
        agent.hook("UserPromptSubmit", prompt=PROMPT),
        agent.hook("Stop"),
        agent.hook("SessionEnd", reason="other"),
        agent.run("recall.py", given=PROMPT.encode()),
        agent.run("remember.py", given=b""),
    ]
    passed = agent.run("remember.py", given=b"I moved to Oslo.")
    assert passed.out == b"I moved to Oslo." and passed.status == 0
    for it in ran:
        assert (it.status, it.out) == (0, b"") and KEY not in it.err and "Traceback" not in it.err, it
    return [*ran[:-1], passed]


@contextmanager
def listening(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Serves every connection with `answer`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_without_a_server_every_hook_ends_within_a_second(agent: Agent) -> None:
    agent.url = f"http://127.0.0.1:{free_port()}"
    for ran in hooks(agent):
        assert "cannot be reached" in ran.err and ran.seconds < 1.5


def test_a_hook_ends_after_a_second_if_the_server_accepts_no_connection(agent: Agent) -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for it in waiting:
            it.setblocking(False)
            it.connect_ex(full.getsockname())
        agent.url = f"http://127.0.0.1:{full.getsockname()[1]}"
        ran = agent.hook("UserPromptSubmit", prompt=PROMPT)
        assert (ran.status, ran.out) == (0, b"") and ran.err and ran.seconds < 1.8
        for it in waiting:
            it.close()


@pytest.mark.parametrize("drips", [False, True])
def test_a_hook_ends_if_the_server_does_not_answer(agent: Agent, drips: bool) -> None:
    def answer(connection: socket.socket) -> None:
        stop = threading.Event()
        try:
            while drips and not stop.wait(0.1):
                connection.sendall(b"H")
            stop.wait(20)
        except OSError:
            return

    with listening(answer) as agent.url:
        ran = agent.hook("UserPromptSubmit", prompt=PROMPT)
        assert (ran.status, ran.out) == (0, b"") and ran.err and ran.seconds < 3
        agent.write(turn("user", "I moved to Oslo."))
        ran = agent.hook("Stop")
        assert (ran.status, ran.out) == (0, b"") and ran.err and ran.seconds < 6.5


@pytest.mark.parametrize(
    "response",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n" + b"[" * 9_000_000,
        b'HTTP/1.1 500 Oh\r\nContent-Length: 17\r\n\r\n{"type":"\x1b[2J!!"}',
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"",
    ],
)
def test_responses_of_another_server_are_reported(agent: Agent, response: bytes) -> None:
    def answer(connection: socket.socket) -> None:
        try:
            connection.recv(1 << 16)
            connection.sendall(response)
            connection.close()
        except OSError:
            return

    with listening(answer) as agent.url:
        for ran in hooks(agent):
            assert ran.err.startswith("mnemic: ") and "\x1b" not in ran.err


def test_redirects_do_not_receive_the_key(agent: Agent) -> None:
    seen: list[bytes] = []

    def elsewhere(connection: socket.socket) -> None:
        seen.append(connection.recv(1 << 16))
        connection.close()

    with listening(elsewhere) as other:

        def answer(connection: socket.socket) -> None:
            assert KEY.encode() in connection.recv(1 << 16)
            connection.sendall(f"HTTP/1.1 307 Go\r\nLocation: {other}/\r\nContent-Length: 0\r\n\r\n".encode())
            connection.close()

        with listening(answer) as agent.url:
            assert all("307" in ran.err for ran in hooks(agent))
    assert not seen


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("MNEMIC_URL", "http://ann:hunter2@127.0.0.1:1", "MNEMIC_URL"),
        ("MNEMIC_URL", "ftp://hunter2", "MNEMIC_URL"),
        ("MNEMIC_URL", "http://127.0.0.1:hunter2", "MNEMIC_URL"),
        ("MNEMIC_URL", "http://127.0.0.1/a hunter2", "MNEMIC_URL"),
        ("MNEMIC_URL", "hunter2", "MNEMIC_URL"),
        ("MNEMIC_KEY", "hunter2\r\nX-A: b", "MNEMIC_KEY"),
        ("MNEMIC_KEY", "hunter2é", "MNEMIC_KEY"),
        ("MNEMIC_SPACE", "", "MNEMIC_SPACE"),
        ("MNEMIC_SPACE", "..", "MNEMIC_SPACE"),
    ],
)
def test_invalid_settings_are_named_without_their_values(agent: Agent, name: str, value: str, says: str) -> None:
    agent.settings[name] = value
    for ran in hooks(agent):
        assert says in ran.err and "hunter2" not in ran.err


@pytest.mark.parametrize(
    ("value", "host", "port", "prefix"),
    [
        ("127.0.0.1:7500", "127.0.0.1", 7500, ""),
        ("memory:7500/base/", "memory", 7500, "/base"),
        ("[::1]:7500", "::1", 7500, ""),
        ("http://memory", "memory", None, ""),
        ("", "127.0.0.1", 7077, ""),
    ],
)
def test_the_scheme_may_be_omitted_before_a_host_and_a_port(value: str, host: str, port: int | None, prefix: str) -> None:
    settings = settings_of({"MNEMIC_URL": value, "MNEMIC_SPACE": "ann"})
    assert (settings.secure, settings.host, settings.port, settings.prefix) == (False, host, port, prefix)


def test_a_wrong_key_and_an_invalid_space_are_refused(agent: Agent) -> None:
    agent.settings["MNEMIC_KEY"] = "wrong-hunter2"
    assert all("401" in ran.err and "hunter2" not in ran.err for ran in hooks(agent))
    agent.settings.clear()
    agent.settings["MNEMIC_SPACE"] = "../admin?x=#"
    assert all("refuses" in ran.err for ran in hooks(agent))
