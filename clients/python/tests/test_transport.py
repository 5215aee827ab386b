"""Tests of retries, errors and keys: nothing is lost, nothing is stored twice, and each error has its own class."""

from __future__ import annotations

import asyncio
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from conftest import KEYS, eventually
from running import ROOT, Server, free_port, start

from mnemic import (
    AsyncMnemic,
    ForbiddenError,
    IdempotencyKeyReusedError,
    Mnemic,
    NotFoundError,
    Space,
    UnauthorizedError,
    UnavailableError,
    UnexpectedResponseError,
    UnknownSpaceError,
    UnreachableError,
    WatermarkError,
)
from mnemic._request import moment, path
from mnemic.errors import BY_TYPE, error_of


class Lossy(httpx.BaseTransport):
    """Forwards requests to the server, and loses the first responses."""

    def __init__(self, losses: int) -> None:
        self.inner = httpx.HTTPTransport()
        self.losses = losses
        self.sent: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        response = self.inner.handle_request(request)
        if len(self.sent) > self.losses:
            return response
        response.read()
        raise httpx.ReadError("the connection was lost", request=request)


class Slow(Lossy):
    """Responds only after the timeout."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        time.sleep(0.2)
        raise httpx.ReadTimeout("too slow", request=request)


class Busy(Lossy):
    """Answers the first requests like a proxy whose server is unreachable."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        if len(self.sent) > self.losses:
            return self.inner.handle_request(request)
        return httpx.Response(503, text="away", headers={"retry-after": "0"}, request=request)


def through(server: Server, transport: Lossy, space: Space, retries: int = 4) -> Space:
    return Mnemic(server.url, retries=retries, http=httpx.Client(transport=transport)).space(space.name)


def test_a_write_whose_response_was_lost_is_stored_once(server: Server, space: Space) -> None:
    lossy = Lossy(2)
    accepted = through(server, lossy, space).remember(["Yes.", "Yes."])
    space.wait(accepted)
    assert len(lossy.sent) == 3
    assert len({it.headers["idempotency-key"] for it in lossy.sent}) == 1
    assert len(accepted.items) == 2
    assert space.info().records == 2


def test_without_retries_the_loss_is_an_error(server: Server, space: Space) -> None:
    with pytest.raises(UnreachableError, match="did not answer"):
        through(server, Lossy(1), space, retries=0).remember("Yes.")
    assert eventually(lambda: space.info().records) == 1


def test_two_writes_of_the_same_words_are_two_records(space: Space) -> None:
    space.remember("Yes.")
    space.remember("Yes.", wait=True)
    assert eventually(lambda: space.info().records == 2)


def test_a_recall_whose_response_was_lost_is_not_sent_again(server: Server, space: Space) -> None:
    lossy = Lossy(1)
    with pytest.raises(UnreachableError):
        through(server, lossy, space).recall("Good morning!", session="s")
    assert len(lossy.sent) == 1
    lossy = Lossy(1)
    through(server, lossy, space).info()
    assert len(lossy.sent) == 2


def test_a_server_that_is_busy_is_asked_again(server: Server, space: Space) -> None:
    busy = Busy(2)
    assert through(server, busy, space).info().space == space.name
    assert len(busy.sent) == 3
    with pytest.raises(UnavailableError):
        through(server, Busy(9), space, retries=1).info()


def problem(kind: str, status: int = 404) -> httpx.Response:
    body = {"type": f"urn:mnemic:problem:{kind}", "title": kind, "status": status, "detail": "there is none"}
    return httpx.Response(status, json=body)


def scripted(*replies: httpx.Response | Exception) -> Mnemic:
    """Returns a client of a server that gives these replies, one after the other."""
    left = iter(replies)

    def answer(request: httpx.Request) -> httpx.Response:
        reply = next(left)
        if isinstance(reply, Exception):
            raise reply
        return reply

    return Mnemic("http://memory", http=httpx.Client(transport=httpx.MockTransport(answer)))


