//! The line that tells of a unit, and how much it says.

use std::borrow::Cow;

use domain::unit::{Grain, Unit};

/// Longest text that is read, in bytes.
const BYTES_MAX: usize = 4_000;
/// Longest line, in bytes.
const LINE_BYTES: usize = 220;
/// What says less than this is small talk.
pub(super) const SCORE_MIN: u32 = 6;
/// Words that tell why, before the reason.
const BECAUSE: [&str; 6] = [
    " because of ",
    " because ",
    " thanks to ",
    " due to ",
    " inspired by ",
    " on account of ",
];

/// A line and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spoken {
    pub(super) score: u32,
    pub(super) text: Box<str>,
}

/// Returns the sentence of a unit that says most, word for word as it was said, with its speaker; none if it is small talk.
pub(super) fn spoken(unit: &Unit) -> Option<Spoken> {
    let text = &unit.text[..unit.text.floor_char_boundary(BYTES_MAX)];
    let event = unit.grain == Grain::Event;
    let shown = if event || unit.caption.is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("{text} [image: {}]", unit.caption).trim_start().to_owned())
    };
    let actor = text::shown_name(&unit.actor);
    let mut best: Option<(u32, &str, &str)> = None;
    let mut at = 0;
    // What is scored has no code in it; the places in both are the same.
    let prose = text::prose(&shown);
    for line in shown.split_inclusive('\n') {
        // An event quotes its speakers, a line each.
        let (speaker, said) = if event { parted(line) } else { (&*actor, line) };
        let start = at + line.len() - said.len();
        at += line.len();
        for sentence in text::sentences(said) {
            let from = start + (sentence.as_ptr() as usize - said.as_ptr() as usize);
            let score = score(&prose[from..from + sentence.len()], unit);
            if best.is_none_or(|it| score > it.0) {
                best = Some((score, speaker, sentence));
            }
        }
    }
    let (score, speaker, sentence) = best.filter(|it| it.0 >= SCORE_MIN)?;
    let text = if speaker.is_empty() {
        sentence.to_owned()
    } else {
        format!("{speaker}: {sentence}")
    };
    Some(Spoken {
        score,
        text: clipped(&text).into(),
    })
}

/// Returns (effect, cause) for each sentence that tells why: what stands before the marker and what stands behind it.
pub(super) fn reasons(unit: &Unit) -> Vec<(&str, &str)> {
    let source = &unit.summary[..unit.summary.floor_char_boundary(BYTES_MAX)];
    let sentences = text::sentences(source).into_iter();
    let parted = sentences.filter_map(|sentence| {
        let marker = BECAUSE.iter().find_map(|it| Some((sentence.find(it)?, it.len())));
        marker.map(|(at, length)| (&sentence[..at], &sentence[at + length..]))
    });
    parted.collect()
}

/// Different content words, at most twelve; numbers, names, times and changes count more, questions half.
fn score(sentence: &str, unit: &Unit) -> u32 {
    let mut words: Vec<String> = Vec::new();
    let mut numbers = 0;
    for word in text::words(sentence) {
        if word.chars().any(char::is_numeric) {
            numbers += 1;
        } else if word.chars().count() > 2 && !text::is_stop(word) {
            words.push(word.to_lowercase());
        }
    }
    words.sort_unstable();
    words.dedup();
    let names = unit
        .participants
        .iter()
        .filter(|it| sentence.contains(it.as_str()))
        .count();
    let place = !unit.location.is_empty() && sentence.contains(&unit.location);
    let changes = unit
        .changes
        .iter()
        .filter(|it| !it.after.is_empty() && sentence.contains(&it.after));
    let sum = words.len().min(12)
        + 2 * numbers.min(4)
        + 2 * names.min(3)
        + 2 * usize::from(place)
        + 3 * changes.count().min(2);
    let sum = if sentence.trim_end().ends_with('?') {
        sum / 2
    } else {
        sum
    };
    u32::try_from(sum).unwrap_or_default()
}

/// Returns the speaker and the words of a line such as `Ana: said`; no speaker if it has no such head.
fn parted(line: &str) -> (&str, &str) {
    let Some((name, said)) = line.split_once(": ") else {
        return ("", line);
    };
    let short = name.len() < 80 && name.split(' ').count() < 5;
    if short && !name.contains(['.', '?', '!', ',', '"']) {
        (name, said)
    } else {
        ("", line)
    }
}

fn clipped(text: &str) -> String {
    let text = text.trim();
    if text.len() <= LINE_BYTES {
        return text.to_owned();
    }
    let cut = &text[..text.floor_char_boundary(LINE_BYTES)];
    let cut = cut.rsplit_once(' ').map_or(cut, |it| it.0);
    format!("{}\u{2026}", cut.trim_end_matches([',', ';', ' ']))
}
