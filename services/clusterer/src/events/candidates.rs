//! Undecided pairs of events, and a language model's judgements of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::id::UnitId;

use crate::judgements::coreference::{Pair, PairJudgement, Question, UsableJudgement};

/// An undecided pair.
#[derive(Clone, Debug)]
struct Candidate {
    pair: Pair,
    /// Digest of the text that a model is shown of both events.
    digest: String,
    /// True if its reading was looked up since one of the two events was last applied.
    is_looked_up: bool,
    verdict: Option<PairJudgement>,
}

/// The undecided pairs of one space.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    /// Pairs by the later event, most similar earlier event first.
    of: HashMap<UnitId, Vec<Candidate>>,
    /// The later events, by the earlier event.
    later: HashMap<UnitId, BTreeSet<UnitId>>,
    /// Later events with pairs to look up.
    unlooked: BTreeSet<UnitId>,
    /// Later events with pairs that were looked up and have no current judgement.
    open: BTreeSet<UnitId>,
}

impl Candidates {
    /// Replaces the undecided pairs of `later`. A judgement is kept while the text of both events is unchanged.
    pub(super) fn replace_pairs(&mut self, later: UnitId, proposed: Vec<(Pair, String)>) {
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
        self.update_pending_sets(later);
    }

    /// Marks all pairs of an event, so that their readings are looked up again: one of its records may have been
    /// erased and accepted again.
    pub(super) fn mark_for_lookup(&mut self, event: UnitId) {
        let others = self.later.get(&event).into_iter().flatten().copied();
        let laters: Vec<UnitId> = others.chain([event]).collect();
        for later in laters {
            let candidates = self.of.get_mut(&later).into_iter().flatten();
            candidates
                .filter(|it| it.pair.later == event || it.pair.earlier == event)
                .for_each(|it| it.is_looked_up = false);
            self.update_pending_sets(later);
        }
    }

    /// Marks all pairs without a current judgement, so that their readings are looked up again.
    pub(super) fn mark_open_questions(&mut self) {
        for later in std::mem::take(&mut self.open) {
            let candidates = self.of.get_mut(&later).into_iter().flatten();
            candidates
                .filter(|it| it.is_open())
                .for_each(|it| it.is_looked_up = false);
            self.update_pending_sets(later);
        }
    }

    /// Returns the pairs whose readings have to be looked up.
    pub(super) fn pairs_to_look_up(&self) -> Vec<Pair> {
        let candidates = self.unlooked.iter().filter_map(|it| self.of.get(it)).flatten();
        candidates.filter(|it| !it.is_looked_up).map(|it| it.pair).collect()
    }

    /// Applies the judgements that were found for `pairs`, and returns the later events of pairs whose judgement
    /// changed. A judgement of an earlier text of the events is ignored.
    pub(super) fn apply_readings(&mut self, pairs: &[Pair], verdicts: &[PairJudgement]) -> BTreeSet<UnitId> {
        let found: BTreeMap<Key, &PairJudgement> = verdicts.iter().map(|it| (Key::from_verdict(it), it)).collect();
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
            self.update_pending_sets(pair.later);
        }
        changed
    }

    /// Returns a model's judgement of a pair whose events have this digest.
    pub(super) fn find_judgement(&self, pair: &Pair, digest: &str) -> Option<&UsableJudgement> {
        let candidates = self.of.get(&pair.later)?;
        let candidate = candidates.iter().find(|it| it.pair == *pair && it.digest == digest)?;
        candidate.verdict.as_ref()?.judgement.as_ref()
    }

    /// Returns at most `limit` questions for a model; `is_excluded` returns true for pairs that it is not asked about.
    pub(super) fn open_questions(&self, limit: usize, is_excluded: impl Fn(&Pair) -> bool) -> Vec<Question> {
        let question = |later: &UnitId| {
            let open = self.of.get(later)?.iter().filter(|it| it.is_open());
            let earlier: Vec<UnitId> = open
                .filter(|it| !is_excluded(&it.pair))
                .map(|it| it.pair.earlier)
                .collect();
            (!earlier.is_empty()).then_some(Question { later: *later, earlier })
        };
        self.open.iter().filter_map(question).take(limit).collect()
    }

    /// Updates the sets of events with pairs to look up and with open pairs.
    fn update_pending_sets(&mut self, later: UnitId) {
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

/// The two events of a pair.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    later: UnitId,
    earlier: UnitId,
}

impl Key {
    fn from_verdict(verdict: &PairJudgement) -> Key {
        Key {
            later: verdict.later,
            earlier: verdict.earlier,
        }
    }
}
