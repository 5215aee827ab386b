//! Sections: facts by aspect, and events; long ones compressed to the lines that say most.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use domain::fact::{Aspect, Fact};
use domain::id::{EntityId, FactId, TopicId};
use domain::page::{Line, Section};
use domain::time::{Precision, TimeSpan};

use super::bucket::{Bucket, Rank};
use super::facts;
use super::known::Known;

/// Most lines of a section.
pub(super) const LINES_MAX: usize = 12;
/// Most candidates that are looked at for a section, as some say the same.
const LOOKED_AT: usize = 48;
/// How sure what was told is.
const TOLD: f32 = 0.8;

impl Known {
    /// Returns a section of facts; `ranked` with the best first, `all` of them. Those that hold stand first, each oldest first.
    pub(super) fn facts_section(
        &self,
        title: &str,
        category: &str,
        ranked: impl Iterator<Item = FactId>,
        all: usize,
    ) -> Option<Section> {
        let mut said = BTreeSet::new();
        let facts = ranked.take(LOOKED_AT).filter_map(|it| self.facts.get(it));
        let mut facts: Vec<&Fact> = facts
            .filter(|it| said.insert(statement(it).to_lowercase()))
            .take(LINES_MAX)
            .collect();
        facts.sort_by_key(|it| (it.valid_until.is_some(), it.recorded_at, it.id));
        let lines: Vec<Line> = facts.iter().map(|it| line(it)).collect();
        let sure = facts.iter().map(|it| it.confidence);
        section(title, category, lines, all).map(|it| Section {
            confidence: rounded(sure.sum::<f32>() / facts.len() as f32),
            ..it
        })
    }

    /// Returns the sections of all facts about an entity, by aspect.
    pub(super) fn fact_sections(&self, entity: EntityId, only: &[Aspect]) -> Vec<Section> {
        let aspects = self.facts.about(entity).into_iter().flatten();
        let wanted = aspects.filter(|(aspect, _)| only.is_empty() || only.contains(aspect));
        let sections = wanted.filter_map(|(aspect, ranks)| {
            let ids = ranks.keys().map(|it| it.3);
            self.facts_section(facts::title(*aspect), facts::name(*aspect), ids, ranks.len())
        });
        sections.collect()
    }

    /// Returns the sections of the facts that were told in the talk of a topic, by aspect.
    pub(super) fn told_sections(&self, topic: TopicId) -> Vec<Section> {
        let aspects = self.placed.told(topic).into_iter().flatten();
        let sections = aspects.filter_map(|(aspect, ranks)| {
            let ids = ranks.keys().map(|it| it.3);
            self.facts_section(facts::title(*aspect), facts::name(*aspect), ids, ranks.len())
        });
        sections.collect()
    }

    /// Returns what happened, and the tags of it, best first.
    pub(super) fn events(&self, buckets: &[&Bucket]) -> (Option<Section>, Vec<String>) {
        let mut ranked: Vec<&Rank> = buckets.iter().flat_map(|it| it.lines.iter().take(LOOKED_AT)).collect();
        ranked.sort_unstable();
        ranked.dedup();
        let (mut said, mut tags, mut lines) = (BTreeSet::new(), Vec::new(), Vec::new());
        for (_, at, unit) in ranked {
            let Some(held) = self.store.units.get(unit) else {
                continue;
            };
            let Some(spoken) = held.spoken.as_ref().filter(|it| said.insert(&it.text)) else {
                continue;
            };
            if !held.tag.is_empty() && !tags.iter().any(|it: &String| **it == *held.tag) {
                tags.push(held.tag.to_string());
            }
            lines.push(Line {
                text: spoken.text.to_string(),
                unit: *unit,
                observed_at: *at,
                fact: None,
                until: None,
            });
            if lines.len() == LINES_MAX {
                break;
            }
        }
        lines.sort_by_key(|it| (it.observed_at, it.unit));
        let all = buckets.iter().map(|it| it.lines.len()).sum();
        (section("What happened", "events", lines, all), tags)
    }
}

/// A fact as a sentence, such as `Ana lives in Oslo`.
pub(super) fn statement(fact: &Fact) -> String {
    let parts = [fact.subject.as_str(), fact.predicate.as_str(), fact.object.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|it| !it.is_empty()).collect();
    parts.join(" ")
}

/// Two digits: later ones are noise.
pub(super) fn rounded(value: f32) -> f32 {
    (value * 100.0).round() / 100.0
}

fn line(fact: &Fact) -> Line {
    Line {
        text: statement(fact),
        unit: fact.source,
        observed_at: fact.recorded_at,
        fact: Some(fact.id),
        until: fact.valid_until,
    }
}

fn section(title: &str, category: &str, lines: Vec<Line>, all: usize) -> Option<Section> {
    let times = || lines.iter().map(|it| it.observed_at);
    let (first, last) = (times().min()?, times().max()?);
    Some(Section {
        title: title.to_owned(),
        category: category.to_owned(),
        left_out: u32::try_from(all.saturating_sub(lines.len())).unwrap_or(u32::MAX),
        time: Some(span(first, last)),
        lines,
        confidence: TOLD,
    })
}

/// The span of what lies between two moments, the last one included.
fn span(first: DateTime<Utc>, last: DateTime<Utc>) -> TimeSpan {
    let precision = match (last - first).num_days() {
        0 => Precision::Day,
        1..=7 => Precision::Week,
        8..=31 => Precision::Month,
        32..=100 => Precision::Season,
        _ => Precision::Year,
    };
    TimeSpan {
        start: first,
        end: last.checked_add_signed(TimeDelta::seconds(1)).unwrap_or(last),
        precision,
        words: String::new(),
    }
}
