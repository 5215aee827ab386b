//! The features of a candidate answer: a fixed slot each. Adding, removing or changing the meaning of one raises the version of
//! the weights.

macro_rules! slots {
    ($($(#[$doc:meta])* $slot:ident = $name:literal,)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "only numbers the constants below")]
        enum Number { $($slot,)* }
        $($(#[$doc])* pub(super) const $slot: usize = Number::$slot as usize;)*
        /// Names of all features, in their order.
        pub(crate) const NAMES: &[&str] = &[$($name,)*];
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
    /// It is "one", which mostly points to a thing.
    ONE = "one",
    /// Likeness of its last word to the thing asked for.
    HEAD = "head",
    /// It ends with the thing asked for.
    HEADED = "headed",
    /// How far its length is from that of answers of the kind.
    LENGTH_OFF = "length_off",
    /// It opens with a year.
    YEAR = "year",
    /// How far it names a time.
    TIME = "time",
    /// A number right before what is counted.
    COUNTED = "counted",
    /// Behind an article or "is", where a colour is asked for.
    BEHIND_IS = "behind_is",
    /// It follows the noun that it is said to be, or "has" where that is asked.
    FILLS = "fills",
    /// Its verb is denied.
    DENIED = "denied",
    /// It is a number alone.
    NUMBER = "number",
    /// It is a number with its unit or currency.
    AMOUNT = "amount",
    /// It is a number with a unit of time.
    DURATION = "duration",
}

/// The features before this one only depend on where a candidate stands.
pub(super) const PLACES: usize = RIGHT;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_its_name_and_a_weight() {
        for (name, slot) in [("rank", RANK), ("right", RIGHT), ("duration", DURATION)] {
            assert_eq!(NAMES.get(slot), Some(&name));
        }
        let file: crate::weights::File = serde_json::from_str(include_str!("../../weights/answer.json")).unwrap();
        let mut names = NAMES.to_vec();
        names.sort_unstable();
        assert_eq!(file.spans.keys().map(String::as_str).collect::<Vec<_>>(), names);
    }
}
