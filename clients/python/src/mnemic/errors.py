"""What can go wrong, as classes by the `type` of the problem document (RFC 9457) that the service answers with."""

from __future__ import annotations

import json
from typing import Any

import httpx

from mnemic import models

PREFIX = "urn:mnemic:problem:"


class MnemicError(Exception):
    """The base of every error of this client."""


class UnreachableError(MnemicError):
    """No response came: the server is away, or it took longer than the timeout."""


class UnexpectedResponseError(MnemicError):
    """What answered is not this API, or is a version of it that this client cannot read."""


class ProblemError(MnemicError):
    """The service refused the request or failed, and says why."""

    def __init__(self, problem: models.Problem) -> None:
        super().__init__(f"{problem.title}: {problem.detail}" if problem.detail else problem.title)
        self.problem = problem
        self.type = problem.type
        self.status = problem.status
        self.detail = problem.detail


class InvalidError(ProblemError):
    """The request cannot be used; the detail names the field."""


class TooLargeError(InvalidError):
    """The body is larger than the server takes."""


class WatermarkError(InvalidError):
    """The watermark is none of this space."""


class CursorError(InvalidError):
    """The cursor is none of this list with these filters."""


class IdempotencyKeyReusedError(InvalidError):
    """The idempotency key was used for another request."""


class UnauthorizedError(ProblemError):
    """There is no key, or the server does not know it."""


class ForbiddenError(ProblemError):
    """The key may not do this in this space."""


class NotLocalError(ProblemError):
    """A server without keys answers its own machine only."""


class NotFoundError(ProblemError):
    """There is no such thing."""


class UnknownSpaceError(NotFoundError):
    """There is no such space; `create_space` makes it."""


class UnknownRouteError(NotFoundError):
    """The server does not have this route: it may be older than this client."""


class ConflictError(ProblemError):
    """The request contradicts what is stored: an id stands for other content."""


class IdempotencyKeyInFlightError(ConflictError):
    """The first request with this idempotency key is still being answered."""


class DeadlineError(ProblemError):
    """The time ran out on the server; `problem.progress` says how far the writer is."""


class ExhaustedError(ProblemError):
    """Too much at once; it passes."""


class ShareExhaustedError(ExhaustedError):
    """This key does too much at once; it passes."""


class UnavailableError(ProblemError):
    """A part of the service cannot be reached; it passes."""


class DamagedError(ProblemError):
    """Something that is stored is damaged and is not answered with; the operator runs `mnemic doctor`."""


class InternalError(ProblemError):
    """A defect of the server; its log has the cause."""


class RecordsRejectedError(MnemicError):
    """Some records of a batch were not taken. The others are on disk; `accepted` has the outcome of each."""

    def __init__(self, accepted: models.Accepted) -> None:
        self.accepted = accepted
        self.rejected = [item for item in accepted.items if item.status == "rejected"]
        first = self.rejected[0]
        why = f": {first.problem.detail or first.problem.title}" if first.problem else ""
        count = f"{len(self.rejected)} of {len(accepted.items)} records were rejected"
        super().__init__(f"{count}; record {first.index} ({first.id or 'without an id'}){why}")


# By the last part of `type`. A test compares them with docs/ERRORS.md.
BY_TYPE: dict[str, type[ProblemError]] = {
    "beyond-bounds": InvalidError,
    "conflict": ConflictError,
    "cursor": CursorError,
    "damaged": DamagedError,
    "exhausted": ExhaustedError,
    "forbidden": ForbiddenError,
    "idempotency-key-in-flight": IdempotencyKeyInFlightError,
    "idempotency-key-reused": IdempotencyKeyReusedError,
    "incomplete": InvalidError,
    "internal": InternalError,
    "invalid": InvalidError,
    "media-type": InvalidError,
    "no-method": UnknownRouteError,
    "no-route": UnknownRouteError,
    "no-record": NotFoundError,
    "no-admin-key": ConflictError,
    "not-found": NotFoundError,
    "not-implemented": UnknownRouteError,
    "not-local": NotLocalError,
    "protocol": InvalidError,
    "quota-exhausted": ExhaustedError,
    "share-exhausted": ShareExhaustedError,
    "syntax": InvalidError,
    "timeout": DeadlineError,
    "too-large": TooLargeError,
    "unauthorized": UnauthorizedError,
    "unavailable": UnavailableError,
    "unknown-space": UnknownSpaceError,
    "watermark": WatermarkError,
}

# For kinds of problem that a newer server adds, and for proxies in between.
BY_STATUS: dict[int, type[ProblemError]] = {
    400: InvalidError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    413: TooLargeError,
    422: InvalidError,
    429: ExhaustedError,
    500: InternalError,
    502: UnavailableError,
    503: UnavailableError,
    504: DeadlineError,
}


def error_of(response: httpx.Response) -> ProblemError:
    """Returns the error that a response tells of; what is no problem document becomes one by its status."""
    try:
        said: Any = response.json()
        problem = models.Problem.model_validate(said)
    except (json.JSONDecodeError, UnicodeDecodeError, ValueError):
        title = f"{response.status_code} {response.reason_phrase}".strip()
        problem = models.Problem(type="about:blank", title=title, status=response.status_code, detail=response.text[:500])
    kind = BY_TYPE.get(problem.type.removeprefix(PREFIX)) or BY_STATUS.get(response.status_code, ProblemError)
    return kind(problem)
