use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use qdrant_client::qdrant::{Filter, Value};
use tonic::Status;
use uuid::Uuid;

use super::approximate::Lists;
use super::filter::{Accepts, Indexes};

/// Filters whose points are known until something is written.
const KNOWN_MAX: usize = 8;

/// A point; its vectors by the place of their names among those of the collection.
pub(super) struct Held {
    pub(super) payload: HashMap<String, Value>,
    pub(super) dense: BTreeMap<usize, Vec<f32>>,
    /// Sorted by term.
    pub(super) sparse: BTreeMap<usize, Vec<(u32, f32)>>,
}

/// The points of a collection, and which of them the last filters accept.
#[derive(Default)]
pub(super) struct Points {
    all: BTreeMap<Uuid, Arc<Held>>,
    known: Vec<(Option<Filter>, Arc<Accepted>)>,
}

impl Points {
    pub(super) fn all(&self) -> &BTreeMap<Uuid, Arc<Held>> {
        &self.all
    }

    pub(super) fn all_mut(&mut self) -> &mut BTreeMap<Uuid, Arc<Held>> {
        self.known.clear();
        &mut self.all
    }

    /// What a filter accepts, by id.
    pub(super) fn accepted(&mut self, filter: Option<&Filter>, indexes: &Indexes) -> Result<Arc<Accepted>, Status> {
        if let Some(known) = self.known.iter().find(|it| it.0.as_ref() == filter) {
            return Ok(Arc::clone(&known.1));
        }
        let accepts = Accepts::indexed(filter, indexes)?;
        let found = self.all.iter().filter(|(id, it)| accepts.point(id, &it.payload));
        let accepted = Arc::new(Accepted {
            points: found.map(|(id, it)| (*id, Arc::clone(it))).collect(),
            terms: [const { OnceLock::new() }; SPARSE_MAX],
            lists: OnceLock::new(),
        });
        if self.known.len() == KNOWN_MAX {
            self.known.remove(0);
        }
        self.known.push((filter.cloned(), Arc::clone(&accepted)));
        Ok(accepted)
    }
}

/// Sparse vectors that a collection may have.
pub(super) const SPARSE_MAX: usize = 4;

/// What a filter accepts, by id.
pub(super) struct Accepted {
    pub(super) points: Vec<(Uuid, Arc<Held>)>,
    terms: [OnceLock<Terms>; SPARSE_MAX],
    /// For approximate search, of the one dense vector that was searched first.
    pub(super) lists: OnceLock<Lists>,
}

/// Who holds which term of one sparse vector.
#[derive(Default)]
pub(super) struct Terms {
    /// Points that have that vector.
    pub(super) count: usize,
    holders: HashMap<u32, Vec<(usize, f32)>>,
}

impl Terms {
    /// Places of the points that hold a term, with its weight there, in their order.
    pub(super) fn holders(&self, term: u32) -> &[(usize, f32)] {
        self.holders.get(&term).map_or(&[], Vec::as_slice)
    }
}

impl Accepted {
    /// The terms of the sparse vector at that place among their names.
    pub(super) fn terms(&self, using: usize) -> &Terms {
        self.terms[using].get_or_init(|| {
            let mut terms = Terms::default();
            for (place, (_, point)) in self.points.iter().enumerate() {
                let Some(held) = point.sparse.get(&using) else { continue };
                terms.count += 1;
                for (term, weight) in held {
                    terms.holders.entry(*term).or_default().push((place, *weight));
                }
            }
            terms
        })
    }
}
