use domain::unit::Grain;

use crate::route::Scored;
use crate::route::query::Query;
use crate::space::view::{Turn, View};

use super::Coverage;

/// The scored units of one grain, and the inputs of their scores.
#[derive(Clone, Copy)]
pub struct ScoredUnits<'a> {
    /// The units.
    pub view: &'a View,
    /// The question as read against these units.
    pub query: &'a Query,
    /// The scored units, best first.
    pub scored: &'a [Scored],
}

/// The units that a pack is chosen from.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    /// The turns.
    pub turns: ScoredUnits<'a>,
    /// The gists, if they may be shown.
    pub gists: Option<ScoredUnits<'a>>,
}

/// A scored unit. Units of equal rank are in the order of their grains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Index in the list of its grain.
    pub rank: usize,
    /// Turn or gist.
    pub grain: Grain,
}

impl<'a> Choice<'a> {
    /// Returns the list of a grain. A grain without its own list gets the list of the turns.
    pub fn list_of_grain(&self, grain: Grain) -> ScoredUnits<'a> {
        match grain {
            Grain::Gist => self.gists.unwrap_or(self.turns),
            Grain::Turn | Grain::Event => self.turns,
        }
    }

    /// Returns the grains that have a list.
    pub fn listed_grains(&self) -> impl Iterator<Item = Grain> + use<> {
        let gists = self.gists.map(|_| Grain::Gist);
        std::iter::once(Grain::Turn).chain(gists)
    }

    /// Returns the `count` best units of each list.
    pub(super) fn best_units(&self, count: usize) -> impl Iterator<Item = Key> + '_ {
        self.listed_grains().flat_map(move |grain| {
            let ranks = 0..self.list_of_grain(grain).scored.len().min(count);
            ranks.map(move |rank| Key { rank, grain })
        })
    }

    /// Returns the probability of all units together: 1 for the turns, plus the sum over the gists.
    pub(super) fn total_probability(&self) -> f32 {
        let gists = self.gists.map_or(&[][..], |it| it.scored).iter();
        1.0 + gists.map(|it| it.probability).sum::<f32>()
    }

    /// Returns the score of a unit.
    pub fn scored_unit(&self, key: Key) -> &'a Scored {
        &self.list_of_grain(key.grain).scored[key.rank]
    }

    /// Returns a unit from its view.
    pub fn unit_of_key(&self, key: Key) -> &'a Turn {
        &self.list_of_grain(key.grain).view.turns()[self.scored_unit(key).place]
    }

    /// Returns the positions of the turns that a unit shows: its own position, or those of the turns from which a gist
    /// was read.
    pub fn turns_of(&self, key: Key) -> Vec<usize> {
        match key.grain {
            Grain::Gist => {
                let records = self.unit_of_key(key).unit.records.iter();
                records.flat_map(|it| self.turns.view.places_of_record(*it)).collect()
            }
            Grain::Turn | Grain::Event => vec![self.scored_unit(key).place],
        }
    }

    /// Returns all units by probability, highest first, ties in the order of the keys.
    pub fn by_probability(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.best_units(usize::MAX).collect();
        if self.gists.is_some() {
            let probability = |it: &Key| self.scored_unit(*it).probability;
            keys.sort_by(|a, b| probability(b).total_cmp(&probability(a)).then(a.cmp(b)));
        }
        keys
    }

    /// Returns the units by probability. It leaves out units that a more probable unit already shows in the other form,
    /// as a turn or as a gist.
    pub fn distinct_evidence(&self) -> impl Iterator<Item = Key> + '_ {
        let mut coverage = Coverage::default();
        self.by_probability().into_iter().filter(move |key| {
            let turns = self.turns_of(*key);
            let is_covered = coverage.covers_unit(key.grain, &turns);
            if !is_covered {
                coverage.add_unit(key.grain, &turns);
            }
            !is_covered
        })
    }
}
