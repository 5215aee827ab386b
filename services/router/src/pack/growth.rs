//! Filling a pack so that a larger budget never shows less.
//!
//! A pack is filled up to one step of the budget after the other, each step twice the one before. What a step has chosen stays,
//! and lines that it had to clip are completed first. A budget between two steps takes the choices of the greater step in
//! their order as far as it reaches. So the lines of a pack are among the lines of every larger pack. At the steps
//! themselves, where budgets usually are, no token is given away.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use domain::question::AnswerClass;

use super::display::Labels;
use super::line::{Line, Rank};
use super::{Fate, render};
use crate::query::Query;
use crate::route::Scored;
use crate::view::{Turn, View};

/// The first step of the budget, tokens.
const FIRST_STEP: u32 = 256;
/// Tokens by which a line may cost less than it is priced at.
const SLACK: u32 = 8;
/// Tokens kept back: words that meet where lines are joined may count for more than by themselves.
const KEPT_BACK: u32 = 4;
/// Two lines of one speaker that share this much of the words of both say the same, and only the more probable is shown. That
/// a longer line holds the words of a shorter one is not enough: what is told of again on another day is evidence of its own.
const REPEATS: f32 = 0.85;
/// Sentences of a unit that did not fit whole are shown if it is at least this probable and at least this many tokens are
/// left.
const PROBABLE: f32 = 0.002;
const ROOM: u32 = 24;

/// What a pack is made from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) view: &'a View,
    pub(super) query: &'a Query,
    pub(super) scored: &'a [Scored],
    pub(super) labels: &'a Labels,
    /// Share of the probability at which the pack is enough; 1 is never.
    pub(super) enough: f32,
}

impl<'a> Source<'a> {
    fn turn(&self, rank: Rank) -> &'a Turn {
        &self.view.turns()[self.scored[rank].place]
    }
}

/// A step of the budget, and how far into it the pack may grow; less than the step only for the last one.
#[derive(Clone, Copy)]
struct Step {
    tokens: u32,
    limit: u32,
}

impl Step {
    /// Returns the steps up to a budget.
    fn up_to(budget: u32) -> impl Iterator<Item = Step> {
        let steps = std::iter::successors(Some(FIRST_STEP), |it| it.checked_mul(2));
        let mut last = 0;
        steps.map_while(move |tokens| {
            let is_needed = last < budget;
            last = tokens;
            let limit = tokens.min(budget);
            is_needed.then_some(Step { tokens, limit })
        })
    }
}

/// The lines of a pack in the making.
pub(super) struct Growth<'a> {
    /// In the order in which they were chosen.
    pub(super) lines: Vec<Line<'a>>,
    /// By rank.
    pub(super) fates: Vec<Fate>,
    /// Not chosen, and no repetition.
    open: Vec<Line<'a>>,
    days: BTreeSet<NaiveDate>,
    used: u32,
    /// Probability of what is shown.
    held: f32,
}

