//! Surface patterns that show what kind of information a text contains. English.

use crate::lexicon::{Class, Classes, classes_of_word, is_in_class};
use crate::{is_stop, split_words};

/// Number of patterns.
pub const N: usize = 22;

/// Names of the patterns, by index.
pub const NAMES: [&str; N] = [
    "date",
    "duration",
    "number",
    "money",
    "place",
    "reason",
    "plan",
    "preference",
    "past",
    "i",
    "you",
    "greeting",
    "anaphor",
    "yes_no",
    "quote",
    "list",
    "instruction",
    "kin",
    "capital",
    "feeling",
    "code",
    "url",
];

/// A date or a word that places something in time.
pub const DATE: usize = 0;
/// A length of time.
pub const DURATION: usize = 1;
/// A number or a word for a number.
pub const NUMBER: usize = 2;
/// An amount of money or a share.
pub const MONEY: usize = 3;
/// A preposition before a capitalised word.
pub const PLACE: usize = 4;
/// A reason given.
pub const REASON: usize = 5;
/// A plan or an intention.
pub const PLAN: usize = 6;
/// A like, a dislike or a habit.
pub const PREFERENCE: usize = 7;
/// A verb in the past.
pub const PAST: usize = 8;
/// First person.
pub const I: usize = 9;
/// Second person.
pub const YOU: usize = 10;
/// The text starts with a greeting or a comment.
pub const GREETING: usize = 11;
/// The text starts with a word that points back.
pub const ANAPHOR: usize = 12;
/// The text starts with yes or no.
pub const YES_NO: usize = 13;
/// A quoted title.
pub const QUOTE: usize = 14;
/// A list of things: "a, b and c".
pub const LIST: usize = 15;
/// A standing wish: always, never, from now on, when I ask.
pub const INSTRUCTION: usize = 16;
/// Family, friends, colleagues.
pub const KIN: usize = 17;
/// A capitalised word inside a sentence.
pub const CAPITAL: usize = 18;
/// A word for a feeling.
pub const FEELING: usize = 19;
/// Source code.
pub const CODE: usize = 20;
/// A web address.
pub const URL: usize = 21;

/// Patterns that only the first words of a text can match.
pub const OPENING: [usize; 3] = [GREETING, ANAPHOR, YES_NO];

/// The patterns that a single word can match, with the class of their words.
const CLASSES: [(usize, Class); 12] = [
    (DATE, Class::PatternDate),
    (NUMBER, Class::PatternNumber),
    (MONEY, Class::PatternMoney),
    (REASON, Class::PatternReason),
    (PLAN, Class::PatternPlan),
    (PREFERENCE, Class::PatternPreference),
    (PAST, Class::PatternPast),
    (I, Class::PatternI),
    (YOU, Class::PatternYou),
    (KIN, Class::PatternKin),
    (FEELING, Class::PatternFeeling),
    (INSTRUCTION, Class::PatternInstruction),
];

/// Returns the number of occurrences of each pattern in a text, at most 255 each, in the order of [`NAMES`].
pub fn count_patterns(text: &str) -> [u8; N] {
    let mut found = [0_u8; N];
    let words = split_words(text);
    let lower: Vec<String> = words
        .iter()
        .map(|it| it.to_lowercase().replace('\u{2019}', "'"))
        .collect();
    for (i, word) in lower.iter().enumerate() {
        let classes = classes_of_word(word);
        let has = |it: &&(usize, Class)| classes.has_class(it.1);
        CLASSES
            .iter()
            .filter(has)
            .for_each(|it| increment_count(&mut found, it.0));
        count_word_patterns(&mut found, &lower, i, classes);
        let before = i.checked_sub(1).map(|it| lower[it].as_str());
        count_capitals(&mut found, words[i], before);
    }
    count_opening_patterns(&mut found, &lower);
    count_punctuation_patterns(&mut found, text);
    found
}

fn increment_count(found: &mut [u8; N], pattern: usize) {
    found[pattern] = found[pattern].saturating_add(1);
}

