//! What a new post is, told without a verb behind the news of it: "I got the promotion! Head of data at Orbit from April."

use std::ops::Range;

use chrono::Months;
use domain::fact::Aspect;
use domain::time::TimeSpan;

use super::lexicon::{JOBS, NO_JOB, NO_NAMES};
use super::said::{Draft, Said};
use super::token::{Gap, Word};
use super::verb::{Form, base_of};
use super::when::after;
use crate::time::{Kind, find};

/// Returns the words that may name a post: those behind the news, or the first ones if the sentence before tells it.
pub(super) fn part(words: &[Word], told_before: bool) -> Option<Range<usize>> {
    let ends = |from: usize| {
        let gap = (from..words.len()).find(|it| words[*it].gap != Gap::None);
        gap.map_or(words.len(), |it| it + 1)
    };
    let first = ends(0);
    if tells(&words[..first]) {
        return (first < words.len()).then(|| first..ends(first));
    }
    told_before.then_some(0..first)
}

/// Says whether words tell that whoever speaks has a new post, and not which: "I got the promotion".
pub(super) fn tells(words: &[Word]) -> bool {
    let lower = words.iter().filter(|it| !it.quoted).map(|it| it.lower.as_str());
    let said: Vec<&str> = lower
        .skip_while(|it| *it != "i")
        .filter(|it| !SMALL.contains(it))
        .collect();
    match said.as_slice() {
        ["i", "got", "promoted"] | ["i", "been" | "was", "promoted"] => true,
        ["i", "got" | "landed" | "accepted" | "took", post] => POSTS.contains(post),
        _ => false,
    }
}

/// Reads a part as a post and who gives it.
pub(super) fn post(said: &Said<'_>) -> Vec<Draft> {
    let words = &said.words[said.at..said.end];
    let timed = |at: usize| {
        let start = said.words[at].range.start;
        said.times().any(|it| it.range.contains(&start))
    };
    let skip = usize::from(said.at(said.at) == "as");
    let from = said.at + skip + usize::from(matches!(said.at(said.at + skip), "a" | "an" | "the"));
    let end = (from..said.end).find(|it| CLOSERS.contains(&said.at(*it)) || timed(*it));
    let end = end.unwrap_or(said.end);
    let head = (from..end).find(|it| JOBS.contains(&said.at(*it)) || TITLES.contains(&said.at(*it)));
    let whole = head.is_some_and(|it| it + 1 == end || matches!(said.at(it + 1), "of" | "for"));
    let told = |it: &Word| it.quoted || it.on(&NO_JOB) || it.is(TELLING) || base_of(&it.lower, Form::Past).is_some();
    if !whole || end - from > LONGEST || words.iter().any(told) {
        return Vec::new();
    }
    let written = |from: usize, to: usize| {
        let range = said.words.get(from)?.range.start..said.words.get(to.checked_sub(1)?)?.range.end;
        said.text.get(range).map(str::to_owned)
    };
    let title = written(from, end).map(|it| Draft::new(Aspect::Work, "works as", lowered(&it)));
    let names = (end + 1..said.end).take_while(|it| said.capital(*it) && !timed(*it));
    let named = matches!(said.at(end), "at" | "with") && !NO_NAMES.contains(&said.at(end + 1));
    let firm = names.last().filter(|_| named).and_then(|it| written(end + 1, it + 1));
    let firm = firm.map(|it| Draft::new(Aspect::Work, "works at", it));
    title.into_iter().chain(firm).map(|it| it.event().sure(SURE)).collect()
}

/// Returns since when a post is held: "from April" lies ahead, also if the next one is in the year to come.
pub(super) fn since(said: &Said<'_>) -> Option<TimeSpan> {
    let Some(mention) = said.times().find(|it| it.kind != Kind::Duration) else {
        // "From April" alone may be a person; what a post begins with is a month.
        let from = (said.at..said.end).find(|it| said.at(*it) == "from")?;
        let month = find(&format!("starting in {}", said.at(from + 1)), said.now.fixed_offset());
        return month.into_iter().next().map(|it| it.span);
    };
    let mut span = mention.span.clone();
    let year = Months::new(12);
    let named = span.words.chars().filter(char::is_ascii_digit).count() < 4;
    if named && span.end <= said.now && after(said, mention, &["from", "starting"]) {
        (span.start, span.end) = (span.start.checked_add_months(year)?, span.end.checked_add_months(year)?);
    }
    Some(span)
}

/// "Head of data" inside a sentence; "VP of sales" stays.
fn lowered(title: &str) -> String {
    let mut chars = title.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(chars).collect(),
        _ => title.to_owned(),
    }
}

/// How sure it is what is told without a verb.
const SURE: f32 = 0.75;
/// Longest title, in words.
const LONGEST: usize = 5;
/// What stands between the words that tell the news.
const SMALL: &[&str] = &[
    "have",
    "just",
    "finally",
    "too",
    "also",
    "today",
    "yesterday",
    "actually",
    "the",
    "a",
    "an",
    "my",
    "new",
    "dream",
    "big",
];
const POSTS: &[&str] = &["promotion", "job", "position", "post", "role"];
/// With what titles begin that are no trades.
const TITLES: &[&str] = &[
    "head",
    "lead",
    "chief",
    "vp",
    "president",
    "partner",
    "dean",
    "principal",
];
/// What comes behind a title.
const CLOSERS: &[&str] = &["at", "with", "from", "starting", "as", "in", "on", "since"];
/// Words of sentences that name no post.
const TELLING: &[&str] = &[
    "i", "you", "we", "he", "she", "it", "they", "is", "are", "am", "was", "will", "not", "no", "your", "this", "that",
    "what", "which", "so", "someone", "somebody", "maybe", "or",
];
