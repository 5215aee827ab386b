//! The traits of a candidate answer: a fixed slot each. Adding, removing or changing the meaning of one raises the version of
//! the weights.

use std::sync::LazyLock;

use super::spans::Shape;

macro_rules! slots {
    ($($(#[$doc:meta])* $slot:ident = $name:literal,)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "only numbers the constants below")]
        enum Number { $($slot,)* }
        $($(#[$doc])* pub(super) const $slot: usize = Number::$slot as usize;)*
        const PLAIN: &[&str] = &[$($name,)*];
    };
}

slots! {
    /// Falls by a factor e with each better turn.
    RANK = "rank",
    /// Logits that its turn is behind the best one.
    LEAD = "lead",
    /// Cover of its sentence, over the best.
    COVER = "cover",
    /// Cover of the sentence before it.
    COVER_BEFORE = "cover_before",
    /// Cover of the sentence before it, if that asks.
    REPLY = "reply",
    /// How far its sentence speaks of the subject and not of others.
    OWNED = "owned",
    /// Its sentence asks.
    ASKS = "asks",
    /// It stands in a caption.
    CAPTION = "caption",
    /// Cosine of its sentence to the question.
    SENTENCE_LIKE = "sentence_like",
    /// It has the marks of the kind asked for.
    RIGHT = "right",
    /// Nearness behind a word of the question.
    FRONT = "front",
    /// Nearness before a word of the question.
    BACK = "back",
    /// Nearness behind the verb asked about.
    VERB = "verb",
    /// Share of its words that the question does not say.
    NEW = "new",
    /// Its words that the question says, at most 3.
    REPEATED = "repeated",
    /// The question says all of it.
    OLD = "old",
    /// Words that alone say nothing.
    LIGHT = "light",
    /// Mean rarity of its words.
    RARE = "rare",
    /// Likeness of its last word to the thing asked for.
    HEAD = "head",
    /// It is the thing asked for and nothing else.
    SAME_HEAD = "same_head",
    /// It is the thing asked for and says more of it.
    HEADED = "headed",
    /// How far its length is from that of answers of the kind.
    LENGTH_OFF = "length_off",
    /// Logarithm of its words.
    LENGTH = "length",
    /// It says "I" or "my".
    FIRST_PERSON = "first_person",
    /// It says "you" or "your".
    SECOND_PERSON = "second_person",
    /// It opens with a word that points.
    POINTS = "points",
    /// Short, with a capital inside.
    CAPITAL = "capital",
    /// It opens with a year.
    YEAR = "year",
    /// It is its sentence.
    WHOLE = "whole",
    /// It opens its sentence.
    OPENS = "opens",
    /// How far it names a time.
    TIME = "time",
    /// A colour, where one is asked for.
    COLOUR = "colour",
    /// A name, where one is asked for.
    NAMED = "named",
    /// A figure, where one is asked for.
    FIGURE = "figure",
    /// A number right before what is counted.
    COUNTED = "counted",
    /// Of the kind that the question names.
    KIND_OF = "kind_of",
    /// Behind "called", to who asks what.
    WHAT_CALLED = "what_called",
    /// Behind an article or "is", to who asks what.
    WHAT_A = "what_a",
    /// It does what the verb asked about says.
    AGENT = "agent",
    /// It follows the words that the question ends with.
    TAIL = "tail",
    /// Its verb is denied.
    DENIED = "denied",
}

/// The traits before this one only depend on where a candidate stands.
pub(super) const PLACES: usize = RIGHT;

/// What questions are grouped by for the table of shapes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Group {
    /// What, and all else.
    What,
    /// How many, how long.
    Figure,
}

const GROUPS: [&str; 2] = ["what", "figure"];
const SHAPES: [(Shape, &str); 5] = [
    (Shape::Phrase, "phrase"),
    (Shape::Name, "name"),
    (Shape::Number, "number"),
    (Shape::Amount, "amount"),
    (Shape::Duration, "duration"),
];

/// Names of all traits, in their order: the plain ones, then every shape for every group of questions.
pub(super) static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let shaped = GROUPS
        .iter()
        .flat_map(|group| SHAPES.iter().map(move |shape| format!("{group}:{}", shape.1)));
    PLAIN.iter().map(|it| (*it).to_owned()).chain(shaped).collect()
});

/// Returns the slot of a shape for a group of questions.
pub(super) fn shaped(group: Group, shape: Shape) -> usize {
    let shape = SHAPES.iter().position(|it| it.0 == shape).unwrap_or_default();
    PLAIN.len() + group as usize * SHAPES.len() + shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_its_name_and_every_weight_a_slot() {
        let of = |name: &str| NAMES.iter().position(|it| it == name);
        for (name, slot) in [
            ("rank", RANK),
            ("sentence_like", SENTENCE_LIKE),
            ("right", RIGHT),
            ("kind_of", KIND_OF),
            ("denied", DENIED),
            ("what:phrase", shaped(Group::What, Shape::Phrase)),
            ("figure:duration", shaped(Group::Figure, Shape::Duration)),
        ] {
            assert_eq!(of(name), Some(slot), "{name}");
        }
        let file: crate::weights::File = serde_json::from_str(include_str!("../../weights/answer.json")).unwrap();
        for name in file.spans.keys() {
            assert!(of(name).is_some(), "{name} has a weight and no slot");
        }
        assert!(
            PLAIN.iter().all(|it| file.spans.contains_key(*it)),
            "a plain trait has no weight"
        );
    }
}
