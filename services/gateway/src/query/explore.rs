//! Exploration (CompassMem, section 3.4): the parts of the question are sought one by one, from the best units of each along
//! the relations between units, in one queue; the heads of the router decide where a model would.
//!
//! | step | what is done |
//! | --- | --- |
//! | plan | the question in one to five subgoals, itself the first |
//! | localise | a route for each subgoal; the best units of all start, at most 5, at most 3 of one session |
//! | expand | the unit is kept as evidence, its relations lead on |
//! | skip | a unit that is no turn: passed through, three of its relations lead on |
//! | answer | the unit is kept and meets the last subgoal: the walk ends |
//! | refine | one round more, aimed at what is missing |
//!
//! Scores are logits, so a difference says how much likelier one unit is than another under the same subgoal: the **level**
//! of a unit is its support score less the best one of the subgoal, 0 or below.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{SessionId, UnitId};
use domain::message::RoutedV1;
use serde_json::json;

use super::overlap::Overlap;
use super::results::{Found, units};
use super::walk::{Listed, Walk, gathered};

/// Units that a round starts from, and those of one session among them.
const STARTS_MAX: usize = 5;
const SESSION_MAX: usize = 3;
/// Steps of the first round, and of the one that refines.
const STEPS_MAX: usize = 12;
const REFINED_MAX: usize = 6;
/// A unit is kept down to this level under an unmet subgoal: about one twentieth of the likelihood of the best.
const KEEP: f32 = -3.0;
/// A subgoal is met by a unit down to this level, about a third of the likelihood of the best, ...
const MEET: f32 = -1.0;
/// ... if the heads are sure of the best: it has this probability among all candidates.
const SURE: f32 = 0.15;
/// What a relation of weight 1 adds to the level of the unit it leads to.
const LINKED: f32 = 0.5;
/// A unit passed through hands on its priority, less this.
const PASSED: f32 = 1.0;
/// Relations asked for at a unit, and those followed from one passed through.
const RELATIONS: u32 = 8;
const PASSED_ON: usize = 3;
/// Names that a refined question takes from what was kept.
const NAMES_MAX: usize = 3;
const LISTED: Listed = Listed {
    ranked: 200,
    scenes: 10,
};

/// A subgoal with what the router thinks of the units.
struct Goal {
    question: String,
    best: f32,
    sure: bool,
    met: bool,
    scores: BTreeMap<UnitId, f32>,
    /// The best units with their sessions, best first.
    starts: Vec<(UnitId, SessionId)>,
}

/// The state that all steps share.
#[derive(Default)]
struct Search {
    goals: Vec<Goal>,
    texts: BTreeMap<UnitId, String>,
    queue: BTreeSet<UnitId>,
    /// What relations add to units, and what units that no subgoal knows were handed.
    linked: BTreeMap<UnitId, f32>,
    handed: BTreeMap<UnitId, f32>,
    visited: BTreeSet<UnitId>,
    kept: Vec<UnitId>,
}

/// Explores, and returns what was kept, best first; the best of the whole question if nothing was.
pub(super) async fn gather(walk: &mut Walk<'_>) -> Vec<UnitId> {
    let planned = walk.plan().await;
    walk.tell("plan", &planned.subgoals.join(" | "), planned.subgoals.len(), &[]);
    let mut search = Search::default();
    search.localise(walk, "localise", &planned.subgoals).await;
    search.round(walk, STEPS_MAX).await;
    if let Some(question) = search.refined() {
        let aimed: Vec<usize> = search.unmet().collect();
        search.localise(walk, "refine", &[question]).await;
        search.round(walk, REFINED_MAX).await;
        if search.goals.last().is_some_and(|it| it.met) {
            aimed.into_iter().for_each(|it| search.goals[it].met = true);
        }
    }
    let met = search.goals.iter().filter(|it| it.met).count();
    let focus = search.focus();
    walk.tell(
        "stop",
        &format!("{met} of {} subgoals met", search.goals.len()),
        search.visited.len(),
        &focus,
    );
    focus
}

