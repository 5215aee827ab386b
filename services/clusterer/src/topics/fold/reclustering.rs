//! Clusters all units again, and matches new topics with old ones.

use std::collections::BTreeSet;

use domain::id::TopicId;

use super::{Assignment, Checkpoint, Fold, Key, empty_cluster, first_free_id};
use crate::topics::kmeans::{
    compute_centres, direction_from_mean, find_nearest_centre, mean_vector, normalise_vector, sample_step,
};
use crate::topics::label::{Spread, name_topic};

/// Maximum number of topics of a clustering.
const CLUSTERS_MAX: usize = 50;
/// Units per topic; it determines the number of topics of a clustering.
const UNITS_EACH: usize = 5;
/// A new topic takes over an old topic's id if at least one in this many of its units comes from it.
const SHARE: usize = 4;

impl Fold {
    /// Clusters the first `size` units into at most `max(2, min(size / 5, 50))` topics (CompassMem, section 3.3).
    pub(super) fn cluster_anew(&mut self, size: usize, last: Key) {
        let k = (size / UNITS_EACH).clamp(2, CLUSTERS_MAX);
        let mean = mean_vector(self.line.iter().take(size).map(|it| &*it.1.vector));
        let sampled = self.line.iter().take(size).step_by(sample_step(size));
        let sample: Vec<Vec<f32>> = sampled.map(|it| direction_from_mean(&it.1.vector, &mean)).collect();
        let centres = compute_centres(&sample, self.warm_start_centres(size, &mean), k);
        let mut groups: Vec<Vec<Key>> = vec![Vec::new(); centres.len()];
        let mut shared: Vec<Vec<usize>> = vec![vec![0; self.topics.len()]; centres.len()];
        for (key, assignment) in self.assignments.iter_mut().take(size) {
            // An index of a former topic must not remain, even if the unit cannot be read back.
            let former = assignment.take();
            let Some(folded) = self.line.get(key) else { continue };
            let direction = direction_from_mean(&folded.vector, &mean);
            let nearest = find_nearest_centre(&direction, centres.iter().map(Vec::as_slice));
            let Some((topic, similarity)) = nearest else {
                continue;
            };
            *assignment = Some(Assignment::new(topic, similarity));
            if let Some(former) = former {
                shared[topic][former.topic()] += 1;
            }
            groups[topic].push(*key);
        }
        self.spread = Spread::from_units(self.line.iter().take(size).map(|it| &*it.1.terms));
        self.replace_topics(&groups, centres, &shared);
        let topics = self.topics.iter();
        let topics = topics.map(|it| (it.id, it.centre.clone(), it.name.clone())).collect();
        let assignments = self.assignments.iter().take(size).filter_map(|it| *it.1);
        self.checkpoints.push(Checkpoint {
            size,
            last,
            mean,
            topics,
            places: assignments.map(|it| it.topic).collect(),
        });
    }

    /// Returns the centres of the current topics, largest topics first, ties by index.
    fn warm_start_centres(&self, size: usize, mean: &[f32]) -> Vec<Vec<f32>> {
        let mut sums: Vec<(usize, Vec<f32>)> = vec![(0, vec![0.0; mean.len()]); self.topics.len()];
        for (key, folded) in self.line.iter().take(size) {
            let Some(assignment) = self.assignment_of(key) else {
                continue;
            };
            let (count, sum) = &mut sums[assignment.topic()];
            *count += 1;
            sum.iter_mut()
                .zip(&*folded.vector)
                .zip(mean)
                .for_each(|((sum, it), mean)| *sum += it - mean);
        }
        sums.retain(|it| it.0 > 0);
        sums.sort_by_key(|it| std::cmp::Reverse(it.0));
        sums.iter_mut().for_each(|it| normalise_vector(&mut it.1));
        sums.into_iter().map(|it| it.1).collect()
    }

    /// Replaces the topics; new ones without units are left out.
    fn replace_topics(&mut self, groups: &[Vec<Key>], centres: Vec<Vec<f32>>, shared: &[Vec<usize>]) {
        let matched = match_topics(shared);
        let old: Vec<TopicId> = self.topics.iter().map(|it| it.id).collect();
        let mut taken: BTreeSet<TopicId> = matched.iter().flatten().map(|it| old[*it]).collect();
        self.topics.clear();
        for ((group, centre), matched) in groups.iter().zip(centres).zip(matched) {
            let Some(first) = group.first() else { continue };
            let id = matched.map_or_else(|| first_free_id(*first, &taken), |it| old[it]);
            taken.insert(id);
            let place = self.topics.len();
            for key in group {
                if let Some(Some(assignment)) = self.assignments.get_mut(key) {
                    *assignment = Assignment::new(place, assignment.similarity);
                }
            }
            let terms = group.iter().filter_map(|it| self.line.get(it)).map(|it| &*it.terms);
            let name = name_topic(terms, &self.spread, &self.symbols);
            let mut topic = empty_cluster(id, centre, name);
            topic.units = group.iter().copied().collect();
            self.topics.push(topic);
        }
    }
}

/// Returns, for each new topic, the old topic that it continues, by the number of shared units (`shared[new][old]`):
/// highest numbers first, ties by index.
fn match_topics(shared: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
    for (new, counts) in shared.iter().enumerate() {
        let all: usize = counts.iter().sum();
        let near = counts.iter().enumerate();
        let near = near.filter(|(_, count)| **count > 0 && **count * SHARE >= all);
        pairs.extend(near.map(|(old, count)| (*count, new, old)));
    }
    pairs.sort_by_key(|&(count, new, old)| (std::cmp::Reverse(count), old, new));
    let mut out = vec![None; shared.len()];
    let mut taken = BTreeSet::new();
    for (_, new, old) in pairs {
        if out[new].is_none() && taken.insert(old) {
            out[new] = Some(old);
        }
    }
    out
}