LOST = httpx.ReadError("the connection was lost")


@pytest.mark.parametrize("first", [LOST, httpx.Response(502, text="away"), httpx.Response(503, text="away")])
def test_an_erasure_whose_response_was_lost_is_not_an_error(first: httpx.Response | Exception) -> None:
    gone = problem("not-found")
    assert scripted(first, gone).space("ann").erase_record("fern", wait=True) is None
    assert scripted(first, gone).space("ann").erase_session("old", wait=True) == 0
    scripted(first, gone).discard_dead_letter("letter")


def test_a_session_is_counted_up_to_a_lost_response() -> None:
    part = {"erasure": "e", "session": "s", "records": 10, "watermark": "w", "more": True}
    written = {"watermark": "w", "written": True, "backlog": 0, "deriving": 0, "erasing": False}
    memory = scripted(httpx.Response(202, json=part), httpx.Response(200, json=written), LOST, problem("not-found"))
    assert memory.space("ann").erase_session("old") == 10


@pytest.mark.parametrize(
    "replies",
    [
        [problem("not-found")],
        [httpx.ConnectError("refused"), problem("not-found")],
        [problem("exhausted", 429), problem("not-found")],
        [LOST, problem("unknown-space")],
        [LOST, httpx.Response(404, text="nginx")],
    ],
)
def test_an_erasure_that_no_earlier_request_can_have_done_is_an_error(replies: list[httpx.Response | Exception]) -> None:
    with pytest.raises(NotFoundError):
        scripted(*replies).space("ann").erase_record("fern")


def test_a_lookup_is_an_error_if_the_object_is_not_found_after_a_lost_response() -> None:
    with pytest.raises(NotFoundError):
        scripted(LOST, problem("not-found")).space("ann").record("fern")


def test_a_client_outlives_a_kill_of_the_server(tmp_path: Path) -> None:
    port = free_port()
    first = start(tmp_path, port)
    with Mnemic(first.url, retries=60) as memory:
        space = memory.create_space("ann")
        space.remember("Before.", wait=True)
        first.process.kill()
        first.process.wait()
        with ThreadPoolExecutor() as threads:
            write = threads.submit(space.remember, "Meanwhile.", wait=True)
            time.sleep(0.3)
            assert not write.done()
            second = start(tmp_path, port)
            try:
                assert write.result(30).items[0].status == "accepted"
                assert [it.text for it in space.records()] == ["Before.", "Meanwhile."]
            finally:
                second.process.terminate()
                second.process.wait(30)


def test_no_attempt_begins_after_the_timeout(server: Server, space: Space) -> None:
    sent = []
    for timeout in (0.1, 30.0):
        slow = Slow(0)
        with pytest.raises(UnreachableError):
            Mnemic(server.url, timeout=timeout, retries=2, http=httpx.Client(transport=slow)).space(space.name).info()
        sent.append(len(slow.sent))
    assert sent == [1, 3]


@pytest.mark.parametrize(("retry_after", "timeout", "error"), [("1", 0.5, UnavailableError), (None, 0.04, UnreachableError)])
def test_no_pause_ends_after_the_timeout(retry_after: str | None, timeout: float, error: type[Exception]) -> None:
    sent = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        if retry_after is None:
            raise httpx.ReadError("the connection was lost", request=request)
        return httpx.Response(503, text="away", headers={"retry-after": retry_after})

    http = httpx.Client(transport=httpx.MockTransport(answer))
    begin = time.monotonic()
    with pytest.raises(error):
        Mnemic("http://memory", timeout=timeout, http=http).space("ann").info()
    assert len(sent) == 1
    assert time.monotonic() - begin < 1


def test_a_response_of_another_server_is_an_error(server: Server) -> None:
    class Other(Lossy):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, text="<html>hello</html>", request=request)

    other = Mnemic(server.url, http=httpx.Client(transport=Other(0)))
    with pytest.raises(UnexpectedResponseError, match="another version"):
        other.space("ann").info()
    with pytest.raises(UnexpectedResponseError, match="another version"):
        list(other.spaces())


