//! Selects the sentence that represents a unit on a page, and scores it.

use std::borrow::Cow;

use domain::unit::{Grain, Unit};

/// Maximum length of the text that is read, in bytes.
const BYTES_MAX: usize = 4_000;
/// Maximum length of a line, in bytes.
const LINE_BYTES: usize = 220;
/// Minimum score of a line; sentences with a lower score are small talk.
pub(crate) const SCORE_MIN: u32 = 6;
/// Phrases before a reason.
const BECAUSE: [&str; 6] = [
    " because of ",
    " because ",
    " thanks to ",
    " due to ",
    " inspired by ",
    " on account of ",
];

/// A line and its score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spoken {
    pub(crate) score: u32,
    pub(crate) text: Box<str>,
}

/// Returns the line of a unit: the highest-scoring sentence, quoted word for word, with its speaker. Returns none if all
/// are small talk. A gist is a line by itself, without a speaker and whatever its score.
pub(crate) fn select_best_sentence(unit: &Unit) -> Option<Spoken> {
    if unit.grain == Grain::Gist {
        return line_of_gist(unit);
    }
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
    // The scored text has its code blanked out; positions are the same in both texts.
    let prose = text::mask_non_prose(&shown);
    for line in shown.split_inclusive('\n') {
        // An event quotes each speaker in a line.
        let (speaker, spoken_text) = if event { split_speaker(line) } else { (&*actor, line) };
        let start = at + line.len() - spoken_text.len();
        at += line.len();
        for sentence in text::split_sentences(spoken_text) {
            let from = start + (sentence.as_ptr() as usize - spoken_text.as_ptr() as usize);
            let score = score_sentence(&prose[from..from + sentence.len()], unit);
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
        text: clip_line(&text).into(),
    })
}

fn line_of_gist(unit: &Unit) -> Option<Spoken> {
    let text = clip_line(&unit.text);
    let score = score_sentence(&text::mask_non_prose(&text), unit);
    let text = text.into_boxed_str();
    (!text.is_empty()).then_some(Spoken { score, text })
}

/// Returns (effect, cause) for each sentence with a reason: the parts before and after the marker.
pub(crate) fn find_reasons(unit: &Unit) -> Vec<(&str, &str)> {
    let source = &unit.summary[..unit.summary.floor_char_boundary(BYTES_MAX)];
    let sentences = text::split_sentences(source).into_iter();
    let parted = sentences.filter_map(|sentence| {
        let marker = BECAUSE.iter().find_map(|it| Some((sentence.find(it)?, it.len())));
        marker.map(|(at, length)| (&sentence[..at], &sentence[at + length..]))
    });
    parted.collect()
}

/// Returns the score of a sentence: the number of distinct content words, at most twelve, plus points for numbers,
/// names, places and changes. A question gets half.
fn score_sentence(sentence: &str, unit: &Unit) -> u32 {
    let mut words: Vec<String> = Vec::new();
    let mut numbers = 0;
    for word in text::split_words(sentence) {
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

/// Returns the speaker and the words of a line such as `Ana: said`; the speaker is empty if the line has no such
/// head.
fn split_speaker(line: &str) -> (&str, &str) {
    let Some((name, spoken_text)) = line.split_once(": ") else {
        return ("", line);
    };
    let short = name.len() < 80 && name.split(' ').count() < 5;
    if short && !name.contains(['.', '?', '!', ',', '"']) {
        (name, spoken_text)
    } else {
        ("", line)
    }
}

fn clip_line(text: &str) -> String {
    let text = text.trim();
    if text.len() <= LINE_BYTES {
        return text.to_owned();
    }
    let cut = &text[..text.floor_char_boundary(LINE_BYTES)];
    let cut = cut.rsplit_once(' ').map_or(cut, |it| it.0);
    format!("{}\u{2026}", cut.trim_end_matches([',', ';', ' ']))
}