impl<'a> Growth<'a> {
    pub(super) fn of(source: Source<'a>, open: Vec<Line<'a>>) -> Growth<'a> {
        Growth {
            lines: Vec::new(),
            fates: vec![Fate::Weak; source.scored.len()],
            open,
            days: BTreeSet::new(),
            used: KEPT_BACK,
            held: 0.0,
        }
    }

    /// Grows to a budget of that many tokens.
    pub(super) fn grow(&mut self, source: Source<'a>, budget: u32) {
        for step in Step::up_to(budget) {
            self.fill(source, step);
        }
        self.trim(source, budget);
        for line in &self.open {
            self.fates[line.rank] = match self.is_enough(source) {
                true => Fate::Spared,
                false => Fate::TooDear,
            };
        }
    }

    fn is_enough(&self, source: Source<'_>) -> bool {
        source.enough < 1.0 && self.held >= source.enough
    }

    /// Adds whole lines, then the best sentences of those that do not fit whole.
    fn fill(&mut self, source: Source<'a>, step: Step) {
        if self.unclip(source, step) && self.add_whole(source, step) {
            self.add_clipped(source, step);
        }
    }

    /// Completes lines that were clipped before. Returns false if the limit ended it before the step did.
    fn unclip(&mut self, source: Source<'a>, step: Step) -> bool {
        for line in self.lines.iter_mut().filter(|it| it.is_clipped()) {
            let (label, turn) = (source.labels.short(line.actor), source.turn(line.rank));
            let rest = self.used - line.shown_tokens(&label, turn);
            let part = line.unclip(turn);
            let used = rest + line.shown_tokens(&label, turn);
            if used <= step.limit {
                self.used = used;
                continue;
            }
            if let Some(part) = part {
                line.clip(part, turn);
            }
            if used <= step.tokens {
                return false;
            }
        }
        true
    }

    /// Adds whole lines. Returns false if the limit ended it before the step did.
    fn add_whole(&mut self, source: Source<'a>, step: Step) -> bool {
        let mut too_dear = Vec::new();
        let mut is_cut = false;
        while let Some(at) = self
            .best()
            .filter(|_| !self.is_enough(source) && !is_cut && self.has_room(step))
        {
            let next = self.open.remove(at);
            let used = self.used_with(&next, source, step.tokens);
            if self.repeats(&next, source) {
                self.held += source.scored[next.rank].probability;
                self.fates[next.rank] = Fate::Repeats;
            } else if used > step.tokens {
                too_dear.push(next);
            } else if used > step.limit {
                too_dear.extend(self.add_part(next, source, step.limit));
                is_cut = true;
            } else {
                self.add(next, source);
            }
        }
        self.open.append(&mut too_dear);
        !is_cut
    }

    /// Returns true if the cheapest open line may fit.
    fn has_room(&self, step: Step) -> bool {
        let cheapest = self.open.iter().map(|it| it.price).min();
        cheapest.is_some_and(|price| self.used + price <= step.tokens + SLACK)
    }

    /// Adds the best sentences of lines that do not fit whole, until the limit cuts one.
    fn add_clipped(&mut self, source: Source<'a>, step: Step) {
        let mut lines = std::mem::take(&mut self.open);
        lines.sort_by_key(|it| (it.turn(), it.rank));
        let mut is_cut = false;
        for mut line in lines {
            let is_over = is_cut || self.is_enough(source);
            if is_over || !self.clip(&mut line, source, step.tokens) {
                self.open.push(line);
            } else if self.repeats(&line, source) {
                line.unclip(source.turn(line.rank));
                self.open.push(line);
            } else if self.used_with(&line, source, step.tokens) <= step.limit {
                self.add(line, source);
            } else {
                is_cut = true;
                line.unclip(source.turn(line.rank));
                let left = self.add_part(line, source, step.limit);
                self.open.extend(left);
            }
        }
    }

    /// Adds the best sentences of a line for which there is room, even if they repeat what is shown: the step shows more of the
    /// line, which does not. Returns the line if there is too little.
    fn add_part(&mut self, mut line: Line<'a>, source: Source<'a>, limit: u32) -> Option<Line<'a>> {
        if !self.clip(&mut line, source, limit) {
            return Some(line);
        }
        self.add(line, source);
        None
    }

    /// Clips a line to the room that is left. Returns false, and leaves it as it was, if there is too little.
    fn clip(&self, line: &mut Line<'a>, source: Source<'a>, limit: u32) -> bool {
        let fixed = line.cost(&self.days) + self.introduction(line.actor, source) - line.display.tokens;
        let room = limit.saturating_sub(self.used + fixed);
        if source.scored[line.rank].probability < PROBABLE || room < ROOM {
            return false;
        }
        let turn = source.turn(line.rank);
        let Some(display) = line.display.part(source.query, turn, room) else {
            return false;
        };
        line.clip(display, turn);
        let fits = self.used_with(line, source, limit) <= limit;
        if !fits {
            line.unclip(turn);
        }
        fits
    }

    /// Returns the tokens of the pack with one more line; only an estimate above the limit and its slack.
    fn used_with(&self, line: &Line<'_>, source: Source<'_>, limit: u32) -> u32 {
        let estimate = self.used + line.cost(&self.days);
        if estimate > limit + SLACK {
            return estimate;
        }
        let shown = line.shown_tokens(&source.labels.short(line.actor), source.turn(line.rank));
        self.used + shown + line.header_cost(&self.days) + self.introduction(line.actor, source)
    }

    /// Returns the tokens that the whole name of a speaker adds to the line that introduces them; 0 if they have spoken.
    fn introduction(&self, actor: &str, source: Source<'_>) -> u32 {
        if self.lines.iter().any(|it| it.actor == actor) {
            return 0;
        }
        let tokens = |label: String| text::tokens(&label) as u32;
        tokens(source.labels.long(actor)).saturating_sub(tokens(source.labels.short(actor)))
    }

    /// Drops the last lines while the pack as it is shown takes more than the limit: words of two lines that meet may count for
    /// more than by themselves.
    fn trim(&mut self, source: Source<'a>, limit: u32) {
        while render(source, &self.lines, limit).tokens > limit {
            let Some(mut line) = self.lines.pop() else {
                return;
            };
            line.unclip(source.turn(line.rank));
            self.open.push(line);
        }
    }

    fn add(&mut self, line: Line<'a>, source: Source<'a>) {
        self.held += source.scored[line.rank].probability;
        self.used = self.used_with(&line, source, u32::MAX - SLACK);
        self.days.insert(line.day);
        self.fates[line.rank] = Fate::Packed;
        self.lines.push(line);
    }

    /// Returns the open line that was chosen first; without one, that with the most probability for its price, ties by rank.
    fn best(&self) -> Option<usize> {
        let worth = self.open.iter().map(|it| it.worth(&self.days)).enumerate();
        let turn = |at: usize| self.open[at].turn();
        let rank = |at: usize| -> Rank { self.open[at].rank };
        let better = |a: &(usize, f32), b: &(usize, f32)| {
            let first = turn(b.0).cmp(&turn(a.0)).then(a.1.total_cmp(&b.1));
            first.then_with(|| rank(b.0).cmp(&rank(a.0)))
        };
        worth.max_by(better).map(|it| it.0)
    }

    /// Returns true if a line shows already what `next` would. A line that was chosen repeats none, and where something is
    /// counted none repeats what was said at another time: each may be one of several that count.
    fn repeats(&self, next: &Line<'_>, source: Source<'_>) -> bool {
        let at = |it: &Line<'_>| source.turn(it.rank).unit.observed_at;
        let reading = &source.query.reading;
        let is_counted = reading.traits.many || reading.class == Some(AnswerClass::Rate);
        let same = |it: &Line<'_>| {
            let shared = next.words.intersection(&it.words).count();
            let is_apart = is_counted && at(it) != at(next);
            it.actor == next.actor
                && !is_apart
                && shared as f32 >= REPEATS * (next.words.len() + it.words.len() - shared) as f32
        };
        next.chosen.is_none() && next.words.len() > 3 && self.lines.iter().any(same)
    }
}
