"""Tests that the data are the same everywhere, and that the questions can be answered from them."""

from hashlib import sha256

import pytest

from mnemic_bench import talk

# A change of the generated data makes figures incomparable with earlier ones. Change it only on purpose, together with
# the baseline.
DIGESTS = {"chat": "48c8da80617a799b", "assistant": "526b80a03d42fd6b"}


@pytest.mark.parametrize("shape", talk.SHAPES)
def test_the_same_arguments_give_the_same_talk(shape: str) -> None:
    parts = [str(it.native()) for it in talk.records(shape, 0, 200)]
    parts += [talk.question(shape, number, 200).text for number in range(40)]
    assert sha256("\n".join(parts).encode()).hexdigest()[:16] == DIGESTS[shape]


def test_no_two_records_share_a_name() -> None:
    assert len({talk.name_of(number) for number in range(50_000)}) == 50_000


@pytest.mark.parametrize("shape", talk.SHAPES)
def test_a_name_in_a_question_occurs_in_the_records_it_asks_about_and_in_no_other(shape: str) -> None:
    stored = [it.text for it in talk.records(shape, 0, 400)]
    named = [talk.question(shape, number, 400) for number in range(0, 40, 2)]
    for question in named:
        assert question.answer_word
        holders = [text for text in stored if question.answer_word in text]
        assert len(holders) == 1, question


def test_every_second_question_names_nothing_unique() -> None:
    answers = [talk.question("chat", number, 100).answer_word for number in range(4)]
    assert [it is None for it in answers] == [False, True, False, True]


def test_long_answers_are_long_and_questions_before_them_short() -> None:
    pairs = list(talk.records("assistant", 0, 40))
    assert all(len(it.text) > 900 for it in pairs if it.role == "assistant")
    assert all(len(it.text) < 250 for it in pairs if it.role == "user")


def test_no_record_lies_in_the_future() -> None:
    last_of_a_lap = talk.SESSIONS_PER_LAP * talk.TURNS_PER_SESSION - 1
    for number in (last_of_a_lap, talk.NAMES - 1):
        assert "2020" < talk.record("chat", number).observed_at < "2025"


def test_an_unknown_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="letters"):
        talk.record("letters", 0)
