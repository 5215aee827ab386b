"""Requests, the rules for retries, and the format of values; the same for sync and async."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Any
from urllib.parse import quote

import httpx
from pydantic import BaseModel
from pydantic_core import to_json

# Statuses of an unreachable server. A proxy also sends them if it lost the response of a server that was processing the
# request.
AWAY_STATUSES = frozenset({502, 503})
IN_FLIGHT = "urn:mnemic:problem:idempotency-key-in-flight"
NOT_FOUND = "urn:mnemic:problem:not-found"
PAUSE_FIRST = 0.1
PAUSE_MAX = 5.0
RETRY_AFTER_MAX = 30.0
# Longest time that the server waits for a watermark in one request, in milliseconds.
WAIT_SLICE_MS = 10_000
# Milliseconds that the server spends on a question, without and with a language model, unless its budget sets another
# time.
QUESTION_MS = 2_000
MODEL_QUESTION_MS = 30_000


def url_of(text: str) -> str:
    """Returns the URL of a server without a slash at the end; adds the scheme `http` if the text has none, as the
    command `mnemic` does.
    """
    return (text if "://" in text else f"http://{text}").rstrip("/")


@dataclass(frozen=True)
class Settings:
    """Settings of a client."""

    url: str
    key: str | None
    timeout: float
    retries: int
    wait: float

    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.key}"} if self.key else {}


@dataclass(frozen=True)
class Request:
    """One request of the API."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    idempotency_key: str | None = None
    # Whether the request may be sent again when it is unknown if the first one arrived.
    repeatable: bool = True
    # Whether the request erases an object and is done if a repeated attempt does not find the object, because an earlier
    # attempt whose response was lost may have erased it.
    done_if_gone: bool = False
    # Additional seconds that the server may take beyond the timeout.
    extra_time: float = 0.0
    more_headers: Mapping[str, str] = field(default_factory=dict)

    def content(self) -> bytes | None:
        return None if self.body is None else to_json(self.body)

    def headers(self) -> dict[str, str]:
        headers = dict(self.more_headers)
        if self.body is not None:
            headers["content-type"] = "application/json"
        if self.idempotency_key is not None:
            headers["idempotency-key"] = self.idempotency_key
        return headers

    def query(self) -> dict[str, str | list[str]]:
        """Returns the query parameters; a parameter with several values is repeated."""
        return {name: parameter(value) for name, value in self.params.items() if value is not None}


class Attempts:
    """Counts the attempts at one request; none begins after the time limit of one attempt."""

    def __init__(self, settings: Settings, request: Request) -> None:
        self.made = 0
        # Whether the server may have completed an attempt although its response did not arrive.
        self.may_be_done = False
        self._most = settings.retries + 1
        self._end = monotonic() + settings.timeout + request.extra_time

    def begin(self) -> None:
        self.made += 1

    def is_last(self, seconds: float) -> bool:
        """Returns true if no attempt may begin after a pause of `seconds`."""
        return self.made >= self._most or monotonic() + seconds >= self._end


def parameter(value: Any) -> str | list[str]:
    return [text(it) for it in value] if isinstance(value, list) else text(value)


def text(value: Any) -> str:
    """Returns a parameter in the format of the API."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return moment(value)
    return str(value)


def moment(value: datetime | str) -> str:
    """Returns a time as RFC 3339. A time without a zone is refused, because the server would read it as UTC."""
    if isinstance(value, str):
        return value
    if value.tzinfo is None:
        raise ValueError("the time has no zone; use datetime.now(timezone.utc) or .astimezone()")
    return value.isoformat()


def path(*parts: str) -> str:
    """Returns a path below `/v1` with quoted parts. `.` and `..` are refused: HTTP clients resolve them, so
    `records/..` would address the space itself.
    """
    for part in parts:
        if part in ("", ".", ".."):
            raise ValueError(f"{part!r} is not a name of a space, a record or a session")
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def plain(value: Any) -> Any:
    """Returns models, times and nested values as JSON values; fields of models that were not set are omitted."""
    if isinstance(value, BaseModel):
        # The name of a field in the API is its alias: `from` is a keyword in Python, so the field is called `from_`.
        return plain(value.model_dump(exclude_unset=True, by_alias=True))
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, Mapping):
        return {str(name): plain(it) for name, it in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(it) for it in value]
    return value


def given(**fields: Any) -> dict[str, Any]:
    """Returns the fields that are not None, as JSON values."""
    return {name: plain(value) for name, value in fields.items() if value is not None}


def budget_of(budget: BaseModel | Mapping[str, Any] | None, **limits: int | None) -> dict[str, Any]:
    """Returns a budget as JSON values, with the limits that are given separately unless the budget sets them."""
    return {**given(**limits), **given(budget=budget).get("budget", {})}


def question_time(budget: Mapping[str, Any]) -> float:
    """Returns the seconds that the server may spend on a question or on recall with a budget."""
    ms = budget.get("ms")
    if ms is None:
        ms = MODEL_QUESTION_MS if budget.get("model_calls") else QUESTION_MS
    return float(ms) / 1000


def listed(tags: Iterable[str] | None) -> list[str] | None:
    """Returns tags as a list. A single text is one tag, not one tag per character."""
    return [tags] if isinstance(tags, str) else None if tags is None else list(tags)


def labels(tags: Iterable[str] | None, filter: BaseModel | Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the parameters that restrict a list or a tool to records that have all of the tags and match a filter."""
    return {"tag": listed(tags), "filter": None if filter is None else json.dumps(plain(filter))}


def was_never_sent(error: httpx.TransportError) -> bool:
    """Returns true if a request failed before it left this machine."""
    return isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)


def may_repeat(request: Request, error: httpx.TransportError) -> bool:
    """Returns true if a request without a response may be sent again."""
    return was_never_sent(error) or request.repeatable


def is_gone(request: Request, response: httpx.Response, attempts: Attempts) -> bool:
    """Returns true if the object that a request erases is not found, and an earlier attempt may have erased it.

    Only the server itself says so: a 404 of a proxy, or for an unknown space, says nothing about the object.
    """
    return request.done_if_gone and attempts.may_be_done and response.status_code == 404 and NOT_FOUND in response.text


def pause_after(request: Request, response: httpx.Response, attempt: int) -> float | None:
    """Returns the seconds before a refused request is sent again, or None if a retry would be useless or harmful."""
    in_flight = response.status_code == 409 and IN_FLIGHT in response.text
    away = response.status_code in AWAY_STATUSES and request.repeatable
    if response.status_code != 429 and not away and not in_flight:
        return None
    try:
        wanted = float(response.headers.get("retry-after", ""))
    except ValueError:
        wanted = 0.0
    return max(min(wanted, RETRY_AFTER_MAX), pause(attempt))


def pause(attempt: int) -> float:
    """Returns the seconds before another attempt: doubled each time, and spread so that clients do not synchronise."""
    return float(min(PAUSE_FIRST * 2 ** (attempt - 1), PAUSE_MAX) * random.uniform(0.5, 1.0))
