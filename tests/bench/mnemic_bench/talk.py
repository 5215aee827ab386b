"""Records and questions from our own templates and word lists: the same arguments give the same data on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

SHAPES = ("chat", "assistant")
TURNS_PER_SESSION = 40
BEGIN = datetime(2020, 1, 1, 8, tzinfo=timezone.utc)
# Sessions begin every two hours. After this many (in July 2024), they start again at `BEGIN`, a minute later each time,
# so that no record lies in the future.
SESSIONS_PER_LAP = 20_000

PEOPLE = "Ann Ben Clara David Emma Frank Greta Henry Ines Jonas Karin Louis".split()
THINGS = (
    "lantern violin ticket kettle bicycle letter jacket recipe painting suitcase engine blanket camera notebook telescope "
    "umbrella whistle anchor basket candle feather guitar hammer mirror pillow scarf wallet drum loom kiln tent piano"
).split()
PLACES = (
    "harbour orchard bridge garden museum river market library festival workshop forest island village station bakery "
    "theatre airport school mountain lake kitchen attic cellar"
).split()
ADJECTIVES = "old green heavy broken borrowed small wooden painted cheap rare quiet spare yellow rusty".split()
TOPICS = (
    "watering herbs on a balcony|repairing a puncture|planning a week of meals|learning the first chords|packing for a hike|"
    "cleaning a lens|teaching a puppy to wait|baking bread with rye|painting a window frame|choosing a tent for two|"
    "sharpening a knife|saving for a trip|growing tomatoes from seed|reading a bus timetable"
).split("|")
ADVICE = (
    "Start with the {thing}, because everything else depends on it, and give it about {count} minutes.|"
    "Keep the {adjective} {thing} away from direct sun; it loses its shape within {count} days.|"
    "People often forget the {thing}. Put it next to the door the evening before.|"
    "A {adjective} {thing} costs about {count} euros at the {place}, and a used one does as well.|"
    "If it does not work the first time, wait an hour and go on from the step before.|"
    "Write down what you changed, so that you can go back to it when the result is worse.|"
    "Two people need about {count} minutes for this; one person needs nearly twice as long.|"
    "Do not hurry this step. Most mistakes happen here, and they show only much later.|"
    "The {thing} from the {place} is the better choice if you want to keep it for longer than {count} months.|"
    "Ask at the {place} whether you may try the {adjective} one before you pay for it.|"
    "You can do the rest with what is already in your kitchen, apart from the {thing}.|"
    "After about {count} repetitions your hands know it, and you can look at the {thing} instead."
).split("|")
SMALL_TALK = (
    "That sounds good to me.|I had not thought of that at all.|Let me ask {other} about it tomorrow.|"
    "We can talk about it at the {place}.|It took me most of the morning.|I will tell you how it went.|"
    "By the way, {other} said hello.|The weather was better than last week."
).split("|")
EVENTS = (
    "Yesterday I took the {adjective} {thing} called {name} to the {place} and paid {count} coins for the way.|"
    "I lent {other} my {adjective} {thing}, the one called {name}, until we meet at the {place} again.|"
    "Last week {other} and I found a {adjective} {thing} called {name} near the {place}.|"
    "My sister wants to sell the {thing} called {name} at the {place} for {count} euros."
).split("|")
SYLLABLES = (
    "ba be bi bo da de di do fa fe fi fo ga ge ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se ta te va ve"
).split()
NAMES = len(SYLLABLES) ** 4


class Draw:
    """A sequence of pseudo-random numbers that depends only on its seed (splitmix64)."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, bound: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        mixed = self.state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        return (mixed ^ (mixed >> 31)) % bound

    def one_of(self, choices: list[str] | tuple[str, ...]) -> str:
        return choices[self.below(len(choices))]


@dataclass(frozen=True)
class Record:
    """A turn of a conversation."""

    number: int
    session: str
    ordinal: int
    actor: str
    role: str
    text: str
    observed_at: str

    def native(self, prefix: str = "") -> dict[str, Any]:
        """Returns the record in the format of Mnemic's own API."""
        fields = ("session", "ordinal", "actor", "text", "observed_at")
        return {"id": f"{prefix}{self.number}", **{field: getattr(self, field) for field in fields}}

    def message(self) -> dict[str, str]:
        """Returns the record as a chat message, in the format of mem0."""
        return {"role": self.role, "name": self.actor, "content": self.text}


