//! Determines whom a sentence is about: its speaker, or the person who is addressed.
//!
//! A memory system that only looks at the speaker takes "Congratulations on your new job, Ann!" for news about the
//! speaker. These rules read pronouns, the form of the sentence and the sentence before it. They know English and take
//! most sentences without a known word as statements about the speaker. They read pronouns of other languages by their
//! English in `gloss`.

use crate::lexicon::{self, Class, is_in_class};

/// How far a sentence is about its speaker and about the addressee, each 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ownership {
    /// Share of the speaker.
    pub speaker: f32,
    /// Share of the addressee.
    pub addressee: f32,
}

/// The surroundings of a sentence.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// True if it is the caption of an image that the speaker shares.
    pub caption: bool,
    /// Ownership of the previous sentence of the same turn; `None` for the first sentence.
    pub previous: Option<Ownership>,
    /// True if the previous turn, of another speaker, ends with a question.
    pub reply: bool,
}

/// Returns true if a sentence is a question. A statement with a tag ("I moved to Porto, did I tell you?") is not.
pub fn is_untagged_question(sentence: &str) -> bool {
    question_without_tag(sentence).is_none() && crate::ends_asking(sentence)
}

/// Returns the statement before a tag; `None` if the sentence has no tag.
fn question_without_tag(sentence: &str) -> Option<&str> {
    let (statement, tag) = sentence.trim_end().strip_suffix('?')?.rsplit_once(',')?;
    let words: Vec<String> = crate::split_words(statement)
        .iter()
        .map(|it| it.to_lowercase())
        .collect();
    let first = words.iter().find(|it| !is_in_class(it, Class::Interjection))?;
    let short = crate::split_words(tag).len() <= TAG_MAX;
    (short && words.len() >= 3 && !is_in_class(first, Class::OpensQuestion)).then_some(statement)
}

/// Returns whom `text`, a single sentence, is about. The rules are tried in order, and the first one that fits decides.
pub fn ownership_of_sentence(text: &str, context: &Context) -> Ownership {
    if context.caption {
        return from_shares(1.0, 0.0);
    }
    let glossed = crate::gloss::to_english(text);
    let without_tag = question_without_tag(&glossed);
    let lower = remove_remarks(&without_tag.unwrap_or(&glossed).to_lowercase().replace('’', "'"));
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|it| !it.is_empty())
        .collect();
    let i = words.iter().position(|it| is_in_class(it, Class::FirstPerson));
    let we = words.iter().any(|it| is_in_class(it, Class::FirstPersonPlural));
    let you = position_of_you(&words);
    if crate::ends_asking(&lower) {
        return ownership_of_question(i.is_some() || we, you.is_some());
    }
    match (i, we, you) {
        (Some(_), _, None) => from_shares(1.0, if we { 0.1 } else { 0.0 }),
        (Some(own), _, Some(other)) => ownership_with_both_pronouns(&lower, own, other),
        (None, true, Some(_)) => from_shares(0.7, 0.6),
        (None, true, None) => from_shares(1.0, 0.2),
        (None, false, Some(_)) => from_shares(0.0, 1.0),
        (None, false, None) => without_pronoun(&lower, &words, context),
    }
}

/// Returns a sentence in lower case without conditions that only comment on it: "if you ask me, I sold it" is about the
/// speaker.
fn remove_remarks(lower: &str) -> String {
    let remarks = lexicon::words_of_class(Class::Remark).iter();
    remarks.fold(lower.to_owned(), |rest, remark| {
        if contains_phrase(&rest, remark) {
            rest.replace(remark, "")
        } else {
            rest
        }
    })
}

/// A question is about the addressee unless its pronouns name only the speaker.
fn ownership_of_question(own: bool, other: bool) -> Ownership {
    match (own, other) {
        (false, true) => from_shares(0.0, 1.0),
        (true, true) => from_shares(0.3, 0.8),
        (true, false) => from_shares(0.8, 0.3),
        (false, false) => from_shares(0.1, 0.8),
    }
}

/// If a sentence has both pronouns, the first one is the subject, unless the words after "I" only comment on the
/// affairs of the addressee.
fn ownership_with_both_pronouns(lower: &str, own: usize, other: usize) -> Ownership {
    if lexicon::words_of_class(Class::Attitude)
        .iter()
        .any(|it| lower.contains(it))
    {
        from_shares(0.15, 0.9)
    } else if own < other {
        from_shares(0.8, 0.3)
    } else {
        from_shares(0.4, 0.7)
    }
}

