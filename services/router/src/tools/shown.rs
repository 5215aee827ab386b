//! JSON of turns, events, gists and facts.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::fact::Fact;
use domain::id::UnitId;
use domain::time::TimeSpan;
use serde_json::{Value, json};

use super::Look;
use super::times::Times;

/// Maximum length of the text of a unit in bytes.
const TEXT_MAX: usize = 1_200;
/// Maximum number of times of a unit.
const TIMES_MAX: usize = 6;
/// Maximum number of facts of one unit.
const FACTS_MAX: usize = 200;

impl Look {
    /// Returns a turn, event or gist as JSON: dated text, tag, when it happened; for a gist also the turns that it was
    /// read in. `None` if it is not known.
    pub(super) fn gist(&self, unit: UnitId) -> Option<Value> {
        let known = self.known();
        known.observed(unit)?;
        if let Some(place) = self.view.place(unit) {
            let turn = &self.view.turns()[place];
            let it = &turn.unit;
            return Some(json!({
                "unit": it.id, "grain": "turn", "observed_at": it.observed_at, "actor": it.actor,
                "text": clipped(&turn.shown), "tag": known.tag(unit), "happened": happened(&it.times, it.observed_at),
                "external_ids": it.external_ids, "event": known.event_of(unit)
            }));
        }
        if let Some(gist) = known.gist(unit) {
            let turns: Vec<UnitId> = self.memory.turns_of(unit).collect();
            return Some(json!({
                "unit": gist.id, "grain": "gist", "observed_at": gist.observed_at, "actor": gist.actor,
                "text": clipped(&gist.text), "tag": gist.tag, "happened": happened(&gist.times, gist.observed_at),
                "external_ids": gist.external_ids, "turns": turns
            }));
        }
        let event = known.event(unit)?;
        let mut external_ids = event.external_ids.clone();
        let merged = known
            .merged_into(unit)
            .flat_map(|it| known.event(UnitId::from_uuid(it.merged)));
        external_ids.extend(merged.flat_map(|it| it.external_ids.iter().cloned()));
        Some(json!({
            "unit": event.id, "grain": "event", "observed_at": event.observed_at, "actor": event.actor,
            "text": clipped(&event.summary), "tag": event.tag, "happened": happened(&event.times, event.observed_at),
            "external_ids": external_ids
        }))
    }

    /// Returns units as JSON, each once. Units that are not known are left out.
    pub(super) fn gists(&self, units: impl IntoIterator<Item = UnitId>, limit: usize) -> Vec<Value> {
        let mut met = BTreeSet::new();
        let once = units.into_iter().filter(|it| met.insert(*it));
        once.filter_map(|it| self.gist(it)).take(limit).collect()
    }

    /// Returns true if a unit is known and fits a time.
    pub(super) fn fits(&self, unit: UnitId, times: &Times) -> bool {
        let Some(told) = self.known().observed(unit) else {
            return false;
        };
        let turn = self.view.place(unit).map(|it| &self.view.turns()[it].unit.times);
        let event = || self.known().event(unit).map(|it| &it.times);
        let gist = || self.known().gist(unit).map(|it| &it.times);
        let happened = turn.or_else(event).or_else(gist);
        happened.is_some_and(|it| times.fit_gist(told, it))
    }

    /// Returns the facts that a unit states, by when they were recorded. For an event or a gist, the facts of its turns
    /// are included.
    pub(super) fn facts_at(&self, unit: UnitId) -> Vec<Arc<Fact>> {
        let units = std::iter::once(unit).chain(self.memory.turns_of(unit));
        units
            .flat_map(|it| self.known().facts_from(it))
            .take(FACTS_MAX)
            .collect()
    }

    /// Returns a fact as JSON, with when it holds and when it was recorded.
    pub(super) fn fact(&self, fact: &Fact) -> Value {
        let since = text::time::render(&fact.valid_from, *self.now.offset());
        json!({
            "fact": fact.id, "text": said(fact), "subject": fact.subject, "predicate": fact.predicate,
            "object": fact.object, "aspect": fact.aspect, "since": since, "valid_from": fact.valid_from.start,
            "valid_until": fact.valid_until, "holds": fact.holds_at(self.moment()), "recorded_at": fact.recorded_at,
            "told_by": fact.told_by, "confidence": figure(fact.confidence), "unit": fact.source,
            "external_ids": self.external_ids(fact.source)
        })
    }

    /// Returns the moment that counts as now.
    pub(super) fn moment(&self) -> DateTime<Utc> {
        self.now.to_utc()
    }

    /// Returns the callers' ids of the records of a unit.
    pub(super) fn external_ids(&self, unit: UnitId) -> Vec<String> {
        let turn = self.view.place(unit).map(|it| &self.view.turns()[it].unit.external_ids);
        let event = || self.known().event(unit).map(|it| &it.external_ids);
        let gist = || self.known().gist(unit).map(|it| &it.external_ids);
        turn.or_else(event).or_else(gist).cloned().unwrap_or_default()
    }
}

/// Returns a figure with its own digits. A conversion from `f32` to `f64` would add nine meaningless digits.
pub(super) fn figure(it: f32) -> Value {
    it.to_string().parse().map_or(Value::Null, |it: f64| json!(it))
}

/// Returns a fact as a sentence without a full stop.
pub(super) fn said(fact: &Fact) -> String {
    format!("{} {} {}", fact.subject, fact.predicate, fact.object)
}

/// Returns a text, cut with an ellipsis if it is too long.
pub(super) fn clipped(text: &str) -> String {
    if text.len() <= TEXT_MAX {
        return text.to_owned();
    }
    format!("{}\u{2026}", text[..text.floor_char_boundary(TEXT_MAX)].trim_end())
}

/// Returns resolved times in words, at most `TIMES_MAX`.
fn happened(times: &[TimeSpan], told: chrono::DateTime<chrono::FixedOffset>) -> Vec<String> {
    let told = times
        .iter()
        .take(TIMES_MAX)
        .map(|it| text::time::render(it, *told.offset()));
    told.collect()
}
