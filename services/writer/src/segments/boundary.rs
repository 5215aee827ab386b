//! Session segmentation: finds the borders between events.

use std::ops::Range;

use chrono::TimeDelta;
use domain::record::Record;
use text::is_question;
use uuid::Uuid;

use crate::segments::stretch::Stretch;
use crate::word_lists::SUBJECT_OPENINGS;

/// Number of records around a border that influence it: [`SIDE`] for the change of topic and [`NEAR`] for stronger
/// borders nearby.
pub(crate) const REACH: usize = SIDE + NEAR + 1;
/// Number of records compared on each side of a border.
const SIDE: usize = 3;
/// A border must be the strongest among this many on each side. Events therefore have at least three records, five on
/// average.
const NEAR: usize = 2;
/// A silence of this length always separates events.
const SILENCE: TimeDelta = TimeDelta::minutes(30);
/// A silence of this length is evidence for a border.
const PAUSE: TimeDelta = TimeDelta::minutes(5);

/// Strength of a border; ties break by the id of the record after it, which distributes them evenly.
type Strength = (i32, Uuid);

/// Returns the events whose borders can be determined within `around`, as ranges of record indices, in order.
pub(crate) fn find_events(stretch: &Stretch, around: Range<usize>) -> Vec<Range<usize>> {
    let length = stretch.records.len();
    let low = if around.start == 0 && stretch.starts {
        0
    } else {
        around.start + REACH
    };
    let high = if around.end == length && stretch.ends {
        length
    } else {
        around.end.saturating_sub(REACH)
    };
    if low >= high {
        return Vec::new();
    }
    let from = low.saturating_sub(NEAR);
    let topics = Topics::new(
        &stretch.records,
        from.saturating_sub(SIDE)..length.min(high + NEAR + SIDE),
    );
    let strengths: Vec<Strength> = (from..length.min(high + NEAR + 1))
        .map(|at| border_strength(stretch, &topics, at))
        .collect();
    let mut starts: Vec<usize> = (low..high).filter(|&at| is_start(&strengths, at - from)).collect();
    if high == length {
        starts.push(length);
    }
    starts.windows(2).map(|it| it[0]..it[1]).collect()
}

fn is_start(strengths: &[Strength], at: usize) -> bool {
    let own = strengths[at];
    let around = at.saturating_sub(NEAR)..strengths.len().min(at + NEAR + 1);
    own.0 == i32::MAX || around.filter(|&it| it != at).all(|it| strengths[it] < own)
}

/// Returns the strength of the border before the record at `at`, in sixteenths; the maximum if the border is certain.
fn border_strength(stretch: &Stretch, topics: &Topics, at: usize) -> Strength {
    let record = &stretch.records[at];
    let id = record.id.uuid();
    let Some(before) = at.checked_sub(1).map(|it| &stretch.records[it]) else {
        return (if stretch.starts { i32::MAX } else { 0 }, id);
    };
    let silence = record.observed_at - before.observed_at;
    if silence >= SILENCE {
        return (i32::MAX, id);
    }
    let mut sum = topics.measure_shift(at);
    if silence >= PAUSE {
        sum += 0.2;
    }
    if opens_subject(record) {
        sum += 0.3;
    }
    // A question stays with its answer.
    if before.actor != record.actor
        && text::split_sentences(&before.text)
            .last()
            .is_some_and(|it| is_question(it))
    {
        sum -= 0.5;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the sum lies between -1 and 3")]
    let level = (sum * 16.0).round() as i32;
    (level, id)
}

fn opens_subject(record: &Record) -> bool {
    let head: String = record.text.chars().take(40).collect::<String>().to_lowercase();
    SUBJECT_OPENINGS.iter().any(|it| head.contains(it))
}

/// Vectors of records.
struct Topics {
    from: usize,
    vectors: Vec<Vec<f32>>,
}

impl Topics {
    fn new(records: &[Record], places: Range<usize>) -> Topics {
        let table = text::EmbeddingTable::builtin();
        let vectors = records[places.clone()].iter().map(|it| {
            let shown = [it.text.as_str(), it.image_caption.as_deref().unwrap_or_default()].join(" ");
            let head = shown.floor_char_boundary(2_000);
            table.embed_text(&shown[..head])
        });
        Topics {
            from: places.start,
            vectors: vectors.collect(),
        }
    }

    /// Returns one minus the cosine between the means of the records before `at` and from `at` on.
    fn measure_shift(&self, at: usize) -> f32 {
        let at = at - self.from;
        let left = mean_vector(&self.vectors[at.saturating_sub(SIDE)..at]);
        let right = mean_vector(&self.vectors[at..self.vectors.len().min(at + SIDE)]);
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
        let norm = (dot(&left, &left) * dot(&right, &right)).sqrt();
        if norm > 0.0 {
            1.0 - dot(&left, &right) / norm
        } else {
            1.0
        }
    }
}

fn mean_vector(vectors: &[Vec<f32>]) -> Vec<f32> {
    let mut out = vec![0.0; vectors.first().map_or(0, Vec::len)];
    for vector in vectors {
        for (sum, value) in out.iter_mut().zip(vector) {
            *sum += value;
        }
    }
    out
}