@dataclass(frozen=True)
class Question:
    """A question, and a word that only the record with the answer contains; None if several records answer it."""

    text: str
    answer_word: str | None


def name_of(number: int) -> str:
    """Returns a name that is unique among the numbers below 2,560,000."""
    rest = (number * 1_592_953 + 7) % NAMES
    syllables = []
    for _ in range(4):
        rest, at = divmod(rest, len(SYLLABLES))
        syllables.append(SYLLABLES[at])
    return "".join(syllables).capitalize()


def words_for(number: int) -> dict[str, Any]:
    """Returns the words that fill the templates of a record."""
    draw = Draw(number)
    return {
        "thing": draw.one_of(THINGS),
        "place": draw.one_of(PLACES),
        "adjective": draw.one_of(ADJECTIVES),
        "other": draw.one_of(PEOPLE),
        "count": 2 + draw.below(88),
        "name": name_of(number),
    }


def chat_text(number: int) -> str:
    """Returns one to three sentences, one of which says what happened to a named thing."""
    draw, words = Draw(number + 1_000_003), words_for(number)
    before, behind = draw.below(2), draw.below(2)
    sentences = [draw.one_of(SMALL_TALK) for _ in range(before)]
    sentences.append(draw.one_of(EVENTS))
    sentences += [draw.one_of(SMALL_TALK) for _ in range(behind)]
    return " ".join(sentences).format(**words)


def assistant_text(number: int) -> str:
    """Returns a question of a user, or the long answer of an assistant: 1,000 to 2,500 characters with a list."""
    draw, words = Draw(number + 2_000_003), words_for(number)
    topic = draw.one_of(TOPICS)
    if number % 2 == 0:
        return f"I want to get better at {topic}. My {words['thing']} is called {words['name']}. What should I do first?"
    steps = []
    for step in range(1, 9 + draw.below(5)):
        about = words_for(number * 31 + step)
        at = draw.below(len(ADVICE))
        # Avoids the same sentence twice in a step.
        other = (at + 1 + draw.below(len(ADVICE) - 1)) % len(ADVICE)
        steps.append(f"{step}. {ADVICE[at]} {ADVICE[other]}".format(**about))
    opening = f"Here is a plan for {topic}, from the first step to the last. I call it the plan {words['name']}."
    closing = (
        f"With the plan {words['name']} most people see a difference after {words['count']} days at the {words['place']}."
    )
    return "\n\n".join([opening, "\n".join(steps), closing])


def record(shape: str, number: int) -> Record:
    """Returns a turn of a conversation of two people, or of a user and an assistant."""
    session, ordinal = divmod(number, TURNS_PER_SESSION)
    lap, slot = divmod(session, SESSIONS_PER_LAP)
    at = BEGIN + timedelta(hours=2 * slot, minutes=2 * ordinal + lap)
    if shape == "chat":
        actor, role, text = PEOPLE[(session + number % 2 * 5) % len(PEOPLE)], "user", chat_text(number)
    elif shape == "assistant":
        actor, role, text = ("user", "assistant")[number % 2], ("user", "assistant")[number % 2], assistant_text(number)
    else:
        raise ValueError(f"shape: is {shape!r}, and not one of {', '.join(SHAPES)}")
    return Record(number, f"s{session}", ordinal, actor, role, text, at.strftime("%Y-%m-%dT%H:%M:%SZ"))


def records(shape: str, first: int, end: int) -> Iterator[Record]:
    """Returns the records from `first` up to, but not including, `end`."""
    return (record(shape, number) for number in range(first, end))


def question(shape: str, number: int, stored: int) -> Question:
    """Returns a question about stored records: every second question names something that only one record mentions."""
    target = Draw(number + 3_000_017).below(stored)
    words = words_for(target)
    if number % 2 == 0:
        if shape == "assistant" and target % 2:
            return Question(f"What is the first step of the plan {words['name']}?", words["name"])
        about = "What happened to" if shape == "chat" else "What did I ask about"
        return Question(f"{about} the {words['thing']} called {words['name']}?", words["name"])
    if shape == "chat":
        text = f"When did {words['other']} have the {words['adjective']} {words['thing']} at the {words['place']}?"
    else:
        text = f"How many minutes does the {words['thing']} take, and what does it cost at the {words['place']}?"
    return Question(text, None)
