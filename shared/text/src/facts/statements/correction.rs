//! Corrections of the message before: "No, it was Tuesday".

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::facts::clauses::token::{Gap, Word};
use crate::facts::lexicon::{
    CHANGE_REPORTS, CORRECTION_LEADS, CORRECTION_OPENERS, DENIALS, MEANT_LEADS, NO_NAMES, VALUE_LEADS, is_number,
};

/// A correction of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// The wrong value, if the text names it.
    pub wrong: Option<String>,
    /// The right value.
    pub right: String,
}

/// Reads a correction of an earlier message. Returns `None` if the text is not a correction, or if it states the right
/// thing in full; such a statement is marked as correcting. `question` is the question that the text answers, or empty:
/// a "no" answers it and corrects only the value that it asked about.
pub fn read_correction(text: &str, question: &str) -> Option<Correction> {
    let mut sentences = crate::split_sentences(text).into_iter().take(3);
    sentences.find_map(|it| in_sentence(it, question))
}

fn in_sentence(sentence: &str, question: &str) -> Option<Correction> {
    if crate::ends_asking(sentence) {
        return None;
    }
    if let Some(right) = sentence.strip_prefix('*').filter(|it| !it.contains('*')) {
        return correction_of_short_value(None, right);
    }
    let plain = sentence.replace('\u{2019}', "'");
    let lower = plain.to_lowercase();
    // In some scripts, lower case changes the length, and then byte offsets would not match.
    if lower.len() != plain.len() {
        return None;
    }
    let mut at = 0;
    let (mut corrects, mut answers) = (false, !question.is_empty());
    while let Some(it) = CORRECTION_OPENERS.iter().find(|it| has_phrase_at(&lower, at, it)) {
        at += it.len();
        at += lower.get(at..)?.len()
            - lower
                .get(at..)?
                .trim_start_matches([' ', ',', '.', '!', ':', '-', ';'])
                .len();
        corrects = true;
        answers &= DENIALS.contains(it);
    }
    let opened = CORRECTION_LEADS.iter().find(|it| has_phrase_at(&lower, at, it));
    let marker = MEANT_LEADS.iter().find(|it| has_phrase_at(&lower, at, it));
    match (opened, marker) {
        (_, Some(it)) => split_right_and_wrong(plain.get(at + it.len()..)?),
        (Some(it), None) if corrects => {
            let it = split_right_and_wrong(plain.get(at + it.len()..)?)?;
            if answers {
                infer_wrong_value_from_question(it, question)
            } else {
                Some(it)
            }
        }
        // "It's Tuesday, not Monday" needs no further sign of a correction.
        (Some(it), None) => split_right_and_wrong(plain.get(at + it.len()..)?).filter(|it| it.wrong.is_some()),
        (None, None) => (corrects && lower.get(at..)?.contains("not "))
            .then(|| split_right_and_wrong(plain.get(at..)?))
            .flatten()
            .filter(|it| it.wrong.is_some()),
    }
}

/// Returns a denial of a question as a correction. The wrong value is the one that the denial names, otherwise the one
/// that the question asked about. A number in the question is not used, since it may count something else.
fn infer_wrong_value_from_question(by: Correction, question: &str) -> Option<Correction> {
    if by.wrong.is_some() {
        return Some(by);
    }
    let wanted = kind_of_value(&by.right).filter(|it| *it != Kind::Number)?;
    let words: Vec<&str> = question.split_whitespace().collect();
    let range = find_only_value_of_kind(&words, wanted)?;
    let wrong = words[range].join(" ");
    let wrong = wrong.trim_matches(|it: char| !it.is_alphanumeric());
    Some(Correction {
        wrong: Some(wrong.trim_end_matches("'s").to_owned()),
        ..by
    })
}

fn has_phrase_at(text: &str, at: usize, phrase: &str) -> bool {
    text.get(at..).is_some_and(|it| {
        it.starts_with(phrase)
            && !it[phrase.len()..]
                .chars()
                .next()
                .is_some_and(|it| it.is_alphanumeric() || it == '\'')
    })
}

/// Splits "Tuesday, not Monday" and "not Monday but Tuesday" into the right and the wrong value.
fn split_right_and_wrong(value: &str) -> Option<Correction> {
    let value = value.trim();
    let lower = value.to_lowercase();
    if lower.len() != value.len() {
        return None;
    }
    if let Some(rest) = lower.strip_prefix("not ") {
        let from = value.len() - rest.len();
        let cut = rest
            .find(" but ")
            .map(|it| (it, 5))
            .or_else(|| rest.find(", ").map(|it| (it, 2)))?;
        return correction_of_short_value(value.get(from..from + cut.0), value.get(from + cut.0 + cut.1..)?);
    }
    match lower
        .find(", not ")
        .map(|it| (it, 6))
        .or_else(|| lower.find(" not ").map(|it| (it, 5)))
    {
        Some((at, width)) => correction_of_short_value(value.get(at + width..), value.get(..at)?),
        None => correction_of_short_value(None, value),
    }
}