impl Goal {
    fn of(question: &str, routed: &RoutedV1) -> Goal {
        let centre = |it: &domain::evidence::Scene| it.turns.get(it.center).map(|turn| (turn.unit, turn.session));
        Goal {
            question: question.to_owned(),
            best: routed.ranked.first().map_or(0.0, |it| it.score),
            sure: routed.scenes.first().is_some_and(|it| it.probability >= SURE),
            met: false,
            scores: routed.ranked.iter().map(|it| (it.unit, it.score)).collect(),
            starts: routed.scenes.iter().filter_map(centre).collect(),
        }
    }

    fn level(&self, unit: UnitId) -> Option<f32> {
        self.scores.get(&unit).map(|it| it - self.best)
    }
}

impl Search {
    /// Asks the router about subgoals; the best units of all of them wait in the queue.
    async fn localise(&mut self, walk: &mut Walk<'_>, step: &str, questions: &[String]) {
        let replies = walk.routes(step, questions, LISTED).await;
        let first = self.goals.len();
        for (question, routed) in questions.iter().zip(&replies) {
            let Some(routed) = routed else { continue };
            let shown = routed.ranked.iter().map(|it| (it.unit, it.text.clone()));
            self.texts.extend(shown);
            self.goals.push(Goal::of(question, routed));
        }
        let starts = starts(&self.goals[first..]);
        for (goal, routed) in self.goals[first..].iter().zip(replies.iter().flatten()) {
            let own: Vec<UnitId> = starts
                .iter()
                .copied()
                .filter(|it| goal.starts.iter().any(|one| one.0 == *it))
                .collect();
            walk.tell(step, &goal.question, routed.candidates as usize, &own);
        }
        self.queue
            .extend(starts.into_iter().filter(|it| !self.visited.contains(it)));
    }

    /// Takes units from the queue, best first, until all subgoals are met or nothing is worth a step.
    async fn round(&mut self, walk: &mut Walk<'_>, steps: usize) {
        for _ in 0..steps {
            if self.unmet().next().is_none() || self.queue.is_empty() || walk.over() {
                return;
            }
            let Some((priority, unit)) = self.next() else { return };
            if priority < KEEP {
                walk.tell("skip", "all that is left in the queue", self.queue.len() + 1, &[]);
                return;
            }
            self.visited.insert(unit);
            let known = self.goals.iter().any(|it| it.scores.contains_key(&unit));
            if known {
                self.keep(unit);
                if self.unmet().next().is_none() {
                    walk.tell("answer", &unit.to_string(), 0, &[unit]);
                    return;
                }
            }
            self.expand(walk, unit, (known, priority)).await;
        }
    }

    /// Returns the best unit of the queue, ties by id, with its priority, and takes it out.
    fn next(&mut self) -> Option<(f32, UnitId)> {
        let priority = |it: &UnitId| self.priority(*it);
        let best = self.queue.iter().copied().map(|it| (priority(&it), it));
        let best = best.reduce(|a, b| if b.0 > a.0 { b } else { a })?;
        self.queue.remove(&best.1);
        Some(best)
    }

    /// Returns the best level of a unit over the unmet subgoals.
    fn priority(&self, unit: UnitId) -> f32 {
        let levels = self.unmet().filter_map(|it| self.goals[it].level(unit));
        let linked = self.linked.get(&unit).copied().unwrap_or_default();
        let level = levels.reduce(f32::max).map(|it| it + linked);
        level.or_else(|| self.handed.get(&unit).copied()).unwrap_or(f32::MIN)
    }

    fn unmet(&self) -> impl Iterator<Item = usize> {
        (0..self.goals.len()).filter(|&it| !self.goals[it].met)
    }

    fn keep(&mut self, unit: UnitId) {
        self.kept.push(unit);
        for goal in &mut self.goals {
            goal.met |= goal.sure && goal.level(unit).is_some_and(|it| it >= MEET);
        }
    }

