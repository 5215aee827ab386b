"""Mnemic: a long-term memory for LLM agents that you run yourself.

>>> from mnemic import Mnemic
>>> with Mnemic() as memory:
...     ann = memory.create_space("ann")
...     ann.remember("I repotted the fern yesterday.", actor="Ann", wait=True)
...     print(ann.ask("When did Ann repot the fern?").pack.text)
"""

from mnemic import models
from mnemic._async.client import AsyncMnemic
from mnemic._async.events import AsyncEvents
from mnemic._async.space import AsyncSpace
from mnemic._events import EventGap, SpaceEvent
from mnemic._records import Imported, Rejected
from mnemic._sync.client import Mnemic
from mnemic._sync.events import Events
from mnemic._sync.space import Space
from mnemic.errors import (
    ConflictError,
    CursorError,
    DamagedError,
    DeadlineError,
    ExhaustedError,
    ForbiddenError,
    IdempotencyKeyInFlightError,
    IdempotencyKeyReusedError,
    InternalError,
    InvalidError,
    MnemicError,
    NotFoundError,
    NotLocalError,
    ProblemError,
    RecordsRejectedError,
    ShareExhaustedError,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
    UnexpectedResponseError,
    UnknownRouteError,
    UnknownSpaceError,
    UnreachableError,
    WatermarkError,
)

__all__ = [
    "AsyncEvents",
    "AsyncMnemic",
    "AsyncSpace",
    "ConflictError",
    "CursorError",
    "DamagedError",
    "DeadlineError",
    "EventGap",
    "Events",
    "ExhaustedError",
    "ForbiddenError",
    "IdempotencyKeyInFlightError",
    "IdempotencyKeyReusedError",
    "Imported",
    "InternalError",
    "InvalidError",
    "Mnemic",
    "MnemicError",
    "NotFoundError",
    "NotLocalError",
    "ProblemError",
    "RecordsRejectedError",
    "Rejected",
    "ShareExhaustedError",
    "Space",
    "SpaceEvent",
    "TooLargeError",
    "UnauthorizedError",
    "UnavailableError",
    "UnexpectedResponseError",
    "UnknownRouteError",
    "UnknownSpaceError",
    "UnreachableError",
    "WatermarkError",
    "models",
]
