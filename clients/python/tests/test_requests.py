"""Tests of the requests that questions, recall, lists of facts and `access` send, without a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

import httpx
import pytest

from mnemic import AsyncMnemic, Mnemic, Space, UnauthorizedError, UnavailableError, models

ACCESS = {"name": "reader", "spaces": ["open-*"], "rights": ["read"]}
COST = {"candidates": 0, "model_calls": 0, "ms": 1.0, "steps": [], "tokens": 0}
SILENT = {"hints": [], "silent": "nothing related", "degraded": [], "trace_id": "t", "cost": COST}
UNAUTHORIZED = {"type": "urn:mnemic:problem:unauthorized", "title": "no key", "status": 401, "detail": "send a key"}


def answer(request: httpx.Request) -> httpx.Response:
    """Answers like a server with an empty memory; a question is refused at once."""
    if request.url.path.endswith("/recall"):
        return httpx.Response(200, json=SILENT)
    if request.url.path == "/v1/access":
        if "authorization" not in request.headers:
            return httpx.Response(401, json=UNAUTHORIZED)
        return httpx.Response(200, json=ACCESS)
    if request.method == "GET":
        return httpx.Response(200, json={"items": []})
    return httpx.Response(503, text="away")


class Sent:
    """A memory without a server, and the requests that it got."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return answer(request)

    def body(self) -> dict[str, Any]:
        """Returns the body of the last request."""
        return dict(json.loads(self.requests[-1].content))

    def read_seconds(self) -> float:
        """Returns the seconds for which the last request waits for its response."""
        return float(self.requests[-1].extensions["timeout"]["read"])


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def away(sent: Sent) -> Iterator[Space]:
    with httpx.Client(transport=httpx.MockTransport(sent.handle)) as http:
        yield Mnemic("http://server", timeout=10, retries=0, http=http).space("ann")


def in_async(sent: Sent, call: Callable[[AsyncMnemic], Any], key: str | None = None) -> Any:
    """Returns the result of a call of an async client."""

    async def main() -> Any:
        async with httpx.AsyncClient(transport=httpx.MockTransport(sent.handle)) as http:
            return await call(AsyncMnemic("http://server", key, timeout=10, retries=0, http=http))

    return asyncio.run(main())


def test_evidence_is_word_for_word_unless_a_question_allows_other_text(sent: Sent, away: Space) -> None:
    with pytest.raises(UnavailableError):
        away.ask("When?")
    assert sent.body()["verbatim"] is True
    with pytest.raises(UnavailableError):
        away.ask("When?", verbatim=False)
    assert sent.body()["verbatim"] is False
    with pytest.raises(UnavailableError):
        in_async(sent, lambda memory: memory.space("ann").ask("When?", verbatim=False))
    assert sent.body()["verbatim"] is False


def test_a_field_of_a_model_has_its_name_in_the_api(sent: Sent, away: Space) -> None:
    begin = datetime(2026, 3, 2, tzinfo=timezone.utc)
    for filter in (
        models.Filter(from_=begin, actors=["Ann"]),
        models.Filter.model_validate({"from": begin, "actors": ["Ann"]}),
    ):
        with pytest.raises(UnavailableError):
            away.ask("When?", filter=filter)
        assert sent.body()["filter"] == {"from": "2026-03-02T00:00:00+00:00", "actors": ["Ann"]}
    with pytest.raises(UnavailableError):
        away.ask("When?", filter={"from": begin})
    assert sent.body()["filter"] == {"from": "2026-03-02T00:00:00+00:00"}
    with pytest.raises(UnavailableError):
        in_async(sent, lambda memory: memory.space("ann").ask("When?", filter=models.Filter(from_=begin)))
    assert sent.body()["filter"] == {"from": "2026-03-02T00:00:00+00:00"}


def test_facts_are_listed_by_their_origin(sent: Sent, away: Space) -> None:
    async def listed(memory: AsyncMnemic) -> list[models.Fact]:
        return [it async for it in memory.space("ann").facts(origin="rule")]

    assert list(away.facts(origin="model", subject="Ann")) == []
    assert (sent.requests[-1].url.params["origin"], sent.requests[-1].url.params["subject"]) == ("model", "Ann")
    assert list(away.facts()) == []
    assert "origin" not in sent.requests[-1].url.params
    assert in_async(sent, listed) == []
    assert sent.requests[-1].url.params["origin"] == "rule"


def test_recall_has_a_budget_of_calls_of_a_language_model(sent: Sent, away: Space) -> None:
    away.recall("Good morning!", budget={"model_calls": 2, "model_tokens": 4_000})
    assert sent.body()["budget"] == {"model_calls": 2, "model_tokens": 4_000}
    away.recall("Good morning!", budget=models.RecallBudget(model_calls=1), ms=900)
    assert sent.body()["budget"] == {"model_calls": 1, "ms": 900}
    away.recall("Good morning!", budget={"ms": 700}, ms=900)
    assert sent.body()["budget"] == {"ms": 700}
    away.recall("Good morning!")
    assert "budget" not in sent.body()
    in_async(sent, lambda memory: memory.space("ann").recall("Good morning!", budget={"model_calls": 3}))
    assert sent.body()["budget"] == {"model_calls": 3}


@pytest.mark.parametrize(
    ("budget", "seconds"),
    [(None, 12), ({"model_calls": 0}, 12), ({"model_calls": 1}, 40), ({"model_calls": 1, "ms": 5_000}, 15), ({"ms": 0}, 10)],
)
def test_a_response_may_take_the_time_of_the_budget_in_addition(
    sent: Sent, away: Space, budget: dict[str, int] | None, seconds: float
) -> None:
    away.recall("Good morning!", budget=budget)
    assert sent.read_seconds() == seconds
    with pytest.raises(UnavailableError):
        away.ask("When?", budget=budget)
    assert sent.read_seconds() == seconds


def test_access_says_what_the_key_may_do(sent: Sent) -> None:
    with httpx.Client(transport=httpx.MockTransport(sent.handle)) as http:
        access = Mnemic("http://server", "secret", http=http).access()
    assert (access.name, access.spaces, access.rights) == ("reader", ["open-*"], ["read"])
    assert (sent.requests[-1].method, sent.requests[-1].url.path) == ("GET", "/v1/access")
    assert in_async(sent, lambda memory: memory.access(), "secret") == access


def test_access_needs_a_valid_key(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MNEMIC_KEY", raising=False)
    with httpx.Client(transport=httpx.MockTransport(sent.handle)) as http, pytest.raises(UnauthorizedError):
        Mnemic("http://server", http=http).access()


@pytest.mark.parametrize("url", ["server:7077", "http://server:7077/", "https://memory.example"])
def test_the_scheme_of_the_address_may_be_omitted(sent: Sent, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = url.rstrip("/") if "://" in url else f"http://{url}"
    monkeypatch.setenv("MNEMIC_URL", url)
    with httpx.Client(transport=httpx.MockTransport(sent.handle)) as http:
        for memory in (Mnemic(url, "secret", http=http), Mnemic(key="secret", http=http)):
            memory.access()
            assert str(sent.requests[-1].url) == f"{expected}/v1/access"
