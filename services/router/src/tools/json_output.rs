//! JSON of turns, events, gists and facts.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::fact::Fact;
use domain::id::UnitId;
use domain::time::TimeSpan;
use serde_json::{Value, json};
use text::facts::fact_sentence;

use super::Look;
use super::arguments::LIMIT_MAX;
use super::time_filter::TimeFilter;
use crate::route::pack::describe_amendments;

/// Maximum length of the text of a unit in bytes.
const TEXT_MAX: usize = 1_200;
/// Maximum number of times of a unit.
const TIMES_MAX: usize = 6;
/// Maximum number of facts of one unit.
const FACTS_MAX: usize = 200;

impl Look {
    /// Returns a turn, event or gist as JSON: dated text, tag, time; for a gist also the first turn of each record that
    /// it was read from. Returns `None` for an unknown unit.
    pub(super) fn unit_to_json(&self, unit: UnitId) -> Option<Value> {
        let known = self.known_memory();
        known.observation_time(unit)?;
        if let Some(place) = self.view.position_of_unit(unit) {
            let turn = &self.view.turns()[place];
            let it = &turn.unit;
            let as_of = self.as_of.map(|it| it.fixed_offset());
            let note = describe_amendments(self.view.amendments_of_unit(unit, as_of));
            let shown = format!("{}{note}", clip_text(turn.shown()));
            return Some(json!({
                "unit": it.id, "grain": "turn", "observed_at": it.observed_at, "actor": &*it.actor,
                "text": shown, "tag": known.tag_of_unit(unit), "happened": render_times(&it.times, it.observed_at),
                "external_ids": it.external_ids(), "event": known.event_of(unit)
            }));
        }
        if let Some(gist) = known.find_gist(unit) {
            let turns: Vec<UnitId> = self.memory.first_turns_of(unit).take(LIMIT_MAX as usize).collect();
            return Some(json!({
                "unit": gist.id, "grain": "gist", "observed_at": gist.observed_at, "actor": gist.actor,
                "text": clip_text(&gist.text), "tag": gist.tag, "happened": render_times(&gist.times, gist.observed_at),
                "external_ids": gist.external_ids, "turns": turns
            }));
        }
        let event = known.find_event(unit)?;
        let mut external_ids = event.external_ids.clone();
        let merged = known
            .merged_into(unit)
            .flat_map(|it| known.find_event(UnitId::from_uuid(it.merged)));
        external_ids.extend(merged.flat_map(|it| it.external_ids.iter().cloned()));
        Some(json!({
            "unit": event.id, "grain": "event", "observed_at": event.observed_at, "actor": event.actor,
            "text": clip_text(&event.summary), "tag": event.tag, "happened": render_times(&event.times, event.observed_at),
            "external_ids": external_ids
        }))
    }

    /// Returns units as JSON, each once. Units that are not known are left out.
    pub(super) fn units_to_json(&self, units: impl IntoIterator<Item = UnitId>, limit: usize) -> Vec<Value> {
        let mut met = BTreeSet::new();
        let once = units.into_iter().filter(|it| met.insert(*it));
        once.filter_map(|it| self.unit_to_json(it)).take(limit).collect()
    }

    /// Returns true if a unit is known and fits a time.
    pub(super) fn unit_fits_times(&self, unit: UnitId, times: &TimeFilter) -> bool {
        let Some(observed_at) = self.known_memory().observation_time(unit) else {
            return false;
        };
        let turn = self
            .view
            .position_of_unit(unit)
            .map(|it| &*self.view.turns()[it].unit.times);
        let event = || self.known_memory().find_event(unit).map(|it| it.times.as_slice());
        let gist = || self.known_memory().find_gist(unit).map(|it| it.times.as_slice());
        let happened = turn.or_else(event).or_else(gist);
        happened.is_some_and(|it| times.fit_gist(observed_at, it))
    }

    /// Returns the facts that a unit states, by when they were recorded. For an event or a gist, the facts of its turns
    /// are included.
    pub(super) fn facts_at(&self, unit: UnitId) -> Vec<Arc<Fact>> {
        let units = std::iter::once(unit).chain(self.memory.all_turns_of(unit));
        units
            .flat_map(|it| self.known_memory().facts_from(it))
            .take(FACTS_MAX)
            .collect()
    }

    /// Returns a fact as JSON, with when it holds and when it was recorded.
    pub(super) fn fact_to_json(&self, fact: &Fact) -> Value {
        let since = text::time::render_span(&fact.valid_from, *self.now.offset());
        json!({
            "fact": fact.id, "text": fact_sentence(fact), "subject": fact.subject, "predicate": fact.predicate,
            "object": fact.object, "aspect": fact.aspect, "since": since, "valid_from": fact.valid_from.start,
            "valid_until": fact.valid_until, "holds": fact.holds_at(self.reference_moment()), "recorded_at": fact.recorded_at,
            "told_by": fact.told_by, "confidence": float_to_json(fact.confidence), "unit": fact.source,
            "external_ids": self.external_ids(fact.source)
        })
    }

    /// Returns the moment that counts as now.
    pub(super) fn reference_moment(&self) -> DateTime<Utc> {
        self.now.to_utc()
    }

    /// Returns the callers' ids of the records of a unit.
    pub(super) fn external_ids(&self, unit: UnitId) -> Vec<String> {
        let turn = self
            .view
            .position_of_unit(unit)
            .map(|it| self.view.turns()[it].unit.external_ids());
        let event = || self.known_memory().find_event(unit).map(|it| it.external_ids.clone());
        let gist = || self.known_memory().find_gist(unit).map(|it| it.external_ids.clone());
        turn.or_else(event).or_else(gist).unwrap_or_default()
    }
}

/// Returns a figure with its own digits. A conversion from `f32` to `f64` would add nine meaningless digits.
pub(super) fn float_to_json(it: f32) -> Value {
    it.to_string().parse().map_or(Value::Null, |it: f64| json!(it))
}

/// Returns a text, cut with an ellipsis if it is too long.
pub(super) fn clip_text(text: &str) -> String {
    if text.len() <= TEXT_MAX {
        return text.to_owned();
    }
    format!("{}\u{2026}", text[..text.floor_char_boundary(TEXT_MAX)].trim_end())
}

/// Returns resolved times in words, at most `TIMES_MAX`.
fn render_times(times: &[TimeSpan], observed_at: chrono::DateTime<chrono::FixedOffset>) -> Vec<String> {
    let observed_at = times
        .iter()
        .take(TIMES_MAX)
        .map(|it| text::time::render_span(it, *observed_at.offset()));
    observed_at.collect()
}
