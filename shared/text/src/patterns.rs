//! Surface patterns that tell what kind of thing a text says. English.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::{is_stop, words};

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
/// Something intended.
pub const PLAN: usize = 6;
/// Something liked, disliked or done as a habit.
pub const PREFERENCE: usize = 7;
/// A verb in the past.
pub const PAST: usize = 8;
/// First person.
pub const I: usize = 9;
/// Second person.
pub const YOU: usize = 10;
/// The text starts like a greeting or a comment.
pub const GREETING: usize = 11;
/// The text starts with a word that points back.
pub const ANAPHOR: usize = 12;
/// The text starts with yes or no.
pub const YES_NO: usize = 13;
/// A quoted title.
pub const QUOTE: usize = 14;
/// Things in a row: "a, b and c".
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
/// An address on the web.
pub const URL: usize = 21;

/// Patterns that only the first words of a text can have.
pub const OPENING: [usize; 3] = [GREETING, ANAPHOR, YES_NO];

/// Words by pattern, any form as written; matched in lower case.
const WORDS: [(usize, &str); 12] = [
    (
        DATE,
        "yesterday today tonight tomorrow monday tuesday wednesday thursday friday saturday sunday january february april \
         june july august september october november december weekend recently since ago christmas easter birthday \
         anniversary summer winter spring autumn",
    ),
    (
        NUMBER,
        "two three four five six seven eight nine ten eleven twelve dozen once twice couple several both hundred thousand \
         million half",
    ),
    (MONEY, "dollars dollar euros euro pounds cents bucks percent"),
    (
        REASON,
        "because inspired inspires inspiring motivated motivates motivation reminds reminded",
    ),
    (
        PLAN,
        "will gonna plan plans planning planned hope hoping hopefully want wants goal goals dream considering intend upcoming \
         soon",
    ),
    (
        PREFERENCE,
        "love loves loved like likes enjoy enjoys enjoyed favorite favourite fan prefer prefers hate hates passion passionate \
         always usually never favorites favourites",
    ),
    (
        PAST,
        "was were went got had did made took saw came found gave told said left met bought brought started felt thought \
         began ran won lost kept built taught spent ate drove wrote read grew knew sent heard became",
    ),
    (
        I,
        "i i'm i've i'd i'll me my mine myself we we're we've we'd we'll our ours us",
    ),
    (YOU, "you you're you've you'd you'll your yours yourself"),
    (
        KIN,
        "mom mother mum dad father parents brother sister son daughter wife husband partner boyfriend girlfriend fiance \
         fiancee grandma grandpa grandmother grandfather aunt uncle cousin niece nephew kids kid children child family friend \
         friends colleague colleagues coworker neighbor neighbour boss teacher roommate team",
    ),
    (
        FEELING,
        "feel feels feeling felt happy sad proud nervous stressed stress stressful grateful thankful calm tough excited anxious \
         worried scared afraid angry lonely tired overwhelmed joy relaxed relaxing upset disappointed frustrated hurt",
    ),
    (INSTRUCTION, "always never whenever please remember prefer"),
];

/// Units of time.
const UNITS: [&str; 16] = [
    "minute", "minutes", "hour", "hours", "day", "days", "night", "week", "weeks", "weekend", "month", "months",
    "year", "years", "decade", "decades",
];
const OPENERS: &str = "hey hi hello thanks thank wow glad congrats congratulations yeah oh awesome great cool nice sounds aww haha lol \
    yay amazing absolutely definitely sure exactly";
const POINTERS: &str = "it it's that that's this they they're he he's she she's those both one its these";

static LEXICON: LazyLock<HashMap<&str, u32>> = LazyLock::new(|| {
    let mut lexicon = HashMap::new();
    for (pattern, list) in WORDS {
        list.split_whitespace()
            .for_each(|it| *lexicon.entry(it).or_default() |= 1 << pattern);
    }
    lexicon
});

/// Returns how often each pattern occurs in a text, at most 255 times each, by the indices of this module.
pub fn count(text: &str) -> [u8; N] {
    let mut found = [0_u8; N];
    let words = words(text);
    let lower: Vec<String> = words
        .iter()
        .map(|it| it.to_lowercase().replace('\u{2019}', "'"))
        .collect();
    for (i, word) in lower.iter().enumerate() {
        let mask = LEXICON.get(word.as_str()).copied().unwrap_or_default();
        (0..N)
            .filter(|it| mask & (1 << it) != 0)
            .for_each(|it| add(&mut found, it));
        around(&mut found, &lower, i);
        let before = i.checked_sub(1).map(|it| lower[it].as_str());
        capitals(&mut found, words[i], before);
    }
    start(&mut found, &lower);
    marks(&mut found, text);
    found
}