fn correction_of_short_value(wrong: Option<&str>, right: &str) -> Option<Correction> {
    let clean = |it: &str| {
        let it = it.trim().trim_end_matches(['.', '!', ',', ';', ')']).trim();
        let led = it.split_once(' ').filter(|it| VALUE_LEADS.contains(it.0));
        led.map_or(it, |it| it.1).to_owned()
    };
    let right = clean(right);
    let words = right.split_whitespace().count();
    let is_value = (1..=4).contains(&words) && kind_of_value(&right).is_some();
    is_value.then(|| Correction {
        wrong: wrong.map(clean).filter(|it| !it.is_empty()),
        right,
    })
}

/// Returns true if a sentence that states the right thing in full corrects an earlier statement. A denial that answers
/// a question does not. Neither does a statement about the present state ("now"), which reports a change.
pub(crate) fn corrects_earlier_statement(words: &[Word], answers: bool) -> bool {
    let at = |at: usize, it: &str| words.get(at).is_some_and(|word| word.lower == it);
    let opens = |it: &&str| {
        let opening: Vec<&str> = it.split(' ').collect();
        let set_off = words.get(opening.len() - 1).is_some_and(|it| it.gap != Gap::None);
        set_off && opening.iter().enumerate().all(|(place, it)| at(place, it)) && !(answers && DENIALS.contains(it))
    };
    let by_now = |place: usize| {
        CHANGE_REPORTS
            .iter()
            .any(|it| (place..).zip(it.split(' ')).all(|(place, it)| at(place, it)))
    };
    (CORRECTION_OPENERS.iter().any(opens) || at(0, "actually")) && !(0..words.len()).any(by_now)
}

/// Returns `object` with the correction applied; `None` if no part of it is of the corrected kind.
pub fn apply_correction(object: &str, by: &Correction) -> Option<String> {
    if let Some(wrong) = &by.wrong {
        let at = find_at_word_boundaries(object, wrong)?;
        return Some(format!(
            "{}{}{}",
            object.get(..at)?,
            by.right,
            object.get(at + wrong.len()..)?
        ));
    }
    let wanted = kind_of_value(&by.right)?;
    let words: Vec<&str> = object.split_whitespace().collect();
    let same = find_only_value_of_kind(&words, wanted)?;
    if words[same.clone()].contains(&by.right.as_str()) {
        return None;
    }
    let mut out: Vec<&str> = words[..same.start].to_vec();
    out.push(&by.right);
    out.extend(&words[same.end..]);
    Some(out.join(" "))
}

/// Returns the position of the only value of a kind. A name of several words is one value; with two separate values,
/// the result is `None`.
fn find_only_value_of_kind(words: &[&str], wanted: Kind) -> Option<Range<usize>> {
    let same: Vec<usize> = (0..words.len())
        .filter(|&it| kind_of_value(words[it]) == Some(wanted))
        .collect();
    let (first, last) = (*same.first()?, *same.last()?);
    let one = last - first + 1 == same.len() && (same.len() == 1 || wanted == Kind::Name);
    one.then_some(first..last + 1)
}

/// Returns the byte offset of `part` in `text` between word boundaries, in any case.
fn find_at_word_boundaries(text: &str, part: &str) -> Option<usize> {
    let (lower, part) = (text.to_lowercase(), part.to_lowercase());
    if lower.len() != text.len() {
        return None;
    }
    lower.match_indices(&part).map(|it| it.0).find(|&at| {
        let before = lower[..at].chars().next_back();
        let after = lower[at + part.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Weekday,
    Month,
    Number,
    Name,
}

/// Returns the kind of a value, by its first word that shows one.
fn kind_of_value(value: &str) -> Option<Kind> {
    value.split_whitespace().find_map(|word| {
        let bare = word.trim_matches(|it: char| !it.is_alphanumeric());
        let lower = bare.to_lowercase();
        if lower.ends_with("day")
            && NO_NAMES.contains(&lower.as_str())
            && !matches!(lower.as_str(), "today" | "yesterday")
        {
            Some(Kind::Weekday)
        } else if crate::time::words::MONTHS.contains(&lower.as_str())
            && bare.chars().next().is_some_and(char::is_uppercase)
        {
            Some(Kind::Month)
        } else if is_number(&lower) || (lower.chars().any(|it| it.is_ascii_digit())) {
            Some(Kind::Number)
        } else {
            let capital = bare.chars().next().is_some_and(char::is_uppercase) && bare.chars().count() > 1;
            (capital && !crate::is_stop(bare) && !NO_NAMES.contains(&lower.as_str())).then_some(Kind::Name)
        }
    })
}
