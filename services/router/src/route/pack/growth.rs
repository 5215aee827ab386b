//! Fills a pack so that a larger budget never shows less.
//!
//! A pack is filled in steps of the budget, each twice as large as the one before. Lines that a step has chosen stay,
//! and lines that it had to clip are completed first. A budget between two steps takes the choices of the greater step
//! in their order until it is full. So the lines of a pack are among the lines of every larger pack. A budget that
//! equals a step, as most budgets do, is used completely.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use domain::evidence::EvidencePack;
use domain::question::AnswerClass;

use super::display::Labels;
use super::line::Line;
use super::{Choice, Coverage, Fate, Key, render_pack};

/// The first step of the budget, in tokens.
const FIRST_STEP: u32 = 256;
/// Number of tokens by which a line may be cheaper than its price.
const SLACK: u32 = 8;
/// Reserved tokens: words at the joint of two lines may have more tokens together than separately.
const KEPT_BACK: u32 = 4;
/// Two lines of one speaker repeat each other if they share this much of the words of both; then only the more probable
/// one is shown. It is not enough that a longer line contains the words of a shorter one: a thing that is mentioned
/// again on another day is separate evidence.
const REPEATS: f32 = 0.85;
/// Minimum probability of a unit that is shown in part if it does not fit whole. At least `ROOM` tokens must be left
/// for it.
const PROBABLE: f32 = 0.002;
const ROOM: u32 = 24;

/// The inputs of a pack.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) choice: &'a Choice<'a>,
    pub(super) labels: &'a Labels,
    /// Share of the probability at which the pack is enough; with 1 it never is.
    pub(super) enough: f32,
    /// Probability of all units together: 1 for the turns, plus the sum over the gists.
    pub(super) mass: f32,
}

/// A step of the budget. `limit` says how far into it the pack may grow; it is less than the step only in the last one.
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

/// The lines of a pack that is being filled.
pub(super) struct Growth<'a> {
    /// The chosen lines, in the order of choice.
    pub(super) lines: Vec<Line<'a>>,
    /// The outcomes for the units that were decided so far.
    pub(super) fates: BTreeMap<Key, Fate>,
    /// Lines that are neither chosen nor repetitions.
    open: Vec<Line<'a>>,
    coverage: Coverage,
    days: BTreeSet<NaiveDate>,
    used: u32,
    /// Probability of the units that are shown.
    packed_mass: f32,
}

