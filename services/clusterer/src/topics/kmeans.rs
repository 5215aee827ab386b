//! K-means on directions without randomness: a warm start, seeds far from all centres, and a fixed number of rounds.

use text::dot_product;

/// Maximum number of rounds.
const ROUNDS: usize = 8;
/// Maximum number of units on which centres are computed.
const SAMPLE: usize = 2_048;

/// Returns the step with which the sample is taken from `count` units.
pub(super) fn sample_step(count: usize) -> usize {
    count.div_ceil(SAMPLE).max(1)
}

/// Scales a vector to length 1; a zero vector is unchanged.
pub(super) fn normalise_vector(vector: &mut [f32]) {
    let length = dot_product(vector, vector).sqrt();
    if length > f32::EPSILON {
        vector.iter_mut().for_each(|it| *it /= length);
    }
}

/// Returns the direction of a vector as seen from `mean`; with an empty mean, the direction of the vector itself.
pub(super) fn direction_from_mean(vector: &[f32], mean: &[f32]) -> Vec<f32> {
    let mut out: Vec<f32> = vector.to_vec();
    out.iter_mut().zip(mean).for_each(|(it, mean)| *it -= mean);
    normalise_vector(&mut out);
    out
}

/// Returns the distance of a vector from `mean`; with an empty mean, its length.
pub(super) fn distance_from_mean(vector: &[f32], mean: &[f32]) -> f32 {
    let own = |at: usize| mean.get(at).copied().unwrap_or_default();
    let squares = vector
        .iter()
        .enumerate()
        .map(|(at, it)| (it - own(at)) * (it - own(at)));
    squares.sum::<f32>().sqrt()
}

/// Returns the mean of the vectors.
pub(super) fn mean_vector<'a>(vectors: impl Iterator<Item = &'a [f32]>) -> Vec<f32> {
    let (mut sum, mut count) = (Vec::new(), 0_u32);
    for vector in vectors {
        sum.resize(vector.len().max(sum.len()), 0.0);
        add_vector(&mut sum, vector);
        count += 1;
    }
    sum.iter_mut().for_each(|it| *it /= count.max(1) as f32);
    sum
}

/// Returns the index of the nearest of `centres` and the cosine to it, the first on ties. Returns none if there are
/// no centres.
pub(super) fn find_nearest_centre<'a>(
    vector: &[f32],
    centres: impl Iterator<Item = &'a [f32]>,
) -> Option<(usize, f32)> {
    let mut best: Option<(usize, f32)> = None;
    for (place, centre) in centres.enumerate() {
        let cosine = dot_product(vector, centre);
        if best.is_none_or(|it| cosine > it.1) {
            best = Some((place, cosine));
        }
    }
    best
}

/// Returns at most `k` centres for the directions of `sample`, starting from the first `k` of `warm`.
pub(super) fn compute_centres(sample: &[Vec<f32>], warm: Vec<Vec<f32>>, k: usize) -> Vec<Vec<f32>> {
    let mut centres = warm;
    centres.truncate(k);
    add_far_seeds(sample, &mut centres, k);
    for _ in 0..ROUNDS {
        let moved = move_centres(sample, &centres);
        if moved == centres {
            break;
        }
        centres = moved;
    }
    centres
}

/// Adds the units that are farthest from all centres until there are `k` centres.
fn add_far_seeds(sample: &[Vec<f32>], centres: &mut Vec<Vec<f32>>, k: usize) {
    let mut near: Vec<f32> = sample
        .iter()
        .map(|unit| find_nearest_centre(unit, centres.iter().map(Vec::as_slice)).map_or(-1.0, |it| it.1))
        .collect();
    while centres.len() < k {
        let far = (0..sample.len()).min_by(|&a, &b| near[a].total_cmp(&near[b]).then(a.cmp(&b)));
        // Each remaining unit practically coincides with a centre.
        let Some(far) = far.filter(|&it| near[it] < 0.999) else {
            break;
        };
        let centre = sample[far].clone();
        for (near, unit) in near.iter_mut().zip(sample) {
            *near = near.max(dot_product(unit, &centre));
        }
        centres.push(centre);
    }
}

/// Returns the centres moved to the mean of their units; a centre without units is dropped.
fn move_centres(sample: &[Vec<f32>], centres: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let mut sums: Vec<Option<Vec<f32>>> = vec![None; centres.len()];
    for unit in sample {
        if let Some((place, _)) = find_nearest_centre(unit, centres.iter().map(Vec::as_slice)) {
            add_vector(sums[place].get_or_insert_with(|| vec![0.0; unit.len()]), unit);
        }
    }
    let mut out: Vec<Vec<f32>> = sums.into_iter().flatten().collect();
    out.iter_mut().for_each(|it| normalise_vector(it));
    out
}

fn add_vector(sum: &mut [f32], vector: &[f32]) {
    sum.iter_mut().zip(vector).for_each(|(sum, it)| *sum += it);
}
