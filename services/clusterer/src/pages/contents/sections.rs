//! Builds sections of facts by aspect, and of events. Long sections are reduced to their best lines.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use domain::fact::{Aspect, Fact, Former};
use domain::id::{EntityId, FactId, UnitId};
use domain::page::{FormerLine, Line, Section};
use domain::time::{Precision, TimeSpan};
use text::facts::fact_sentence;

use crate::pages::inputs::buckets::bucket::{Bucket, Rank};
use crate::pages::inputs::facts::{self, RankedFact};
use crate::pages::inputs::page_inputs::PageInputs;
use crate::space::small_map::SmallMap;

/// Maximum number of lines of a section.
pub(crate) const LINES_MAX: usize = Section::LINES_MAX;
/// Maximum number of candidates that a section takes from one list; some of them are duplicates.
const LOOKED_AT: usize = 48;
/// Maximum number of facts with a place as their value that are considered.
const NAMING_MAX: usize = 200;
/// Maximum number of hidden units that a section of events considers.
const HIDDEN_MAX: usize = 1_000;
/// Confidence of a section of events.
const EVENTS_CONFIDENCE: f32 = 0.8;

/// The facts that are candidates for a section.
pub(crate) struct Ranks {
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
    fn from_ranked<V, W>(current: Option<&SmallMap<RankedFact, V>>, taken: Option<&SmallMap<RankedFact, W>>) -> Ranks {
        let ids = |it: &RankedFact| it.id;
        let closed = current
            .into_iter()
            .flat_map(|it| it.entries_from(RankedFact::is_current));
        Ranks {
            best: current
                .into_iter()
                .flat_map(|it| it.keys())
                .take(LOOKED_AT)
                .map(ids)
                .collect(),
            closed: closed.take(LOOKED_AT).map(|it| ids(it.0)).collect(),
            taken: taken
                .into_iter()
                .flat_map(|it| it.keys())
                .take(LOOKED_AT)
                .map(ids)
                .collect(),
            all: current.map_or(0, SmallMap::len),
        }
    }

    /// Returns the candidates among facts with a place as their value, of which only the first [`NAMING_MAX`] are
    /// considered.
    pub(crate) fn from_facts_naming_place<'a>(
        current: impl Iterator<Item = &'a RankedFact>,
        taken: impl Iterator<Item = &'a RankedFact>,
    ) -> Ranks {
        let (mut first_current, mut first_taken) = (SmallMap::default(), SmallMap::default());
        current.take(NAMING_MAX).for_each(|it| {
            first_current.insert(*it, ());
        });
        taken.take(NAMING_MAX).for_each(|it| {
            first_taken.insert(*it, ());
        });
        Ranks::from_ranked(Some(&first_current), Some(&first_taken))
    }
}

/// The units that are candidates for a section of events.
#[derive(Debug, Default, PartialEq)]
struct EventRanks {
    /// The best units of each bucket that may be shown.
    shown: Vec<Rank>,
    /// The hidden units that were found while `shown` was collected, newest first, at most [`HIDDEN_MAX`].
    hidden: Vec<Rank>,
    /// Number of units in the buckets that may be shown.
    all: usize,
}

impl PageInputs {
    /// Returns a section of facts: current ones first, then closed ones, each group oldest first.
    pub(crate) fn facts_section(&self, title: &str, category: &str, ranks: &Ranks) -> Option<Section> {
        let mut shown_sentences = BTreeSet::new();
        let facts = ranks.best.iter().filter_map(|it| self.facts.get(*it));
        let mut facts: Vec<&Fact> = facts
            .filter(|it| shown_sentences.insert(fact_sentence(*it).to_lowercase()))
            .take(LINES_MAX)
            .collect();
        facts.sort_by_key(|it| (it.valid_until.is_some(), it.recorded_at, it.id));
        let former = self.former_lines(&facts, ranks);
        let lines: Vec<Line> = facts.iter().map(|it| fact_line(it)).collect();
        let sure: f32 = facts.iter().map(|it| it.confidence).sum();
        let sure = round_to_hundredths(sure / facts.len().max(1) as f32);
        build_section(title, category, lines, former, ranks.all).map(|it| Section { confidence: sure, ..it })
    }

