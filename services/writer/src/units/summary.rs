//! Writes the self-contained text of a record: its date, who speaks to whom, its own words, and the dates of relative
//! times.

use chrono::{DateTime, FixedOffset};
use domain::record::Record;
use text::time::Mention;

/// Maximum length of the text in a summary, in bytes; the record keeps all of it.
const BYTES_MAX: usize = 4_000;

/// Returns the summary of a record, such as `[8 May 2023] Ana to Tom: I was there yesterday (7 May 2023).`
pub(crate) fn write_summary(record: &Record, context: &RecordContext<'_>) -> String {
    let mut out = format!("[{}] ", format_day(record.observed_at));
    out.push_str(&text::shown_name(&record.actor));
    if !record.actor.is_empty() && !context.addressee.is_empty() {
        out.push_str(" to ");
        out.push_str(&text::shown_name(context.addressee));
    }
    if !record.actor.is_empty() {
        out.push_str(": ");
    }
    if !context.question.is_empty() {
        out.push_str(&format!("(asked: {}) ", context.question));
    }
    push_with_dates(&mut out, record.observed_at, context);
    if !context.caption.is_empty() {
        let space = if out.ends_with(' ') { "" } else { " " };
        out.push_str(&format!("{space}[image: {}]", context.caption));
    }
    out
}

/// The context of a record.
pub(crate) struct RecordContext<'a> {
    /// The displayed text.
    pub(crate) text: &'a str,
    /// The addressee.
    pub(crate) addressee: &'a str,
    /// The question that the record answers.
    pub(crate) question: &'a str,
    /// The caption of its image.
    pub(crate) caption: &'a str,
    /// The times in `text`.
    pub(crate) mentions: &'a [Mention],
}

/// Appends the text of a record, with the date of each relative time in parentheses after it.
fn push_with_dates(out: &mut String, at: DateTime<FixedOffset>, context: &RecordContext<'_>) {
    let text = &context.text[..context.text.floor_char_boundary(BYTES_MAX)];
    let mut done = 0;
    for mention in context.mentions {
        let end = mention.range.end;
        if !(done..=text.len()).contains(&end) {
            continue;
        }
        if let Some(date) = date_note(text, mention, at) {
            out.push_str(&format!("{} ({date})", &text[done..end]));
            done = end;
        }
    }
    out.push_str(&text[done..]);
}

/// Returns a day in written form, such as `8 May 2023`.
pub(crate) fn format_day(at: DateTime<FixedOffset>) -> String {
    at.format("%-d %B %Y").to_string()
}

/// Returns the date of a mentioned time, or none if its own words already state it.
fn date_note(text: &str, mention: &Mention, at: DateTime<FixedOffset>) -> Option<String> {
    if mention.span.precision == domain::time::Precision::Unknown {
        return None;
    }
    let words = &text[mention.range.clone()];
    let shown = text::time::render_span(&mention.span, *at.offset());
    let dated = words.split(|it: char| !it.is_ascii_digit()).any(|it| it.len() == 4);
    (!dated && !shown.is_empty() && !words.eq_ignore_ascii_case(&shown)).then_some(shown)
}
