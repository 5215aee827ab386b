"""JSON over one persistent HTTP connection."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

# With a million records, the first request to a space after a start may take long, since the space is loaded first.
TIMEOUT_SECONDS = 120


class Unexpected(Exception):
    """A response with another status than the expected one."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Connection:
    """One connection to a server; it reconnects if the server closed it."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.http = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
        self.prefix = parts.path.rstrip("/")

    def send(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
        """Returns status and body of the response."""
        encoded = None if body is None else json.dumps(body).encode()
        sent = {"content-type": "application/json", **(headers or {})}
        try:
            self.http.request(method, self.prefix + path, encoded, sent)
            response = self.http.getresponse()
            return response.status, response.read()
        except (http.client.HTTPException, OSError):
            self.http.close()
            raise

    def json(
        self, method: str, path: str, body: Any = None, expected: int = 200, headers: dict[str, str] | None = None
    ) -> Any:
        """Returns the body of a response with the expected status."""
        status, answer = self.send(method, path, body, headers)
        if status != expected:
            raise Unexpected(f"{method} {path}: {status} {answer[:500].decode(errors='replace')}", status)
        return json.loads(answer)

    def close(self) -> None:
        self.http.close()