    /// Returns former lines: earlier states of shown facts, closed facts that are not shown, and withdrawn facts.
    fn former_lines(&self, shown: &[&Fact], ranks: &Ranks) -> Vec<FormerLine> {
        let shown_ids: BTreeSet<FactId> = shown.iter().map(|it| it.id).collect();
        let closed = ranks.closed.iter().filter(|it| !shown_ids.contains(*it));
        let closed: Vec<&Fact> = closed.filter_map(|it| self.facts.get(*it)).collect();
        let taken = ranks.taken.iter().filter_map(|it| self.withdrawn_facts.get(*it));
        let known_otherwise = shown.iter().copied().chain(closed.iter().copied()).chain(taken);
        let mut former: Vec<FormerLine> = known_otherwise.flat_map(former_lines_of_fact).collect();
        former.extend(closed.into_iter().filter_map(|it| {
            let known_until = it.closed_at.or(it.valid_until)?;
            let line = Line {
                until: None,
                ..fact_line(it)
            };
            Some(FormerLine { known_until, line })
        }));
        former.retain(|it| !self.is_forgotten(it.line.unit));
        former.sort_by_key(|it| (Reverse(it.known_until), it.line.fact));
        former.truncate(Section::LINES_MAX);
        former
    }

    /// Returns the sections of the facts about an entity, by aspect; all aspects if `only` is empty.
    pub(crate) fn fact_sections(&self, entity: EntityId, only: &[Aspect]) -> Vec<Section> {
        self.by_aspect(
            self.facts.facts_about_entity(entity),
            self.withdrawn_facts.facts_about_entity(entity),
            only,
        )
    }

    /// Returns a section for each aspect that has facts; for all aspects if `only` is empty.
    pub(super) fn by_aspect<V>(
        &self,
        current: Option<&SmallMap<Aspect, SmallMap<RankedFact, V>>>,
        taken: Option<&SmallMap<Aspect, SmallMap<RankedFact, V>>>,
        only: &[Aspect],
    ) -> Vec<Section> {
        let aspects = current.into_iter().chain(taken).flat_map(|it| it.keys().copied());
        let aspects: BTreeSet<Aspect> = aspects.filter(|it| only.is_empty() || only.contains(it)).collect();
        let sections = aspects.into_iter().filter_map(|aspect| {
            let ranks = Ranks::from_ranked(
                current.and_then(|it| it.get(&aspect)),
                taken.and_then(|it| it.get(&aspect)),
            );
            self.facts_section(facts::section_title(aspect), aspect.name(), &ranks)
        });
        sections.collect()
    }

    /// Returns the section of events. A turn is not quoted if it is hidden or if a gist of it is on the page.
    pub(crate) fn events_section(&self, buckets: &[&Bucket]) -> Option<Section> {
        let EventRanks {
            shown: mut ranked,
            hidden,
            all,
        } = self.rank_events(buckets);
        let former = self.replaced_lines(&hidden);
        ranked.extend(hidden);
        ranked.sort_unstable();
        ranked.dedup();
        ranked.retain(|it| !self.has_gist_of_turn(it.2, buckets));
        let (mut shown_texts, mut lines) = (BTreeSet::new(), Vec::new());
        for rank in ranked {
            lines.extend(self.unshown_line(&rank, &mut shown_texts));
            if lines.len() == LINES_MAX {
                break;
            }
        }
        lines.sort_by_key(|it| (it.observed_at, it.unit));
        build_section("What happened", "events", lines, former, all)
    }

    /// Returns the best ranks of each bucket, until [`LOOKED_AT`] units that may be shown are found. The hidden units
    /// on the way do not count, so that many versions of one record do not crowd out other units.
    fn rank_events(&self, buckets: &[&Bucket]) -> EventRanks {
        let mut ranks = EventRanks::default();
        for bucket in buckets {
            let mut left = LOOKED_AT;
            for rank in self.contents.ranks_of_lines(bucket) {
                if left == 0 {
                    break;
                }
                if self.hidden_units.contains(&rank.2) {
                    ranks.hidden.push(rank);
                } else {
                    left -= 1;
                    ranks.shown.push(rank);
                }
            }
            ranks.all += bucket.lines.len() - self.count_hidden_lines(bucket);
        }
        ranks.hidden.sort_unstable_by_key(|it| (Reverse(it.1), it.2));
        ranks.hidden.dedup();
        ranks.hidden.truncate(HIDDEN_MAX);
        ranks
    }

