"""Tests of keys that a client creates."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from uuid import uuid4

import httpx
import pytest
from conftest import KEYS, eventually
from running import Server

from mnemic import (
    ConflictError,
    ForbiddenError,
    Mnemic,
    NotFoundError,
    UnauthorizedError,
    UnavailableError,
    UnreachableError,
)


def test_a_key_is_made_rotated_and_revoked(guarded: Server) -> None:
    name = f"assistant-{uuid4().hex[:8]}"
    with Mnemic(guarded.url, KEYS["admin"]) as admin:
        admin.create_space("mine-1").remember("One.", wait=True)
        until = datetime.now(timezone.utc) + timedelta(days=1)
        made = admin.create_key(
            name, spaces=["mine-*"], rights=["read"], expires_at=until, quotas={"requests_per_minute": 1_000}
        )
        assert (made.key.name, made.key.rights, made.key.by) == (name, ["read"], "admin")
        assert made.key.expires_at is not None and abs(made.key.expires_at - until) < timedelta(seconds=1)
        assert made.key.quotas is not None and made.key.quotas.requests_per_minute == 1_000
        assert [it.text for it in Mnemic(guarded.url, made.token).space("mine-1").records()] == ["One."]
        with pytest.raises(ForbiddenError):
            Mnemic(guarded.url, made.token).space("mine-1").remember("Two.")
        with pytest.raises(ConflictError):
            admin.create_key(name, spaces=["*"], rights=["read"])

        rotated = admin.rotate_key(name, grace_seconds=600)
        assert rotated.key.former_valid_until is not None
        for token in (made.token, rotated.token):
            assert Mnemic(guarded.url, token).space("mine-1").info().records == 1
        listed = {it.name: it for it in admin.keys(page_size=1)}
        assert listed[name].revoked_at is None

        admin.revoke_key(name)
        for token in (made.token, rotated.token):
            with pytest.raises(UnauthorizedError):
                Mnemic(guarded.url, token).space("mine-1").info()
        assert eventually(lambda: {it.name: it.revoked_at for it in admin.keys()}[name])
        with pytest.raises(NotFoundError):
            admin.revoke_key("nobody")


def test_only_an_admin_key_manages_keys(guarded: Server) -> None:
    reader = Mnemic(guarded.url, KEYS["reader"])
    with pytest.raises(ForbiddenError):
        reader.create_key("mine", spaces=["*"], rights=["read"])
    with pytest.raises(ForbiddenError):
        list(reader.keys())


def test_creation_and_rotation_of_keys_are_not_repeated_after_a_lost_response() -> None:
    sent: list[str] = []

    def lose(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.path)
        raise httpx.ReadError("the connection was lost", request=request)

    def away(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.path)
        return httpx.Response(502, text="the server is away")

    with httpx.Client(transport=httpx.MockTransport(away)) as http, pytest.raises(UnavailableError):
        Mnemic("http://server", http=http).rotate_key("one")
    assert sent == ["/v1/keys/one/rotate"]
    sent.clear()
    with httpx.Client(transport=httpx.MockTransport(lose)) as http:
        memory = Mnemic("http://server", http=http)
        with pytest.raises(UnreachableError):
            memory.create_key("one", spaces=["*"], rights=["read"])
        with pytest.raises(UnreachableError):
            memory.rotate_key("one")
    assert sent == ["/v1/keys", "/v1/keys/one/rotate"]
