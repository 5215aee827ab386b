"""Tests which refusals of a batch are final, without a server."""

from __future__ import annotations

from typing import Any

import pytest

from memory import Memory, Refusal, store

RECORDS = [{"text": "one"}, {"text": "two"}]


class Refusing(Memory):
    """A memory that refuses every request."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal

    def post(self, what: str, body: Any) -> dict[str, Any]:
        raise self.refusal


def rejected(status: int) -> dict[str, Any]:
    return {"status": "rejected", "problem": {"status": status}}


@pytest.mark.parametrize(
    ("refusal", "says"),
    [
        (Refusal(409, "conflict", [rejected(409), rejected(409)]), ""),
        (Refusal(422, "invalid", [rejected(409), rejected(422)]), "mnemic: the server left out 1 of 2 turns\n"),
        (Refusal(422, "invalid", [rejected(422), rejected(422)]), "mnemic: the server left out 2 of 2 turns\n"),
    ],
)
def test_a_batch_whose_records_are_all_rejected_is_done(
    refusal: Refusal, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store(Refusing(refusal), RECORDS)
    assert capsys.readouterr().err == says


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal(409, "conflict"),
        Refusal(409, "idempotency-key-in-flight", []),
        Refusal(422, "invalid", {"0": rejected(422), "1": rejected(422)}),
        Refusal(409, "conflict", [rejected(409)]),
        Refusal(503, "unavailable", [rejected(409), rejected(409)]),
    ],
)
def test_any_other_refusal_is_raised(refusal: Refusal) -> None:
    with pytest.raises(Refusal):
        store(Refusing(refusal), RECORDS)
