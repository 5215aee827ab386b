//! The features of a candidate answer; each has a fixed index. A change of the set of features, or of the meaning of
//! one, raises the version of the weights.

macro_rules! slots {
    ($($(#[$doc:meta])* $slot:ident = $name:literal,)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "only numbers the constants below")]
        enum Number { $($slot,)* }
        $($(#[$doc])* pub(crate) const $slot: usize = Number::$slot as usize;)*
        /// Names of all features, in the order of their indices.
        pub(crate) const NAMES: &[&str] = &[$($name,)*];
    };
}

slots! {
    /// 1 for a candidate in the best turn; falls by a factor of e with each following rank.
    RANK = "rank",
    /// Logit of its turn relative to the best turn, at most 0.
    LEAD = "lead",
    /// Cover of its sentence, relative to the best sentence.
    COVER = "cover",
    /// Cover of the sentence before it.
    COVER_BEFORE = "cover_before",
    /// Cover of the sentence before it, if that is a question.
    REPLY = "reply",
    /// How far its sentence is about the subject and not about others.
    OWNED = "owned",
    /// The candidate's sentence is a question.
    ASKS = "asks",
    /// The candidate is in a caption.
    CAPTION = "caption",
    /// Cosine of its sentence to the question.
    SENTENCE_LIKE = "sentence_like",
    /// The candidate has the marks of the requested kind.
    RIGHT = "right",
    /// Nearness to a question word that comes before it.
    FRONT = "front",
    /// Nearness to a question word that comes after it.
    BACK = "back",
    /// Nearness to the verb of the question, where that comes before it.
    VERB = "verb",
    /// Share of its words that the question does not contain.
    NEW = "new",
    /// Number of its words that the question contains, at most 3.
    REPEATED = "repeated",
    /// The candidate is "one", which mostly refers to a thing.
    ONE = "one",
    /// Similarity of its last word to the thing in question.
    HEAD = "head",
    /// The candidate ends with the thing in question.
    HEADED = "headed",
    /// Distance of its length from the usual length of answers of the kind (logarithm of the ratio).
    LENGTH_OFF = "length_off",
    /// The candidate begins with a year.
    YEAR = "year",
    /// How far it names a time.
    TIME = "time",
    /// The candidate is a number directly before the counted noun.
    COUNTED = "counted",
    /// The candidate follows an article or "is", and a colour is asked for.
    BEHIND_IS = "behind_is",
    /// The sentence equates the noun in question with it, or it follows "has" where the question asks for that.
    FILLS = "fills",
    /// The candidate's verb is denied.
    DENIED = "denied",
    /// The candidate is a number alone.
    NUMBER = "number",
    /// The candidate is a number with its unit or currency.
    AMOUNT = "amount",
    /// The candidate is a number with a unit of time.
    DURATION = "duration",
}

/// Number of features at the front that depend only on the place of a candidate.
pub(crate) const PLACES: usize = RIGHT;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_a_name_and_a_weight() {
        for (name, slot) in [("rank", RANK), ("right", RIGHT), ("duration", DURATION)] {
            assert_eq!(NAMES.get(slot), Some(&name));
        }
        let file: crate::weights::File = serde_json::from_str(include_str!("../../../weights/answer.json")).unwrap();
        let mut names = NAMES.to_vec();
        names.sort_unstable();
        assert_eq!(file.spans.keys().map(String::as_str).collect::<Vec<_>>(), names);
    }
}
