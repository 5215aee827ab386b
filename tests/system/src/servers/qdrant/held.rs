use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use qdrant_client::qdrant::{Filter, Value};
use tonic::Status;
use uuid::Uuid;

use super::approximate::Lists;
use super::filter::{Accepts, Indexes};

/// Number of filters whose accepted points are cached until the next write.
const KNOWN_MAX: usize = 8;

/// A point. Its vectors are stored by the index of their names among those of the collection.
#[derive(Clone)]
pub(super) struct StoredPoint {
    pub(super) payload: HashMap<String, Value>,
    pub(super) dense: BTreeMap<usize, Vec<f32>>,
    /// Terms and weights, sorted by term.
    pub(super) sparse: BTreeMap<usize, Vec<(u32, f32)>>,
}

/// The points of a collection, and a cache of the points that the last filters accept.
#[derive(Default)]
pub(super) struct Points {
    all: BTreeMap<Uuid, Arc<StoredPoint>>,
    known: Vec<(Option<Filter>, Arc<Accepted>)>,
}

impl Points {
    pub(super) fn all(&self) -> &BTreeMap<Uuid, Arc<StoredPoint>> {
        &self.all
    }

    pub(super) fn all_mut(&mut self) -> &mut BTreeMap<Uuid, Arc<StoredPoint>> {
        self.known.clear();
        &mut self.all
    }

    /// Returns the points that a filter accepts, ordered by id.
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

/// Maximum number of sparse vectors of a collection.
pub(super) const SPARSE_MAX: usize = 4;

/// Points that a filter accepts, ordered by id.
pub(super) struct Accepted {
    pub(super) points: Vec<(Uuid, Arc<StoredPoint>)>,
    terms: [OnceLock<Terms>; SPARSE_MAX],
    /// Lists for approximate search, of the dense vector that was searched first.
    pub(super) lists: OnceLock<Lists>,
}

/// Posting lists of one sparse vector.
#[derive(Default)]
pub(super) struct Terms {
    /// Number of points that have this vector.
    pub(super) count: usize,
    holders: HashMap<u32, Vec<(usize, f32)>>,
}

impl Terms {
    /// Returns the indices of the points that contain a term, in ascending order, with the weight of the term.
    pub(super) fn holders(&self, term: u32) -> &[(usize, f32)] {
        self.holders.get(&term).map_or(&[], Vec::as_slice)
    }
}

impl Accepted {
    /// Returns the posting lists of the sparse vector with this index among the names.
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
