//! Writes the self-contained text of a record: dated, with speakers named, and with pronouns and relative times
//! resolved where they are clear.

use chrono::{DateTime, FixedOffset};
use domain::record::{Modality, Record};
use text::time::Mention;

mod person;

/// Maximum length of the text that is resolved, in bytes; the record keeps all of it.
const BYTES_MAX: usize = 4_000;

/// Returns the summary of a record, such as `[8 May 2023] Ana to Tom: Ana was there yesterday (7 May 2023).`
pub(crate) fn summary(record: &Record, said: &Said<'_>) -> String {
    let mut out = format!("[{}] ", day(record.observed_at));
    out.push_str(&text::shown_name(&record.actor));
    if !record.actor.is_empty() && !said.addressee.is_empty() {
        out.push_str(" to ");
        out.push_str(&text::shown_name(said.addressee));
    }
    if !record.actor.is_empty() {
        out.push_str(": ");
    }
    if !said.question.is_empty() {
        let question = person::resolve(said.question, said.addressee, &record.actor, &[]);
        out.push_str(&format!("(asked: {question}) "));
    }
    out.push_str(&resolved(record, said));
    if !said.caption.is_empty() {
        let space = if out.ends_with(' ') { "" } else { " " };
        out.push_str(&format!("{space}[image: {}]", said.caption));
    }
    out
}

/// The context of a record.
pub(crate) struct Said<'a> {
    /// The displayed text.
    pub(crate) text: &'a str,
    /// The addressee.
    pub(crate) addressee: &'a str,
    /// The question that it answers.
    pub(crate) question: &'a str,
    /// The caption of its image.
    pub(crate) caption: &'a str,
    /// The times in `text`.
    pub(crate) mentions: &'a [Mention],
}

/// Returns the text of a record with pronouns and relative times resolved.
pub(crate) fn resolved(record: &Record, said: &Said<'_>) -> String {
    let text = &said.text[..said.text.floor_char_boundary(BYTES_MAX)];
    let notes: Vec<(usize, String)> = said
        .mentions
        .iter()
        .filter(|it| it.range.end <= text.len())
        .filter_map(|it| Some((it.range.end, note(text, it, record.observed_at)?)))
        .collect();
    let (speaker, addressee) = match record.modality {
        Modality::Action => ("", ""),
        Modality::Text | Modality::Visual => (record.actor.as_str(), said.addressee),
    };
    person::resolve(text, speaker, addressee, &notes)
}

/// Returns a day in written form, such as `8 May 2023`.
pub(crate) fn day(at: DateTime<FixedOffset>) -> String {
    at.format("%-d %B %Y").to_string()
}

/// Returns the date of a mentioned time, or none if its own words already state it.
fn note(text: &str, mention: &Mention, at: DateTime<FixedOffset>) -> Option<String> {
    if mention.span.precision == domain::time::Precision::Unknown {
        return None;
    }
    let words = &text[mention.range.clone()];
    let shown = text::time::render(&mention.span, *at.offset());
    let dated = words.split(|it: char| !it.is_ascii_digit()).any(|it| it.len() == 4);
    (!dated && !shown.is_empty() && !words.eq_ignore_ascii_case(&shown)).then_some(shown)
}