/// Counts the patterns that word `i`, which is of these classes, forms with the words after it.
fn count_word_patterns(found: &mut [u8; N], words: &[String], i: usize, classes: Classes) {
    let at = |n: usize| words.get(i + n).map_or("", String::as_str);
    let unit = |n: usize| is_in_class(at(n), Class::PatternUnit);
    let is_dated = |n: usize| unit(n) || is_weekday(at(n));
    match (at(0), at(1)) {
        _ if classes.has_class(Class::PatternDated) && is_dated(1) => increment_count(found, DATE),
        _ if classes.has_class(Class::PatternLasts) && (unit(2) || unit(3)) => increment_count(found, DURATION),
        (_, "me") if classes.has_class(Class::PatternHelps) => increment_count(found, REASON),
        ("so", "that") | ("due", "to") | ("in", "order") | ("means", "a") => increment_count(found, REASON),
        (_, next) if classes.has_class(Class::PatternPlans) && is_in_class(next, Class::PatternPlanned) => {
            increment_count(found, PLAN)
        }
        ("can't", "wait") => increment_count(found, PLAN),
        ("every", _) if is_dated(1) => increment_count(found, PREFERENCE),
        ("make", "sure") | ("from", "now") | ("when", "i") | ("i'd", "prefer") | ("want", "you") => {
            increment_count(found, INSTRUCTION)
        }
        _ => {}
    }
    let word = at(0);
    let digits = word.chars().next().is_some_and(|it| it.is_ascii_digit());
    if digits {
        increment_count(found, NUMBER);
        if unit(1) && at(2) != "ago" {
            increment_count(found, DURATION);
        }
        if word.len() == 4 && (word.starts_with("19") || word.starts_with("20")) {
            increment_count(found, DATE);
        }
    }
    if word.len() > 4 && word.ends_with("ed") {
        increment_count(found, PAST);
    }
}

fn is_weekday(word: &str) -> bool {
    word.ends_with("day") && is_in_class(word, Class::PatternDate)
}

fn count_capitals(found: &mut [u8; N], word: &str, before: Option<&str>) {
    let Some(before) = before else { return };
    if !word.chars().next().is_some_and(char::is_uppercase) || is_stop(word) {
        return;
    }
    increment_count(found, CAPITAL);
    if is_in_class(before, Class::PatternPlace) {
        increment_count(found, PLACE);
    }
}

/// Counts the patterns of the first words.
fn count_opening_patterns(found: &mut [u8; N], words: &[String]) {
    let Some(first) = words.first() else { return };
    let yes_no = is_in_class(first, Class::PatternYesNo);
    found[YES_NO] = u8::from(yes_no);
    found[GREETING] = u8::from(is_in_class(first, Class::PatternGreeting));
    let skip = words
        .iter()
        .take(2)
        .take_while(|it| yes_no || is_in_class(it, Class::PatternSkipped))
        .count()
        .min(1);
    found[ANAPHOR] = u8::from(words.get(skip).is_some_and(|it| is_in_class(it, Class::PatternAnaphor)));
}

/// Counts the patterns of punctuation.
fn count_punctuation_patterns(found: &mut [u8; N], text: &str) {
    for mark in ["http://", "https://", "www."] {
        found[URL] = found[URL].saturating_add(u8::try_from(text.matches(mark).count()).unwrap_or(u8::MAX));
    }
    for mark in ["```", "();", "=>", "{\n", "def ", "import ", "</", "=="] {
        found[CODE] |= u8::from(text.contains(mark));
    }
    for sign in ['$', '€', '£', '%'] {
        found[MONEY] = found[MONEY].saturating_add(u8::try_from(text.matches(sign).count()).unwrap_or(u8::MAX));
    }
    let quoted = |open: char| {
        text.split(open)
            .skip(1)
            .any(|it| it.chars().next().is_some_and(char::is_uppercase))
    };
    found[QUOTE] = u8::from(quoted('"') || quoted('\u{201c}'));
    let row = text.matches(", ").count() >= 1 && (text.contains(" and ") || text.contains(" or "));
    found[LIST] = u8::from(
        row && text
            .split([',', ';'])
            .skip(1)
            .any(|it| it.split_whitespace().count() <= 4 && !it.is_empty()),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_pattern_names(text: &str) -> Vec<&'static str> {
        let found = count_patterns(text);
        (0..N).filter(|&it| found[it] > 0).map(|it| NAMES[it]).collect()
    }

    #[test]
    fn patterns_are_found() {
        assert_eq!(
            found_pattern_names("Yes, it took 3 weeks"),
            ["duration", "number", "past", "anaphor", "yes_no"]
        );
        assert_eq!(
            found_pattern_names("I went to Oslo last Friday"),
            ["date", "place", "past", "i", "capital"]
        );
        assert_eq!(
            found_pattern_names("tea, milk and bread: $5"),
            ["number", "money", "list"]
        );
        assert_eq!(
            found_pattern_names("From now on please use \"Anna\""),
            ["quote", "instruction", "capital"]
        );
        assert_eq!(found_pattern_names("hello"), ["greeting"]);
        assert_eq!(found_pattern_names(""), Vec::<&str>::new());
    }
}