    async fn expand(&mut self, walk: &mut Walk<'_>, unit: UnitId, (known, priority): (bool, f32)) {
        let arguments = json!({"unit": unit, "limit": RELATIONS});
        let reply = walk.tool("expand", "expand_unit", arguments).await;
        let related: Vec<Found> = units(&reply).into_iter().filter(|it| it.unit != unit).collect();
        let followed = if known { related.len() } else { PASSED_ON };
        for it in related.iter().take(followed) {
            let added = self.linked.entry(it.unit).or_default();
            *added = added.max(LINKED * it.weight.clamp(0.0, 1.0));
            let handed = self.handed.entry(it.unit).or_insert(f32::MIN);
            *handed = handed.max(priority - PASSED);
            if !self.visited.contains(&it.unit) {
                self.queue.insert(it.unit);
            }
        }
        let (step, kept) = if known {
            ("expand", vec![unit])
        } else {
            ("skip", Vec::new())
        };
        walk.tell(step, &unit.to_string(), related.len(), &kept);
    }

    /// Returns a question for what is missing: the last unmet subgoal with the names that were met on the way, else its words
    /// that nothing kept holds; none if that would ask the same again.
    fn refined(&self) -> Option<String> {
        let unmet: Vec<&Goal> = self.unmet().map(|it| &self.goals[it]).collect();
        let goal = unmet.last()?;
        let texts: Vec<&str> = self
            .kept
            .iter()
            .filter_map(|it| self.texts.get(it))
            .map(|it| said(it))
            .collect();
        let asked = Overlap::of(self.goals.iter().map(|it| it.question.as_str()));
        let mut names: Vec<&str> = Vec::new();
        for name in texts.iter().flat_map(|it| text::names(it)) {
            if asked.shared(name) == 0.0 && !names.contains(&name) && names.len() < NAMES_MAX {
                names.push(name);
            }
        }
        if !names.is_empty() {
            return Some(format!("{} {}", goal.question, names.join(" ")));
        }
        let missing = Overlap::of([goal.question.as_str()]).missing(texts);
        let whole = Overlap::of([goal.question.as_str()]).missing([]);
        let words = text::words(&goal.question)
            .into_iter()
            .filter(|it| missing.contains(&text::stem(it)));
        let words: Vec<&str> = words.collect();
        (!words.is_empty() && missing != whole).then(|| words.join(" "))
    }

    /// Returns what was kept by its best level, ties in the order of keeping.
    fn focus(&self) -> Vec<UnitId> {
        let level = |it: UnitId| {
            let levels = self.goals.iter().filter_map(|goal| goal.level(it));
            levels.reduce(f32::max).unwrap_or(f32::MIN)
        };
        let mut kept = self.kept.clone();
        kept.sort_by(|a, b| level(*b).total_cmp(&level(*a)));
        if kept.is_empty() {
            kept.extend(
                self.goals
                    .first()
                    .into_iter()
                    .flat_map(|it| it.starts.iter().map(|it| it.0)),
            );
        }
        gathered(kept)
    }
}

/// Returns the units to start from: the best of every subgoal first, then the second best by level, and so on.
fn starts(goals: &[Goal]) -> Vec<UnitId> {
    let of = |goal: &Goal| {
        let places = goal.starts.iter().enumerate();
        let levels = places.map(|(rank, it)| (goal.level(it.0).unwrap_or(f32::MIN), rank, *it));
        levels.collect::<Vec<_>>()
    };
    let mut all: Vec<(f32, usize, (UnitId, SessionId))> = goals.iter().flat_map(of).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut out: Vec<(UnitId, SessionId)> = Vec::new();
    for (_, _, (unit, session)) in all {
        let beside = out.iter().filter(|it| it.1 == session).count();
        if out.len() < STARTS_MAX && beside < SESSION_MAX && !out.iter().any(|it| it.0 == unit) {
            out.push((unit, session));
        }
    }
    out.into_iter().map(|it| it.0).collect()
}

/// Returns what was said, without the date and the speaker before it.
fn said(line: &str) -> &str {
    line.split_once(": ").map_or(line, |it| it.1)
}
