//! Builds sections of facts by aspect, and of events. Long sections are reduced to their best lines.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use domain::fact::{Aspect, Fact, Former};
use domain::id::{EntityId, FactId, TopicId};
use domain::page::{FormerLine, Line, Section};
use domain::time::{Precision, TimeSpan};

use super::bucket::{Bucket, Rank};
use super::facts::{self, Rank as Place};
use super::known::Known;

/// Maximum number of lines of a section.
pub(super) const LINES_MAX: usize = Section::LINES_MAX;
/// Maximum number of candidates considered for a section; some of them are duplicates.
const LOOKED_AT: usize = 48;
/// Maximum number of facts with a place as their value that are considered.
const NAMING_MAX: usize = 200;
/// Confidence of a section of events.
const TOLD: f32 = 0.8;

/// The facts that are candidates for a section.
pub(super) struct Ranks {
    /// The best current or closed facts, best first.
    best: Vec<FactId>,
    /// Closed facts, highest confidence first.
    closed: Vec<FactId>,
    /// Withdrawn facts.
    taken: Vec<FactId>,
    /// Number of facts that are not withdrawn.
    all: usize,
}

impl Ranks {
    fn of<V, W>(told: Option<&BTreeMap<Place, V>>, taken: Option<&BTreeMap<Place, W>>) -> Ranks {
        let ids = |it: &Place| it.3;
        let first_closed = (
            true,
            Reverse(u32::MAX),
            Reverse(DateTime::<Utc>::MAX_UTC),
            FactId::from_uuid(Default::default()),
        );
        let closed = told.into_iter().flat_map(|it| it.range(first_closed..));
        Ranks {
            best: told
                .into_iter()
                .flat_map(|it| it.keys())
                .take(LOOKED_AT)
                .map(ids)
                .collect(),
            closed: closed.take(LOOKED_AT).map(|it| it.0.3).collect(),
            taken: taken
                .into_iter()
                .flat_map(|it| it.keys())
                .take(LOOKED_AT)
                .map(ids)
                .collect(),
            all: told.map_or(0, BTreeMap::len),
        }
    }

    /// Returns the candidates among facts with a place as their value, of which only the first [`NAMING_MAX`] are
    /// considered.
    pub(super) fn naming<'a>(told: impl Iterator<Item = &'a Place>, taken: impl Iterator<Item = &'a Place>) -> Ranks {
        let told: BTreeMap<Place, ()> = told.take(NAMING_MAX).map(|it| (*it, ())).collect();
        let taken: BTreeMap<Place, ()> = taken.take(NAMING_MAX).map(|it| (*it, ())).collect();
        Ranks::of(Some(&told), Some(&taken))
    }
}

impl Known {
    /// Returns a section of facts: current ones first, then closed ones, each group oldest first.
    pub(super) fn facts_section(&self, title: &str, category: &str, ranks: &Ranks) -> Option<Section> {
        let mut said = BTreeSet::new();
        let facts = ranks.best.iter().filter_map(|it| self.facts.get(*it));
        let mut facts: Vec<&Fact> = facts
            .filter(|it| said.insert(statement(it).to_lowercase()))
            .take(LINES_MAX)
            .collect();
        facts.sort_by_key(|it| (it.valid_until.is_some(), it.recorded_at, it.id));
        let former = self.former(&facts, ranks);
        let lines: Vec<Line> = facts.iter().map(|it| line(it)).collect();
        let sure: f32 = facts.iter().map(|it| it.confidence).sum();
        let sure = rounded(sure / facts.len().max(1) as f32);
        section(title, category, (lines, former), ranks.all).map(|it| Section { confidence: sure, ..it })
    }

