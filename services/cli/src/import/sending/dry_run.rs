//! Shows the records that an import would send, without a server.

use std::collections::{BTreeMap, BTreeSet};

use gateway::leaves_no_record;
use serde_json::Value;

use crate::import::input::line::Complaints;
use crate::import::record_draft::{LeftOut, digest_texts, one_line, shorten_text};
use crate::import::sending::batch::{self, Batch};
use crate::import::sending::messages::{NOT_STORED, actor_of, call_count, first_text, is_message};
use crate::import::sending::state::State;
use crate::import::sending::tally::{NAMED, say_left_out};
use crate::import::source::Source;
use crate::{Outcome, output};

/// Number of records that are shown.
const SHOWN: usize = 5;
const SHOWN_BYTES: usize = 100;
/// Maximum number of sessions and speakers that are counted separately.
const COUNTED_MAX: usize = 100_000;
/// Number of speakers that are named.
const SPEAKERS_MAX: usize = 10;

/// The counts and samples of the pieces that were read so far.
#[derive(Default)]
struct Preview {
    records: u64,
    readings: u64,
    /// Tool calls of chat messages.
    calls: u64,
    wrong: u64,
    sessions: BTreeSet<String>,
    speakers: BTreeMap<String, u64>,
    first: Vec<String>,
    earliest: Option<String>,
    latest: Option<String>,
    on_purpose: LeftOut,
}

/// Reads the whole input and reports its content.
///
/// # Errors
/// If the input cannot be read any further.
pub(crate) fn preview_import(mut source: Source, limit: usize) -> anyhow::Result<Outcome> {
    let mut preview = Preview::default();
    let mut state = State::new_unstored();
    loop {
        let batch = batch::read_batch(&mut source, &mut state, limit, &mut preview)?;
        preview.add_batch(&batch);
        if batch.end {
            break;
        }
    }
    preview.print_summary(&source, state.pieces_read());
    say_left_out(&preview.on_purpose, source.pieces.passed_over());
    Ok(match preview.wrong {
        0 => Outcome::Done,
        _ => Outcome::Lacking,
    })
}

impl Preview {
    fn add_batch(&mut self, batch: &Batch) {
        self.readings += batch.readings.len() as u64;
        for line in &batch.records {
            let record = &line.content;
            let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
            if leaves_no_record(record) {
                self.on_purpose.count_one(NOT_STORED);
                continue;
            }
            let is_message = is_message(record);
            let author = if is_message { actor_of(record) } else { text("actor") };
            self.calls += call_count(record);
            self.records += 1;
            if self.sessions.len() < COUNTED_MAX {
                self.sessions.insert(digest_texts(&[text("session")]));
            }
            let actor = shorten_text(&one_line(author), SHOWN_BYTES);
            if self.speakers.len() < COUNTED_MAX || self.speakers.contains_key(&actor) {
                *self.speakers.entry(actor.clone()).or_default() += 1;
            }
            let day = text("observed_at").get(..10).map(str::to_owned);
            self.latest = self.latest.take().max(day.clone());
            self.earliest = match (self.earliest.take(), day) {
                (Some(earliest), Some(day)) => Some(earliest.min(day)),
                (earliest, day) => earliest.or(day),
            };
            if self.first.len() < SHOWN {
                let content = if is_message { first_text(record) } else { text("text") };
                let shown_text = [content, text("image_caption")].into_iter().find(|it| !it.is_empty());
                let has_tool = call_count(record) > 0 || record.get("tool").is_some_and(|it| !it.is_null());
                let other = if has_tool { "a call of a tool" } else { "no text" };
                let shown_text = shorten_text(&one_line(shown_text.unwrap_or(other)), SHOWN_BYTES);
                let at = text("observed_at").get(..16).unwrap_or("without a time");
                let actor = if actor.is_empty() { "-" } else { &actor };
                self.first.push(format!("  {at}  {actor}: {shown_text}"));
            }
        }
    }

    fn print_summary(&self, source: &Source, pieces: u64) {
        let kind = source.kind;
        let sessions = self.sessions.len();
        let more = if sessions == COUNTED_MAX { " or more" } else { "" };
        output::print_line(&format!(
            "{}: {} {} with {} records in {sessions}{more} sessions",
            kind.name(),
            pieces,
            if pieces == 1 {
                kind.piece_name()
            } else {
                kind.plural_piece_name()
            },
            self.records
        ));
        if self.calls > 0 {
            output::print_line(&format!(
                "tool calls of messages, which become records of their own: {}",
                self.calls
            ));
        }
        if self.readings > 0 {
            output::print_line(&format!("readings: {}", self.readings));
        }
        if let (Some(earliest), Some(latest)) = (&self.earliest, &self.latest) {
            output::print_line(&format!("observed from {earliest} to {latest}"));
        }
        let mut speakers: Vec<_> = self.speakers.iter().filter(|(name, _)| !name.is_empty()).collect();
        speakers.sort_by(|(_, left), (_, right)| right.cmp(left));
        let speaker_counts = speakers
            .iter()
            .take(SPEAKERS_MAX)
            .map(|(name, count)| format!("{name}: {count}"));
        let speaker_counts: Vec<String> = speaker_counts.collect();
        if !speaker_counts.is_empty() {
            let more = if speakers.len() > SPEAKERS_MAX {
                ", and others"
            } else {
                ""
            };
            output::print_line(&format!("by {}{more}", speaker_counts.join(", ")));
        }
        self.first.iter().for_each(|it| output::print_line(it));
        if self.wrong > 0 {
            output::print_line(&format!("{} cannot be read and would be left out", self.wrong));
        }
        output::print_line("nothing was sent");
    }
}

impl Complaints for Preview {
    fn report_skipped(&mut self, place: &str, problem: &str) {
        self.wrong += 1;
        if self.wrong <= NAMED {
            output::print_error_line(&format!("{place}: {problem}"));
        }
    }

    fn left_out(&mut self) -> &mut LeftOut {
        &mut self.on_purpose
    }
}
