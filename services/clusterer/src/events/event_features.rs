//! The features of an event in which two accounts of it have to agree.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{RecordId, SessionId};
use domain::record::Modality;
use domain::time::{Precision, TimeSpan};
use domain::unit::Unit;
use serde::{Deserialize, Serialize};

use super::KEYS_MAX;
use super::vector_code::cosine;
use crate::judgements::coreference::prompt;
use crate::space::word_set::WordSet;
use crate::word_lists::EVENT_NEGATIONS;

/// The features of one event unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EventFeatures {
    pub(super) at: DateTime<Utc>,
    pub(super) session: SessionId,
    pub(super) action: bool,
    pub(super) step: Option<u32>,
    pub(super) records: Box<[RecordId]>,
    pub(super) tag: Box<str>,
    /// Keys by which the event is looked up.
    pub(super) keys: WordSet,
    /// The speakers, and the people and things mentioned, in lower case.
    pub(super) speakers: WordSet,
    pub(super) named: WordSet,
    pub(super) place: Box<str>,
    /// Mentioned times with a known position, a month or shorter.
    pub(super) times: Box<[TimeSpan]>,
    pub(super) numbers: WordSet,
    /// Stems of the action.
    pub(super) did: WordSet,
    /// Number of negating words.
    pub(super) negations: usize,
    /// SHA-256 of the text of the scene that a language model is shown.
    pub(super) digest: [u8; 32],
    pub(super) vector: Arc<[f32]>,
}

impl EventFeatures {
    pub(super) fn new(unit: &Unit, vector: &Arc<[f32]>) -> EventFeatures {
        let speakers = speaker_names(unit);
        let at = unit.observed_at.to_utc();
        let placed = |it: &&TimeSpan| {
            matches!(
                it.precision,
                Precision::Instant | Precision::Day | Precision::Week | Precision::Month
            )
        };
        let unit_words: Vec<String> = text::split_words(&unit.text)
            .iter()
            .map(|it| it.to_lowercase())
            .collect();
        let times: Box<[TimeSpan]> = unit.times.iter().filter(placed).cloned().collect();
        // "June" and "5" in a date count as times, and "Oslo" as the place, not as names.
        let dated: BTreeSet<String> = times
            .iter()
            .flat_map(|it| text::split_words(&it.words))
            .map(str::to_lowercase)
            .collect();
        let place = unit.location.to_lowercase();
        let names = unit.participants.iter().map(|it| it.to_lowercase());
        let named: BTreeSet<String> = names
            .filter(|it| {
                !speakers.contains(it)
                    && *it != place
                    && !text::split_words(it).into_iter().all(|it| dated.contains(it))
            })
            .collect();
        let counts = |it: &&String| it.chars().any(|c| c.is_ascii_digit()) && !dated.contains(*it);
        EventFeatures {
            at,
            session: unit.session,
            action: unit.modality == Modality::Action,
            step: unit.step,
            records: unit.records.clone().into(),
            tag: unit.tag.clone().into(),
            keys: lookup_keys(unit, &named).into_iter().collect(),
            place: place.into(),
            numbers: unit_words.iter().filter(counts).cloned().collect(),
            times,
            did: text::stem_words(&unit.action).into_iter().collect(),
            negations: unit_words
                .iter()
                .filter(|it| EVENT_NEGATIONS.contains(it.replace('\u{2019}', "'").as_str()))
                .count(),
            digest: prompt::shown_text_digest(unit),
            vector: Arc::clone(vector),
            speakers: speakers.into_iter().collect(),
            named: named.into_iter().collect(),
        }
    }

    /// Returns the cosine of the vectors of two events, at most 1, or 0 if their dimensions differ.
    pub(super) fn cosine_to(&self, other: &EventFeatures) -> f32 {
        cosine(&self.vector, &other.vector)
    }

    /// Returns the times at which it may have happened: the mentioned ones, or else the time of the account, with 18
    /// hours on either side.
    pub(super) fn possible_times(&self) -> Cow<'_, [TimeSpan]> {
        if !self.times.is_empty() {
            return Cow::Borrowed(&self.times);
        }
        let half = TimeDelta::hours(18);
        Cow::Owned(vec![TimeSpan {
            start: self.at - half,
            end: self.at + half,
            precision: Precision::Day,
            words: String::new(),
        }])
    }
}

/// Returns the actor, or else the speakers in the first line of the summary, after the date.
fn speaker_names(unit: &Unit) -> BTreeSet<String> {
    if !unit.actor.is_empty() {
        return BTreeSet::from([unit.actor.to_lowercase()]);
    }
    let line = unit.summary.lines().next().unwrap_or_default();
    let names = line.split_once("] ").map_or(line, |it| it.1);
    names
        .split(", ")
        .filter(|it| !it.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Returns the rarest cues and names, by their rarity in general English; words not in the table are rarest. Ties are
/// in alphabetical order.
fn lookup_keys(unit: &Unit, named: &BTreeSet<String>) -> Vec<String> {
    let table = text::EmbeddingTable::builtin();
    let rarity = |word: &str| {
        let pieces = table.piece_rows(word);
        match pieces.as_slice() {
            [one] => table.rarity_of_row(*one),
            _ => f32::MAX,
        }
    };
    let all: BTreeSet<String> = unit.cues.iter().chain(named).map(|it| it.to_lowercase()).collect();
    let mut ranked: Vec<(f32, String)> = all.into_iter().map(|it| (rarity(&it), it)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    ranked.into_iter().take(KEYS_MAX).map(|it| it.1).collect()
}