fn without_pronoun(lower: &str, words: &[&str], context: &Context) -> Ownership {
    if lexicon::words_of_class(Class::Evaluation)
        .iter()
        .any(|it| contains_phrase(lower, it))
    {
        return from_shares(0.1, 0.9);
    }
    let first = words.iter().find(|it| !is_in_class(it, Class::Interjection));
    if first.is_some_and(|it| is_in_class(it, Class::DroppedI)) {
        return from_shares(1.0, 0.0);
    }
    if first.is_some_and(|it| is_in_class(it, Class::Advice)) {
        return from_shares(0.1, 0.9);
    }
    match context.previous {
        Some(before) => from_shares(0.85 * before.speaker + 0.1, 0.85 * before.addressee + 0.05),
        None if context.reply => from_shares(0.95, 0.1),
        None => from_shares(0.7, 0.3),
    }
}

/// Returns the index of the first "you". In "thank you" and "you know" it refers to no person.
fn position_of_you(words: &[&str]) -> Option<usize> {
    let empty = |at: usize| {
        let before = at.checked_sub(1).map(|it| words[it]);
        let after = words.get(at + 1).copied();
        words[at] == "you" && (matches!(before, Some("thank")) || after == Some("know") || after == Some("guys"))
    };
    (0..words.len()).find(|&at| is_in_class(words[at], Class::SecondPerson) && !empty(at))
}

/// Returns true if `phrase` occurs in `text` between word boundaries.
fn contains_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

fn from_shares(speaker: f32, addressee: f32) -> Ownership {
    Ownership { speaker, addressee }
}

/// Number of words of the longest tag of a question.
const TAG_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn shares_of_sentence(text: &str, context: Context) -> (f32, f32) {
        let found = ownership_of_sentence(text, &context);
        (found.speaker, found.addressee)
    }

    #[test]
    fn pronouns_decide_whom_a_sentence_is_about() {
        for (text, own) in [
            ("I moved to Porto in spring.", true),
            ("Our kitchen is finally painted.", true),
            ("Just got back from the dentist.", true),
            ("Yeah, gonna try the pottery class.", true),
            ("Your new bakery looks lovely.", false),
            ("Did you finish the marathon?", false),
            ("I sold the boat, did you hear?", true),
            ("If you ask me, I sold the boat too early.", true),
            ("Ayer compré una bicicleta roja.", true),
            ("我昨天买了一辆自行车。", true),
            ("Deine neue Bäckerei ist schön.", false),
            ("Congrats on the new job!", false),
            ("I'm so glad you got the scholarship.", false),
            ("If you ask her, I sold the boat too early.", false),
            ("That's a big step.", false),
        ] {
            let (speaker, addressee) = shares_of_sentence(text, Context::default());
            assert_eq!(speaker > addressee, own, "{text}: {speaker} {addressee}");
        }
    }

    #[test]
    fn the_previous_sentence_and_the_context_decide_without_a_pronoun() {
        let before = ownership_of_sentence("You should see the old harbour.", &Context::default());
        let follows = Context {
            previous: Some(before),
            ..Context::default()
        };
        let (speaker, addressee) = shares_of_sentence("Great views everywhere.", follows);
        assert!(addressee > speaker);
        let (speaker, addressee) = shares_of_sentence(
            "Two cats and a parrot.",
            Context {
                reply: true,
                ..Context::default()
            },
        );
        assert!(speaker > 0.9 && addressee < 0.2);
        assert_eq!(
            shares_of_sentence(
                "a red bicycle",
                Context {
                    caption: true,
                    ..Context::default()
                }
            ),
            (1.0, 0.0)
        );
    }

    #[test]
    fn sentences_without_known_words_are_mostly_about_the_speaker() {
        for text in [
            "",
            "...",
            "Thank you, two of them arrived.",
            "Вчера купили красный велосипед.",
        ] {
            let (speaker, addressee) = shares_of_sentence(text, Context::default());
            assert!(speaker > addressee && addressee > 0.0, "{text}");
        }
    }
}