impl<'a> Growth<'a> {
    pub(super) fn from_lines(open: Vec<Line<'a>>) -> Growth<'a> {
        Growth {
            lines: Vec::new(),
            fates: BTreeMap::new(),
            open,
            coverage: Coverage::default(),
            days: BTreeSet::new(),
            used: KEPT_BACK,
            packed_mass: 0.0,
        }
    }

    /// Grows to a budget in tokens and returns the pack.
    pub(super) fn grow_to_budget(&mut self, source: Source<'a>, budget: u32) -> EvidencePack {
        for step in Step::up_to(budget) {
            self.fill_step(source, step);
        }
        let pack = self.trim_to_limit(source, budget);
        let left = match self.is_enough(source) {
            true => Fate::Spared,
            false => Fate::TooDear,
        };
        self.fates.extend(self.open.iter().map(|it| (it.key, left)));
        pack
    }

    fn is_enough(&self, source: Source<'_>) -> bool {
        source.enough < 1.0 && self.packed_mass >= source.enough * source.mass
    }

    /// Adds whole lines, then the best sentences of lines that do not fit whole.
    fn fill_step(&mut self, source: Source<'a>, step: Step) {
        if self.complete_clipped_lines(source, step) && self.add_whole(source, step) {
            self.add_clipped(source, step);
        }
    }

    /// Completes lines that were clipped before. Returns false if the limit was reached before the end of the step.
    fn complete_clipped_lines(&mut self, source: Source<'a>, step: Step) -> bool {
        for line in self.lines.iter_mut().filter(|it| it.is_clipped()) {
            let label = source.labels.short_form(line.actor);
            let rest = self.used - line.shown_tokens(&label);
            let part = line.restore_full_display();
            let used = rest + line.shown_tokens(&label);
            if used <= step.limit {
                self.used = used;
                continue;
            }
            if let Some(part) = part {
                line.clip_to_display(part);
            }
            if used <= step.tokens {
                return false;
            }
        }
        true
    }

    /// Adds whole lines. Returns false if the limit was reached before the end of the step.
    fn add_whole(&mut self, source: Source<'a>, step: Step) -> bool {
        let mut is_cut = false;
        while let Some(at) = self
            .find_best_line()
            .filter(|_| !self.is_enough(source) && !is_cut && self.has_room(step))
        {
            let used = self.used_with(&self.open[at], source, step.tokens);
            if self.is_repetition(&self.open[at], source) {
                self.close_line(at);
            } else if used > step.tokens {
                self.open[at].is_set_aside = true;
            } else if used > step.limit {
                let next = self.open.remove(at);
                let left = self.add_part(next, source, step.limit);
                self.open.extend(left);
                is_cut = true;
            } else {
                let next = self.open.remove(at);
                self.add_line(next, used);
            }
        }
        self.open.iter_mut().for_each(|it| it.is_set_aside = false);
        !is_cut
    }

    /// Returns true if the cheapest open line may fit.
    fn has_room(&self, step: Step) -> bool {
        let cheapest = self.waiting_lines().map(|(_, it)| it.price).min();
        cheapest.is_some_and(|price| self.used + price <= step.tokens + SLACK)
    }

    /// Adds the best sentences of lines that do not fit whole, until the limit cuts a line.
    fn add_clipped(&mut self, source: Source<'a>, step: Step) {
        let mut order: Vec<(usize, Key)> = self.open.iter().map(|it| (it.choice_order(), it.key)).collect();
        order.sort_unstable();
        for (_, key) in order {
            if self.is_enough(source) {
                return;
            }
            // A line that is not open any more is already shown in the other form.
            let Some(at) = self.open.iter().position(|it| it.key == key) else {
                continue;
            };
            let mut line = self.open.remove(at);
            if !self.clip_line(&mut line, source, step.tokens) {
                self.open.push(line);
            } else if self.is_repetition(&line, source) {
                line.restore_full_display();
                self.open.push(line);
            } else {
                let used = self.used_with(&line, source, step.tokens);
                if used <= step.limit {
                    self.add_line(line, used);
                    continue;
                }
                line.restore_full_display();
                let left = self.add_part(line, source, step.limit);
                self.open.extend(left);
                return;
            }
        }
    }

    /// Adds the best sentences of a line for which there is room. It adds them even if they repeat a shown line, since
    /// the full step shows more of the line, which is then not a repetition. Returns the line if there is too little
    /// room.
    fn add_part(&mut self, mut line: Line<'a>, source: Source<'a>, limit: u32) -> Option<Line<'a>> {
        if !self.clip_line(&mut line, source, limit) {
            return Some(line);
        }
        let used = self.used_with(&line, source, u32::MAX - SLACK);
        self.add_line(line, used);
        None
    }

    /// Clips a line to the room that is left. If there is too little, returns false and leaves the line unchanged.
    fn clip_line(&self, line: &mut Line<'a>, source: Source<'a>, limit: u32) -> bool {
        let fixed =
            line.cost_with_header(&self.days) + self.introduction_tokens(line.actor, source) - line.display.tokens;
        let room = limit.saturating_sub(self.used + fixed);
        if line.scored.probability < PROBABLE || room < ROOM {
            return false;
        }
        let Some(display) = line.fit_part(room) else {
            return false;
        };
        line.clip_to_display(display);
        let fits = self.used_with(line, source, limit) <= limit;
        if !fits {
            line.restore_full_display();
        }
        fits
    }

    /// Returns the tokens of the pack with one more line. The value is only an estimate if it exceeds the limit plus
    /// `SLACK`.
    fn used_with(&self, line: &Line<'_>, source: Source<'_>, limit: u32) -> u32 {
        let estimate = self.used + line.cost_with_header(&self.days);
        if estimate > limit + SLACK {
            return estimate;
        }
        let tokens = line.shown_tokens(&source.labels.short_form(line.actor));
        self.used + tokens + line.header_cost(&self.days) + self.introduction_tokens(line.actor, source)
    }

    /// Returns the tokens that the full name of a speaker adds to the line that introduces the speaker; 0 if an earlier
    /// line has done so.
    fn introduction_tokens(&self, actor: &str, source: Source<'_>) -> u32 {
        if self.lines.iter().any(|it| it.actor == actor) {
            return 0;
        }
        let tokens = |label: String| text::count_tokens(&label) as u32;
        tokens(source.labels.long_form(actor)).saturating_sub(tokens(source.labels.short_form(actor)))
    }

