//! The features of events by id. A code of each event's vector stays in memory, so that a dissimilar event is not read
//! back from the file to which it was spilled.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::id::UnitId;

use super::EventPosition;
use super::event_features::EventFeatures;
use super::vector_code::{MeasuredVector, VectorCode};
use crate::space::id_map::IdMap;
use crate::space::sorted_chunks::SortedChunks;
use crate::space::spill_file::SpillFile;

/// The features of the events of one space.
#[derive(Clone, Debug, Default)]
pub(super) struct SceneMap {
    features: IdMap<UnitId, EventFeatures>,
    /// The codes of the vectors of the same events. They are never spilled.
    codes: SortedChunks<UnitId, VectorCode>,
}

/// An event that is similar to another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SimilarEvent<'a> {
    pub(super) cosine: f32,
    pub(super) position: &'a EventPosition,
    pub(super) features: &'a EventFeatures,
}

impl SceneMap {
    pub(super) fn len(&self) -> usize {
        self.features.len()
    }

    pub(super) fn get(&self, event: UnitId) -> Option<&EventFeatures> {
        self.features.get(event)
    }

    /// Inserts the features of an event, or replaces them.
    pub(super) fn insert(&mut self, event: UnitId, features: EventFeatures) {
        self.codes.insert(event, VectorCode::new(&features.vector));
        self.features.insert(event, features);
    }

    /// Removes an event and returns its features.
    pub(super) fn remove(&mut self, event: UnitId) -> Option<EventFeatures> {
        self.codes.remove(&event);
        self.features.remove(event)
    }

    /// Returns those of the events at `positions` whose cosine to `scene` exceeds `limit`, most similar first, ties by
    /// position. It reads back only events that are likely among them.
    pub(super) fn find_similar<'a>(
        &'a self,
        scene: &EventFeatures,
        positions: &'a BTreeSet<EventPosition>,
        limit: f32,
    ) -> Vec<SimilarEvent<'a>> {
        let vector = MeasuredVector::new(&scene.vector);
        let mut similar = Vec::new();
        for position in positions {
            let code = self.codes.get(&position.1);
            if !code.is_some_and(|it| it.may_exceed(&vector, limit)) {
                continue;
            }
            let Some(features) = self.features.get(position.1) else {
                continue;
            };
            let cosine = scene.cosine_to(features);
            if cosine > limit {
                similar.push(SimilarEvent {
                    cosine,
                    position,
                    features,
                });
            }
        }
        similar.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then_with(|| a.position.cmp(b.position)));
        similar
    }

    /// Spills what was not used since the last call to a file.
    pub(super) fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.features.spill_unused(file);
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use domain::id::SpaceId;
    use fixtures::sample_unit;

    use super::*;

    const LIMIT: f32 = 0.8;

    fn event(number: usize) -> UnitId {
        let space: SpaceId = "s".parse().unwrap();
        sample_unit(&space, &number.to_string()).id
    }

    fn features(vector: &[f32]) -> EventFeatures {
        let space: SpaceId = "s".parse().unwrap();
        EventFeatures::new(&sample_unit(&space, "0"), &vector.into())
    }

    /// Returns a vector of length 1 in the plane of the first two dimensions, with this cosine to the first one.
    fn vector(cosine: f32) -> Vec<f32> {
        vec![cosine, (1.0 - cosine * cosine).sqrt(), 0.0]
    }

    /// Returns the cosines of the events that are similar to the first dimension.
    fn find(map: &SceneMap) -> Vec<f32> {
        let positions = (0..40).map(|it| (DateTime::UNIX_EPOCH, event(it))).collect();
        let similar = map.find_similar(&features(&vector(1.0)), &positions, LIMIT);
        similar.iter().map(|it| it.cosine).collect()
    }

    fn spill(map: &mut SceneMap) -> (tempfile::TempDir, Arc<SpillFile>) {
        let (folder, file) = SpillFile::create_for_test();
        // What was used since the first call is spilled by the second.
        (0..2).for_each(|_| map.spill_unused(&file));
        assert!(file.used_bytes() > 0);
        (folder, file)
    }

    #[test]
    fn dissimilar_events_are_not_read_back() {
        let mut map = SceneMap::default();
        (0..40).for_each(|it| {
            map.insert(event(it), features(&vector(it as f32 / 52.0)));
        });
        let (_folder, file) = spill(&mut map);
        file.damage();
        assert_eq!((find(&map), file.is_damaged()), (Vec::new(), false));
        // An event whose code is similar is read.
        map.codes.insert(event(7), VectorCode::new(&vector(0.9)));
        assert_eq!((find(&map), file.is_damaged()), (Vec::new(), true));
    }

    #[test]
    fn similar_events_are_found_in_a_file() {
        let mut map = SceneMap::default();
        let cosines: Vec<f32> = (0..40).map(|it| 0.7902 + it as f32 / 2_000.0).collect();
        for (number, cosine) in cosines.iter().enumerate() {
            map.insert(event(number), features(&vector(*cosine)));
        }
        let mut expected: Vec<f32> = cosines.into_iter().filter(|it| *it > LIMIT).collect();
        expected.reverse();
        assert_eq!((find(&map), expected.len()), (expected.clone(), 20));
        let (_folder, file) = spill(&mut map);
        assert_eq!(find(&map), expected);
        assert!(!file.is_damaged());
    }

    #[test]
    fn events_that_change_or_are_removed_are_compared_as_they_are_now() {
        let mut map = SceneMap::default();
        map.insert(event(1), features(&vector(0.9)));
        map.insert(event(2), features(&vector(0.1)));
        assert_eq!(find(&map), [0.9]);
        map.insert(event(2), features(&vector(0.95)));
        assert_eq!(find(&map), [0.95, 0.9]);
        map.insert(event(1), features(&vector(0.2)));
        assert_eq!(find(&map), [0.95]);
        map.remove(event(2));
        assert_eq!((find(&map), map.len()), (Vec::new(), 1));
        map.insert(event(2), features(&vector(0.85)));
        assert_eq!(find(&map), [0.85]);
    }
}
