"""Error classes by the `type` of the server's problem document (RFC 9457)."""

from __future__ import annotations

import json
from typing import Any

import httpx

from mnemic import models

PREFIX = "urn:mnemic:problem:"


class MnemicError(Exception):
    """The base class of all errors of this client."""


class UnreachableError(MnemicError):
    """No response arrived: the server is unreachable, or it exceeded the timeout."""


class UnexpectedResponseError(MnemicError):
    """The response is not from this API, or from a version that this client cannot read."""


class ProblemError(MnemicError):
    """The server refused the request or failed, and states the reason."""

    def __init__(self, problem: models.Problem) -> None:
        super().__init__(f"{problem.title}: {problem.detail}" if problem.detail else problem.title)
        self.problem = problem
        self.type = problem.type
        self.status = problem.status
        self.detail = problem.detail


class InvalidError(ProblemError):
    """The request is invalid; the detail names the field."""


class TooLargeError(InvalidError):
    """The body exceeds the server's limit."""


class WatermarkError(InvalidError):
    """The watermark does not belong to this space."""


class CursorError(InvalidError):
    """The cursor does not belong to this list with these filters."""


class IdempotencyKeyReusedError(InvalidError):
    """The idempotency key was used for another request."""


class UnauthorizedError(ProblemError):
    """The request has no key, or a key that the server does not know."""


class ForbiddenError(ProblemError):
    """The key lacks the right for this operation in this space."""


class NotLocalError(ProblemError):
    """A server without keys answers only requests from its own machine."""


class NotFoundError(ProblemError):
    """The requested object does not exist."""


class UnknownSpaceError(NotFoundError):
    """The space does not exist; `create_space` creates it."""


class UnknownRouteError(NotFoundError):
    """The server does not have this route: it may be older than this client."""


class ConflictError(ProblemError):
    """The request contradicts the stored data: the id belongs to other content."""


class IdempotencyKeyInFlightError(ConflictError):
    """The first request with this idempotency key is still being answered."""


class DeadlineError(ProblemError):
    """The server exceeded the deadline; `problem.progress` reports the progress of writing."""


class ExhaustedError(ProblemError):
    """Too many requests at once; try again later."""


class ShareExhaustedError(ExhaustedError):
    """Too many requests of this key at once; try again later."""


class UnavailableError(ProblemError):
    """A part of the service cannot be reached; try again later."""


class DamagedError(ProblemError):
    """Stored data are damaged, and the server does not return them; the operator runs `mnemic doctor`."""


class InternalError(ProblemError):
    """An internal error of the server; its log contains the cause."""


class RecordsRejectedError(MnemicError):
    """Some records of a batch were rejected. The others are on disk; `accepted` has the outcome of each."""

    def __init__(self, accepted: models.Accepted) -> None:
        self.accepted = accepted
        self.rejected = [item for item in accepted.items if item.status == "rejected"]
        first = self.rejected[0]
        why = f": {first.problem.detail or first.problem.title}" if first.problem else ""
        count = f"{len(self.rejected)} of {len(accepted.items)} records were rejected"
        super().__init__(f"{count}; record {first.index} ({first.id or 'without an id'}){why}")


# Classes by the last part of `type`. A test compares them with docs/ERRORS.md.
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
    "record-exists": ConflictError,
    "share-exhausted": ShareExhaustedError,
    "syntax": InvalidError,
    "timeout": DeadlineError,
    "too-large": TooLargeError,
    "unauthorized": UnauthorizedError,
    "unavailable": UnavailableError,
    "unknown-space": UnknownSpaceError,
    "watermark": WatermarkError,
}

# Classes by status, for kinds of problem that a newer server adds, and for proxies.
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
    """Returns the error of a response; without a problem document, the error for the status."""
    try:
        said: Any = response.json()
        problem = models.Problem.model_validate(said)
    except (json.JSONDecodeError, UnicodeDecodeError, ValueError):
        title = f"{response.status_code} {response.reason_phrase}".strip()
        problem = models.Problem(type="about:blank", title=title, status=response.status_code, detail=response.text[:500])
    kind = BY_TYPE.get(problem.type.removeprefix(PREFIX)) or BY_STATUS.get(response.status_code, ProblemError)
    return kind(problem)