    /// Removes the last lines while the rendered pack takes more than the limit. This may happen, since words at the
    /// joint of two lines may have more tokens together than separately.
    fn trim_to_limit(&mut self, source: Source<'a>, limit: u32) -> EvidencePack {
        loop {
            let pack = render_pack(source, &self.lines, limit);
            if pack.tokens <= limit {
                return pack;
            }
            let Some(mut line) = self.lines.pop() else {
                return pack;
            };
            line.restore_full_display();
            self.open.push(line);
        }
    }

    /// Adds a line; `used` is the number of tokens of the pack with it.
    fn add_line(&mut self, line: Line<'a>, used: u32) {
        self.packed_mass += line.scored.probability;
        self.used = used;
        if self.days.insert(line.day) {
            self.open.iter_mut().for_each(|it| it.update_header_cost(&self.days));
        }
        self.fates.insert(line.key, Fate::Packed);
        self.coverage.add_unit(line.key.grain, &line.turns);
        self.lines.push(line);
        self.close_covered();
    }

    /// Closes the open lines that are now shown in the other form: the turns from which a gist was read, and a gist
    /// whose turns are all shown. Lines that were selected stay open.
    fn close_covered(&mut self) {
        while let Some(at) = self.open.iter().position(|it| self.is_covered(it)) {
            self.close_line(at);
        }
    }

    fn is_covered(&self, line: &Line<'_>) -> bool {
        line.chosen.is_none() && self.coverage.covers_unit(line.key.grain, &line.turns)
    }

    /// Closes an open line that repeats the pack.
    fn close_line(&mut self, at: usize) {
        let line = self.open.remove(at);
        self.packed_mass += line.scored.probability;
        self.fates.insert(line.key, Fate::Repeats);
    }

    /// Returns the open lines that were not set aside, with their index.
    fn waiting_lines(&self) -> impl Iterator<Item = (usize, &Line<'a>)> {
        self.open.iter().enumerate().filter(|(_, it)| !it.is_set_aside)
    }

    /// Returns the open line that was selected first. If no line was selected, returns the one with the most
    /// probability for its price, ties by key.
    fn find_best_line(&self) -> Option<usize> {
        let worth = self
            .waiting_lines()
            .map(|(at, it)| (at, it.log_probability_per_token()));
        let order = |at: usize| self.open[at].choice_order();
        let key = |at: usize| self.open[at].key;
        let better = |a: &(usize, f32), b: &(usize, f32)| {
            let first = order(b.0).cmp(&order(a.0)).then(a.1.total_cmp(&b.1));
            first.then_with(|| key(b.0).cmp(&key(a.0)))
        };
        worth.max_by(better).map(|it| it.0)
    }

    /// Returns true if a shown line already says the content of `next`. A selected line is never a repetition. If the
    /// question counts something, lines of different times are no repetitions, since each may be one of the counted
    /// things.
    fn is_repetition(&self, next: &Line<'_>, source: Source<'_>) -> bool {
        let at = |it: &Line<'_>| it.turn.unit.observed_at;
        let reading = &source.choice.turns.query.reading;
        let is_counted = reading.traits.many || reading.class == Some(AnswerClass::Rate);
        let same = |it: &Line<'_>| {
            let shared = count_common(&next.words, &it.words);
            let is_apart = is_counted && at(it) != at(next);
            it.actor == next.actor
                && !is_apart
                && shared as f32 >= REPEATS * (next.words.len() + it.words.len() - shared) as f32
        };
        next.chosen.is_none() && next.words.len() > 3 && self.lines.iter().any(same)
    }
}

/// Returns the number of values that two sorted lists without repetitions have in common.
fn count_common(a: &[u32], b: &[u32]) -> usize {
    let (mut rest, mut count) = (b.iter().peekable(), 0);
    for it in a {
        while rest.next_if(|other| *other < it).is_some() {}
        count += usize::from(rest.next_if_eq(&it).is_some());
    }
    count
}

#[cfg(test)]
mod tests {
    use super::count_common;

    #[test]
    fn numbers_in_both_lists_are_counted() {
        for (a, b, expected) in [
            (&[1, 3, 5, 8][..], &[2, 3, 4, 8, 9][..], 2),
            (&[], &[1], 0),
            (&[7, 9], &[], 0),
            (&[4, 6], &[4, 6], 2),
        ] {
            assert_eq!((count_common(a, b), count_common(b, a)), (expected, expected));
        }
    }
}
