//! Verbs and conjunctions by which the tense of a clause is recognised.

use crate::lexicon::verbs::is_past;
use crate::lexicon::{Class as WordClass, classes_of_word, is_in_class};
use crate::time::token::{Tense, Token};
use crate::time_words::lexicon::Class;

pub(crate) fn tense_cue(last: &str, word: &str, next: &str) -> Tense {
    let classes = classes_of_word(word);
    match word {
        "’ll" => Tense::Future,
        _ if classes.has_class(WordClass::FutureCue) => Tense::Future,
        "going" if next == "to" => Tense::Future,
        "looking" | "forward" => Tense::Future,
        // "In Rome now, back on the 28th" is in the future; "came back on the 28th" is not.
        "back" if matches!(next, "on" | "by") && (is_be(last) || matches!(last, "" | "," | "be")) => Tense::Future,
        // The class has "didn" and similar forms too, since "'t" is a separate token.
        _ if classes.has_class(WordClass::PastCue) => Tense::Past,
        _ if is_past(word) => Tense::Past,
        _ if classes.has_class(WordClass::PastParticiple) && !ties_participle(last) => Tense::Past,
        // "Is planned" and "will be closed" are not about the past.
        _ if word.len() > 3 && word.ends_with("ed") && !ties_participle(last) && !is_state(word) => Tense::Past,
        _ => Tense::Open,
    }
}

/// Returns true if token `i` is the first word of its sentence, or of a clause after a mark.
pub(crate) fn opens_clause(tokens: &[Token<'_>], i: usize) -> bool {
    let Some(last) = i.checked_sub(1).map(|last| &tokens[last]) else {
        return true;
    };
    last.sentence != tokens[i].sentence || matches!(last.class, Class::Mark(_)) && !tokens[i].glued
}

/// Returns true if a word is a present form of "be" that cannot be another word: "am", "is", "are", "'m" or "'re".
pub(crate) fn is_be(word: &str) -> bool {
    is_in_class(word, WordClass::PresentBe) || matches!(word.strip_prefix(['\'', '’']), Some("m" | "re"))
}

/// Returns true if a word is or may be a present form of "be": one of [`is_be`], or "'s", which also marks a possessor.
pub(crate) fn may_be_present_be(word: &str) -> bool {
    is_be(word) || matches!(word, "'s" | "’s")
}

/// Returns true if a participle after this word is not a past tense: "is closed", "a baked potato".
pub(crate) fn ties_participle(last: &str) -> bool {
    is_in_class(last, WordClass::TiesParticiple)
}

/// Returns true for words in "-ed" that describe a state or are not a past form: "so excited for Saturday", "we need
/// milk".
pub(crate) fn is_state(word: &str) -> bool {
    let own = ["agreed", "freed"];
    is_in_class(word, WordClass::StateOnEd) || (word.ends_with("eed") && !own.contains(&word))
}