fn add(found: &mut [u8; N], pattern: usize) {
    found[pattern] = found[pattern].saturating_add(1);
}

/// Patterns of a word with its neighbours.
fn around(found: &mut [u8; N], words: &[String], i: usize) {
    let at = |n: usize| words.get(i + n).map_or("", String::as_str);
    let unit = |n: usize| UNITS.contains(&at(n));
    match (at(0), at(1)) {
        ("last" | "next" | "this", _) if unit(1) || weekday(at(1)) => add(found, DATE),
        ("for" | "over" | "took" | "after", _) if unit(2) || unit(3) => add(found, DURATION),
        ("so", "that") | ("due", "to") | ("made" | "makes" | "helps" | "help", "me") => add(found, REASON),
        ("in", "order") | ("means", "a") => add(found, REASON),
        ("going" | "thinking" | "looking", "to" | "of" | "forward") | ("can't", "wait") => add(found, PLAN),
        ("every", _) if unit(1) || weekday(at(1)) => add(found, PREFERENCE),
        ("make", "sure") | ("from", "now") | ("when", "i") | ("i'd", "prefer") | ("want", "you") => {
            add(found, INSTRUCTION)
        }
        _ => {}
    }
    let word = at(0);
    let digits = word.chars().next().is_some_and(|it| it.is_ascii_digit());
    if digits {
        add(found, NUMBER);
        if unit(1) && at(2) != "ago" {
            add(found, DURATION);
        }
        if word.len() == 4 && (word.starts_with("19") || word.starts_with("20")) {
            add(found, DATE);
        }
    }
    if word.len() > 4 && word.ends_with("ed") {
        add(found, PAST);
    }
}

fn weekday(word: &str) -> bool {
    word.ends_with("day") && LEXICON.get(word).is_some_and(|it| it & (1 << DATE) != 0)
}

fn capitals(found: &mut [u8; N], word: &str, before: Option<&str>) {
    let Some(before) = before else { return };
    if !word.chars().next().is_some_and(char::is_uppercase) || is_stop(word) {
        return;
    }
    add(found, CAPITAL);
    if matches!(
        before,
        "in" | "at" | "to" | "from" | "near" | "visit" | "visited" | "around"
    ) {
        add(found, PLACE);
    }
}

/// Patterns of the first words.
fn start(found: &mut [u8; N], words: &[String]) {
    let is = |list: &str, word: &str| list.split(' ').any(|it| it == word);
    let Some(first) = words.first() else { return };
    let yes_no = matches!(first.as_str(), "yes" | "no" | "yeah" | "yep" | "nope" | "nah" | "yup");
    found[YES_NO] = u8::from(yes_no);
    found[GREETING] = u8::from(is(OPENERS, first));
    let skip = words
        .iter()
        .take(2)
        .take_while(|it| yes_no || matches!(it.as_str(), "oh" | "so" | "and" | "well"))
        .count()
        .min(1);
    found[ANAPHOR] = u8::from(words.get(skip).is_some_and(|it| is(POINTERS, it)));
}

/// Patterns of punctuation.
fn marks(found: &mut [u8; N], text: &str) {
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

    fn has(text: &str) -> Vec<&'static str> {
        let found = count(text);
        (0..N).filter(|&it| found[it] > 0).map(|it| NAMES[it]).collect()
    }

    #[test]
    fn patterns_are_found() {
        assert_eq!(
            has("Yes, it took 3 weeks"),
            ["duration", "number", "past", "anaphor", "yes_no"]
        );
        assert_eq!(
            has("I went to Oslo last Friday"),
            ["date", "place", "past", "i", "capital"]
        );
        assert_eq!(has("tea, milk and bread: $5"), ["number", "money", "list"]);
        assert_eq!(
            has("From now on please use \"Anna\""),
            ["quote", "instruction", "capital"]
        );
        assert_eq!(has("hello"), ["greeting"]);
        assert_eq!(has(""), Vec::<&str>::new());
    }
}