def test_a_key_of_another_request_is_refused(space: Space) -> None:
    space.remember("One.", idempotency_key="k1")
    assert len(space.remember("One.", idempotency_key="k1").items) == 1
    with pytest.raises(IdempotencyKeyReusedError):
        space.remember("Two.", idempotency_key="k1")
    assert eventually(lambda: space.info().records) == 1


def test_errors_are_classes(memory: Mnemic, space: Space) -> None:
    with pytest.raises(UnknownSpaceError, match="there is no space `nobody`"):
        memory.space("nobody").ask("When?")
    with pytest.raises(WatermarkError):
        space.ask("When?", after="forged")
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:9 did not answer"):
        Mnemic("http://127.0.0.1:9", retries=0).space("ann").info()


def test_every_kind_of_problem_has_a_class() -> None:
    text = (ROOT / "docs/ERRORS.md").read_text(encoding="utf-8")
    kinds = set(re.findall(r"^`urn:mnemic:problem:([a-z-]+)`", text, re.MULTILINE))
    assert {"unknown-space", "conflict", "timeout"} <= kinds
    assert kinds - BY_TYPE.keys() == set()


def test_a_response_without_a_problem_document_is_an_error_by_its_status() -> None:
    assert isinstance(error_of(httpx.Response(404, text="nginx")), NotFoundError)
    assert isinstance(error_of(httpx.Response(503, text="away")), UnavailableError)
    assert error_of(httpx.Response(418, text="teapot")).status == 418


def test_keys_are_limited_to_their_spaces_and_rights(guarded: Server) -> None:
    with Mnemic(guarded.url, KEYS["admin"]) as admin:
        admin.create_space("open-1").remember("One.", wait=True)
        admin.create_space("closed")
        with Mnemic(guarded.url, KEYS["reader"]) as reader:
            assert [it.space for it in reader.spaces()] == ["open-1"]
            access = reader.access()
            assert (access.name, access.spaces, access.rights) == ("reader", ["open-*"], ["read"])
            assert [it.text for it in reader.space("open-1").records()] == ["One."]
            with pytest.raises(ForbiddenError):
                reader.space("open-1").remember("Two.")
            with pytest.raises((ForbiddenError, UnknownSpaceError)):
                reader.space("closed").info()
        assert list(admin.dead_letters()) == []
    with pytest.raises(UnauthorizedError):
        Mnemic(guarded.url).space("open-1").info()


def test_parts_of_a_path_are_quoted() -> None:
    assert path("spaces", "a", "records", "x/y?z #1") == "/v1/spaces/a/records/x%2Fy%3Fz%20%231"
    assert moment("2026-03-02") == "2026-03-02"


def test_ids_with_slashes_are_found(space: Space) -> None:
    space.remember({"id": "talk/1?x=y", "text": "One."}, wait=True)
    assert space.record("talk/1?x=y").text == "One."


def test_the_async_client_writes_asks_imports_and_deletes(server: Server) -> None:
    async def main() -> None:
        async with AsyncMnemic(server.url) as memory:
            space = await memory.create_space(f"test-{uuid4().hex[:12]}")
            writes = [space.remember(f"Number {it} is my favourite.", actor="Ann", wait=True) for it in range(5)]
            await asyncio.gather(*writes)
            texts = {it.text async for it in space.records(page_size=2)}
            assert len(texts) == 5
            found = await space.ask("Which numbers does Ann like?")
            assert "favourite" in found.pack.text
            imported = await space.import_records(["One.", "Two."], wait=True)
            assert imported.accepted == 2
            assert await space.delete()
            with pytest.raises(UnknownSpaceError):
                await space.info()

    asyncio.run(main())


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_names_that_would_change_a_path_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a name"):
        path("spaces", "ann", "records", name)