    /// Returns former lines: earlier states of shown facts, closed facts that are not shown, and withdrawn facts.
    fn former(&self, shown: &[&Fact], ranks: &Ranks) -> Vec<FormerLine> {
        let shown_ids: BTreeSet<FactId> = shown.iter().map(|it| it.id).collect();
        let closed = ranks.closed.iter().filter(|it| !shown_ids.contains(*it));
        let closed: Vec<&Fact> = closed.filter_map(|it| self.facts.get(*it)).collect();
        let taken = ranks.taken.iter().filter_map(|it| self.taken.get(*it));
        let known_otherwise = shown.iter().copied().chain(closed.iter().copied()).chain(taken);
        let mut former: Vec<FormerLine> = known_otherwise.flat_map(otherwise).collect();
        former.extend(closed.into_iter().filter_map(|it| {
            let known_until = it.closed_at.or(it.valid_until)?;
            let line = Line {
                until: None,
                ..line(it)
            };
            Some(FormerLine { known_until, line })
        }));
        former.sort_by_key(|it| (Reverse(it.known_until), it.line.fact));
        former.truncate(Section::LINES_MAX);
        former
    }

    /// Returns the sections of the facts about an entity, by aspect; all aspects if `only` is empty.
    pub(super) fn fact_sections(&self, entity: EntityId, only: &[Aspect]) -> Vec<Section> {
        self.by_aspect(self.facts.about(entity), self.taken.about(entity), only)
    }

    /// Returns the sections of the facts of a topic, by aspect.
    pub(super) fn told_sections(&self, topic: TopicId) -> Vec<Section> {
        self.by_aspect(self.placed.told(topic), self.placed.taken(topic), &[])
    }

    fn by_aspect<V>(
        &self,
        told: Option<&BTreeMap<Aspect, BTreeMap<Place, V>>>,
        taken: Option<&BTreeMap<Aspect, BTreeMap<Place, V>>>,
        only: &[Aspect],
    ) -> Vec<Section> {
        let aspects = told.into_iter().chain(taken).flat_map(|it| it.keys().copied());
        let aspects: BTreeSet<Aspect> = aspects.filter(|it| only.is_empty() || only.contains(it)).collect();
        let sections = aspects.into_iter().filter_map(|aspect| {
            let ranks = Ranks::of(
                told.and_then(|it| it.get(&aspect)),
                taken.and_then(|it| it.get(&aspect)),
            );
            self.facts_section(facts::title(aspect), aspect.name(), &ranks)
        });
        sections.collect()
    }

    /// Returns the section of events.
    pub(super) fn events(&self, buckets: &[&Bucket]) -> Option<Section> {
        let mut ranked: Vec<&Rank> = buckets.iter().flat_map(|it| it.lines.keys().take(LOOKED_AT)).collect();
        ranked.sort_unstable();
        ranked.dedup();
        let (mut said, mut lines) = (BTreeSet::new(), Vec::new());
        for (_, at, unit) in ranked {
            let Some(held) = self.store.units.get(unit) else {
                continue;
            };
            let Some(spoken) = held.spoken.as_ref().filter(|it| said.insert(&it.text)) else {
                continue;
            };
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
        section("What happened", "events", (lines, Vec::new()), all)
    }
}

/// Returns a fact as a sentence, such as `Ana lives in Oslo`.
pub(super) fn statement(fact: &Fact) -> String {
    let parts = [fact.subject.as_str(), fact.predicate.as_str(), fact.object.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|it| !it.is_empty()).collect();
    parts.join(" ")
}

/// Rounds to two digits; later ones are noise.
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

/// Returns the states of a fact before each decision that affects it.
fn otherwise(fact: &Fact) -> impl Iterator<Item = FormerLine> + use<'_> {
    let told = |it: &'_ Former| it.fact.as_ref().filter(|it| !it.withdrawn).map(line);
    fact.former.iter().filter_map(move |it| {
        Some(FormerLine {
            known_until: it.until,
            line: told(it)?,
        })
    })
}

/// Returns a section of lines and former lines, or none if there are neither. `all` is the number of lines including
/// those left out.
fn section(title: &str, category: &str, (lines, former): (Vec<Line>, Vec<FormerLine>), all: usize) -> Option<Section> {
    if lines.is_empty() && former.is_empty() {
        return None;
    }
    let times = || lines.iter().map(|it| it.observed_at);
    let time = times().min().zip(times().max()).map(|(first, last)| span(first, last));
    Some(Section {
        title: title.to_owned(),
        category: category.to_owned(),
        summary: None,
        left_out: u32::try_from(all.saturating_sub(lines.len())).unwrap_or(u32::MAX),
        former,
        time,
        lines,
        confidence: TOLD,
    })
}

/// Returns the span between two moments, including the last one.
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
