//! Shows the records that an import would send, without a server.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::batch::{self, Batch, Complaints};
use super::draft::{LeftOut, digest, one_line, shortened};
use super::source::Source;
use super::state::State;
use super::tally::{NAMED, say_left_out};
use crate::{Outcome, out};

/// Number of records that are shown.
const SHOWN: usize = 5;
const SHOWN_BYTES: usize = 100;
/// Most sessions and speakers that are counted separately.
const COUNTED_MAX: usize = 100_000;
/// Number of speakers that are named.
const SPEAKERS_MAX: usize = 10;

/// The counts and samples of the pieces that were read so far.
#[derive(Default)]
struct Preview {
    records: u64,
    readings: u64,
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
pub(super) fn show(mut source: Source, limit: usize) -> anyhow::Result<Outcome> {
    let mut preview = Preview::default();
    let mut state = State::unkept();
    loop {
        let batch = batch::read(&mut source, &mut state, limit, &mut preview)?;
        preview.note(&batch);
        if batch.end {
            break;
        }
    }
    preview.say(&source, state.pieces());
    say_left_out(&preview.on_purpose, source.pieces.passed_over());
    Ok(match preview.wrong {
        0 => Outcome::Done,
        _ => Outcome::Lacking,
    })
}

impl Preview {
    fn note(&mut self, batch: &Batch) {
        self.readings += batch.readings.len() as u64;
        for line in &batch.records {
            let record = &line.content;
            let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
            self.records += 1;
            if self.sessions.len() < COUNTED_MAX {
                self.sessions.insert(digest(&[text("session")]));
            }
            let actor = shortened(&one_line(text("actor")), SHOWN_BYTES);
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
                let said = [text("text"), text("image_caption")]
                    .into_iter()
                    .find(|it| !it.is_empty());
                let said = shortened(&one_line(said.unwrap_or("a call of a tool")), SHOWN_BYTES);
                let at = text("observed_at").get(..16).unwrap_or("without a time");
                let actor = if actor.is_empty() { "-" } else { &actor };
                self.first.push(format!("  {at}  {actor}: {said}"));
            }
        }
    }

    fn say(&self, source: &Source, pieces: u64) {
        let kind = source.kind;
        let sessions = self.sessions.len();
        let more = if sessions == COUNTED_MAX { " or more" } else { "" };
        out::say(&format!(
            "{}: {} {} with {} records in {sessions}{more} sessions",
            kind.name(),
            pieces,
            if pieces == 1 { kind.piece() } else { kind.pieces() },
            self.records
        ));
        if self.readings > 0 {
            out::say(&format!("readings: {}", self.readings));
        }
        if let (Some(earliest), Some(latest)) = (&self.earliest, &self.latest) {
            out::say(&format!("observed from {earliest} to {latest}"));
        }
        let mut speakers: Vec<_> = self.speakers.iter().filter(|(name, _)| !name.is_empty()).collect();
        speakers.sort_by(|(_, left), (_, right)| right.cmp(left));
        let named = speakers
            .iter()
            .take(SPEAKERS_MAX)
            .map(|(name, count)| format!("{name}: {count}"));
        let named: Vec<String> = named.collect();
        if !named.is_empty() {
            let more = if speakers.len() > SPEAKERS_MAX {
                ", and others"
            } else {
                ""
            };
            out::say(&format!("by {}{more}", named.join(", ")));
        }
        self.first.iter().for_each(|it| out::say(it));
        if self.wrong > 0 {
            out::say(&format!("{} cannot be read and would be left out", self.wrong));
        }
        out::say("nothing was sent");
    }
}

impl Complaints for Preview {
    fn wrong(&mut self, place: &str, problem: &str) {
        self.wrong += 1;
        if self.wrong <= NAMED {
            out::complain(&format!("{place}: {problem}"));
        }
    }

    fn left_out(&mut self) -> &mut LeftOut {
        &mut self.on_purpose
    }
}
