//! Pairs of events of which the rules are unsure, and what a language model said of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::id::UnitId;

use crate::coreference::{Judged, Pair, Question, Verdict};

/// A pair of which the rules are unsure.
#[derive(Clone, Debug)]
struct Candidate {
    pair: Pair,
    /// Of what a model is shown of both.
    digest: String,
    /// Whether its reading was looked up since one of the two was put.
    is_looked_up: bool,
    verdict: Option<Verdict>,
}

/// The pairs of one space.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    /// By the later event, the most similar earlier one first.
    of: HashMap<UnitId, Vec<Candidate>>,
    /// The later events by the earlier one.
    later: HashMap<UnitId, BTreeSet<UnitId>>,
    /// Later events with pairs to look up,
    unlooked: BTreeSet<UnitId>,
    /// and with pairs that were looked up and have no verdict of now.
    open: BTreeSet<UnitId>,
}

impl Candidates {
    /// Takes the pairs of `later` for those of which the rules are unsure now. A verdict stays while both events read as they did.
    pub(super) fn propose(&mut self, later: UnitId, proposed: Vec<(Pair, String)>) {
        let mut before = self.of.remove(&later).unwrap_or_default();
        for candidate in &before {
            self.forget_earlier(candidate.pair.earlier, later);
        }
        let mut now = Vec::new();
        for (pair, digest) in proposed {
            self.later.entry(pair.earlier).or_default().insert(later);
            let known = before.iter().position(|it| it.pair == pair && it.digest == digest);
            now.push(match known {
                Some(at) => before.swap_remove(at),
                None => Candidate {
                    pair,
                    digest,
                    is_looked_up: false,
                    verdict: None,
                },
            });
        }
        if !now.is_empty() {
            self.of.insert(later, now);
        }
        self.sort(later);
    }

    /// Has the readings of all pairs of an event looked up again: one of its records may have been erased and be back.
    pub(super) fn look_again(&mut self, event: UnitId) {
        let others = self.later.get(&event).into_iter().flatten().copied();
        let laters: Vec<UnitId> = others.chain([event]).collect();
        for later in laters {
            let candidates = self.of.get_mut(&later).into_iter().flatten();
            candidates
                .filter(|it| it.pair.later == event || it.pair.earlier == event)
                .for_each(|it| it.is_looked_up = false);
            self.sort(later);
        }
    }

    /// Has the readings of all pairs looked up again that have no verdict of now.
    pub(super) fn look_for_open(&mut self) {
        for later in std::mem::take(&mut self.open) {
            let candidates = self.of.get_mut(&later).into_iter().flatten();
            candidates
                .filter(|it| it.is_open())
                .for_each(|it| it.is_looked_up = false);
            self.sort(later);
        }
    }

    /// Returns the pairs whose readings are to be looked up.
    pub(super) fn unlooked(&self) -> Vec<Pair> {
        let candidates = self.unlooked.iter().filter_map(|it| self.of.get(it)).flatten();
        candidates.filter(|it| !it.is_looked_up).map(|it| it.pair).collect()
    }

    /// Takes in what was found for pairs that were looked up, and returns the later events of those about which something else
    /// is known now. A verdict about events as they do not read any more is none.
    pub(super) fn take_in(&mut self, pairs: &[Pair], verdicts: &[Verdict]) -> BTreeSet<UnitId> {
        let found: BTreeMap<Key, &Verdict> = verdicts.iter().map(|it| (Key::of(it), it)).collect();
        let mut changed = BTreeSet::new();
        for pair in pairs {
            let candidates = self.of.get_mut(&pair.later).into_iter().flatten();
            for candidate in candidates.filter(|it| it.pair == *pair) {
                let key = Key {
                    later: pair.later,
                    earlier: pair.earlier,
                };
                let fitting = found.get(&key).filter(|it| it.digest == candidate.digest);
                let verdict = fitting.map(|it| (*it).clone());
                if candidate.verdict != verdict {
                    candidate.verdict = verdict;
                    changed.insert(pair.later);
                }
                candidate.is_looked_up = true;
            }
            self.sort(pair.later);
        }
        changed
    }

    /// Returns what a model said of a pair whose events read as `digest` says.
    pub(super) fn said(&self, pair: &Pair, digest: &str) -> Option<&Judged> {
        let candidates = self.of.get(&pair.later)?;
        let candidate = candidates.iter().find(|it| it.pair == *pair && it.digest == digest)?;
        candidate.verdict.as_ref()?.said.as_ref()
    }

    /// Returns up to `limit` events with the earlier ones about which a model is to be asked; `is_settled` says of which pairs
    /// somebody decided.
    pub(super) fn questions(&self, limit: usize, is_settled: impl Fn(&Pair) -> bool) -> Vec<Question> {
        let question = |later: &UnitId| {
            let open = self.of.get(later)?.iter().filter(|it| it.is_open());
            let earlier: Vec<UnitId> = open
                .filter(|it| !is_settled(&it.pair))
                .map(|it| it.pair.earlier)
                .collect();
            (!earlier.is_empty()).then_some(Question { later: *later, earlier })
        };
        self.open.iter().filter_map(question).take(limit).collect()
    }

    /// Sorts a later event under what is to be done about its pairs.
    fn sort(&mut self, later: UnitId) {
        let candidates = self.of.get(&later).map(Vec::as_slice).unwrap_or_default();
        let (unlooked, open) = (
            candidates.iter().any(|it| !it.is_looked_up),
            candidates.iter().any(Candidate::is_open),
        );
        for (set, belongs) in [(&mut self.unlooked, unlooked), (&mut self.open, open)] {
            if belongs {
                set.insert(later);
            } else {
                set.remove(&later);
            }
        }
    }

    fn forget_earlier(&mut self, earlier: UnitId, later: UnitId) {
        if let Some(laters) = self.later.get_mut(&earlier) {
            laters.remove(&later);
            if laters.is_empty() {
                self.later.remove(&earlier);
            }
        }
    }
}

impl Candidate {
    fn is_open(&self) -> bool {
        self.is_looked_up && !self.verdict.as_ref().is_some_and(|it| it.is_current)
    }
}

/// Both events of a pair.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    later: UnitId,
    earlier: UnitId,
}

impl Key {
    fn of(verdict: &Verdict) -> Key {
        Key {
            later: verdict.later,
            earlier: verdict.earlier,
        }
    }
}