    /// Returns the lines of the units that a later version of a record replaced, the last replaced first. Forgotten
    /// units are left out.
    fn replaced_lines(&self, hidden: &[Rank]) -> Vec<FormerLine> {
        let remembered = hidden.iter().filter(|it| !self.is_forgotten(it.2));
        let replaced = remembered.filter_map(|rank| Some((self.replaced_at(rank.2)?, rank)));
        let mut replaced: Vec<(DateTime<Utc>, &Rank)> = replaced.collect();
        replaced.sort_unstable_by_key(|(known_until, rank)| (Reverse(*known_until), rank.2));
        // The texts are copied last, because there may be many more versions than lines.
        let former = replaced.into_iter().filter_map(|(known_until, rank)| {
            let line = quoted_line(rank, self.text_of_unit(rank.2)?);
            Some(FormerLine { known_until, line })
        });
        former.take(LINES_MAX).collect()
    }

    /// Returns the line of a unit, or none if the unit is hidden or the page already has its text. An event is
    /// represented by its best gist that the page does not have yet, and only otherwise by a quote.
    fn unshown_line<'a>(&'a self, rank: &Rank, shown_texts: &mut BTreeSet<&'a str>) -> Option<Line> {
        let quote = Some(*rank).filter(|it| self.may_show_unit(it.2));
        for candidate in self.gists_of_event(rank.2).into_iter().chain(quote) {
            if let Some(text) = self.text_of_unit(candidate.2)
                && shown_texts.insert(text)
            {
                return Some(quoted_line(&candidate, text));
            }
        }
        None
    }

    /// Returns the text that represents a unit on a page.
    fn text_of_unit(&self, unit: UnitId) -> Option<&str> {
        self.contents.units.get(unit)?.line()
    }
}

/// Rounds to two digits; later ones are noise.
pub(crate) fn round_to_hundredths(value: f32) -> f32 {
    (value * 100.0).round() / 100.0
}

fn quoted_line(rank: &Rank, text: &str) -> Line {
    Line {
        text: text.to_owned(),
        unit: rank.2,
        observed_at: rank.1,
        fact: None,
        until: None,
    }
}

fn fact_line(fact: &Fact) -> Line {
    Line {
        text: fact_sentence(fact),
        unit: fact.source,
        observed_at: fact.recorded_at,
        fact: Some(fact.id),
        until: fact.valid_until,
    }
}

/// Returns the states of a fact before each decision that affects it.
fn former_lines_of_fact(fact: &Fact) -> impl Iterator<Item = FormerLine> + use<'_> {
    let render_former = |it: &'_ Former| it.fact.as_ref().filter(|it| !it.withdrawn).map(fact_line);
    fact.former.iter().filter_map(move |it| {
        Some(FormerLine {
            known_until: it.until,
            line: render_former(it)?,
        })
    })
}

/// Returns a section of lines and former lines, or none if there are neither. `all` is the number of lines including
/// those left out.
fn build_section(
    title: &str,
    category: &str,
    lines: Vec<Line>,
    former: Vec<FormerLine>,
    all: usize,
) -> Option<Section> {
    if lines.is_empty() && former.is_empty() {
        return None;
    }
    let times = || lines.iter().map(|it| it.observed_at);
    let time = times()
        .min()
        .zip(times().max())
        .map(|(first, last)| span_between(first, last));
    Some(Section {
        title: title.to_owned(),
        category: category.to_owned(),
        summary: None,
        left_out: u32::try_from(all.saturating_sub(lines.len())).unwrap_or(u32::MAX),
        former,
        time,
        lines,
        confidence: EVENTS_CONFIDENCE,
    })
}

/// Returns the span between two moments, including the last one.
fn span_between(first: DateTime<Utc>, last: DateTime<Utc>) -> TimeSpan {
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

#[cfg(test)]
mod tests;
