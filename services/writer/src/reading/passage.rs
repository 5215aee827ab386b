//! Divides a session into passages, which a language model reads one at a time.

use std::ops::Range;

use chrono::{DateTime, FixedOffset, TimeDelta};
use domain::id::RecordId;
use domain::record::Record;

use crate::pictures::picture_store::has_uncaptioned_picture;
use crate::reading::lines;
use crate::reading::session_marks::Order;

/// Number of records in a passage of a long conversation.
const AIM: usize = 16;
/// Minimum number of records before a pause can end a passage.
const ENDABLE: usize = 8;
/// Maximum number of records of a passage. A conversation up to its next pause is not divided if it has no more.
const MOST: usize = 24;
/// Maximum number of tokens of a passage with more than one record.
const TOKENS_MAX: usize = 6_000;
/// Minimum length of a pause, in minutes.
const PAUSE_MINUTES: i64 = 30;

/// The features of a record that are needed to divide its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Brief {
    /// The id of the record.
    pub(crate) id: RecordId,
    /// Position of the record in the session.
    pub(crate) order: Order,
    /// The time at which the record was observed.
    pub(crate) observed_at: DateTime<FixedOffset>,
    /// Number of tokens of its line as given by the caller. A caption by the model does not count, so that it cannot
    /// move the borders of passages.
    pub(crate) tokens: usize,
    /// True if the record has a picture without a caption by the caller.
    pub(crate) has_uncaptioned_picture: bool,
}

impl Brief {
    /// Returns the brief of a record.
    pub(crate) fn from_record(record: &Record) -> Brief {
        Brief {
            id: record.id,
            order: record.session_order_key(),
            observed_at: record.observed_at,
            tokens: text::count_tokens(&lines::format_line(record)),
            has_uncaptioned_picture: has_uncaptioned_picture(record),
        }
    }
}

/// A part of a session that is read in one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// Indices of the records of the passage in the session.
    pub(crate) places: Range<usize>,
    /// True if the passage does not change when records are appended.
    pub(crate) is_closed: bool,
}

/// Returns the passages of a session, in order and without gaps.
///
/// A passage ends at a pause of 30 minutes or more if it has at least 8 records. A conversation of at most 24 records
/// up to such a pause is one passage; a longer one is divided after 16 records, so that no tiny remainder is left. A
/// passage of several records has at most 6,000 tokens. Only the last passage may be open; it is closed if the
/// session is over.
///
/// `briefs` are in session order. Appended records never change a closed passage.
pub(crate) fn divide_session(briefs: &[Brief], is_over: bool) -> Vec<Passage> {
    let mut out = Vec::new();
    let mut start = 0;
    while start < briefs.len() {
        let passage = passage_at(briefs, start, is_over);
        start = passage.places.end;
        out.push(passage);
    }
    out
}

/// Returns the passage that begins at `start`.
fn passage_at(briefs: &[Brief], start: usize, is_over: bool) -> Passage {
    let limit = start + fitting_records(&briefs[start..]);
    let pause = (start + ENDABLE..=limit).find(|&end| is_after_pause(briefs, end));
    let (end, is_closed) = match pause {
        Some(end) => (end, true),
        None if limit == briefs.len() => (limit, is_over),
        None => (limit.min(start + AIM), true),
    };
    Passage {
        places: start..end,
        is_closed,
    }
}

/// Returns the number of records, from the first one on, that fit into one passage; at least one if there are any.
fn fitting_records(briefs: &[Brief]) -> usize {
    let mut tokens = 0_usize;
    let fits = |brief: &&Brief| {
        tokens = tokens.saturating_add(brief.tokens);
        tokens <= TOKENS_MAX
    };
    let count = briefs.iter().take(MOST).take_while(fits).count();
    count.max(briefs.len().min(1))
}

/// Returns true if there is a record at `at` and a pause directly before it.
fn is_after_pause(briefs: &[Brief], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|it| briefs.get(it));
    let pause = TimeDelta::minutes(PAUSE_MINUTES);
    before
        .zip(briefs.get(at))
        .is_some_and(|(before, next)| next.observed_at - before.observed_at >= pause)
}

#[cfg(test)]
mod tests {
    use domain::id::SpaceId;
    use proptest::prelude::*;

    use super::*;
    use crate::reading::example::sample_record;

    /// A record: the minutes since the one before it, and its tokens.
    #[derive(Clone, Copy, Debug)]
    struct Step {
        minutes: i64,
        tokens: usize,
    }

    fn sample_briefs(steps: &[Step]) -> Vec<Brief> {
        let space: SpaceId = "talk".parse().unwrap();
        let mut at: DateTime<FixedOffset> = "2026-03-02T18:00:00+01:00".parse().unwrap();
        let brief = |(number, step): (usize, &Step)| {
            at += TimeDelta::minutes(step.minutes);
            let id = RecordId::from_external_id(&space, &number.to_string());
            Brief {
                id,
                order: (at, number as u64, id),
                observed_at: at,
                tokens: step.tokens,
                has_uncaptioned_picture: false,
            }
        };
        steps.iter().enumerate().map(brief).collect()
    }

    /// Returns records one minute apart, with a silence of `minutes` before those at `silences`.
    fn evenly_spaced_briefs(count: usize, minutes: i64, silences: &[usize]) -> Vec<Brief> {
        let step = |at: usize| Step {
            minutes: if silences.contains(&at) { minutes } else { 1 },
            tokens: 20,
        };
        sample_briefs(&(0..count).map(step).collect::<Vec<Step>>())
    }

    fn passage_sizes(briefs: &[Brief], is_over: bool) -> Vec<usize> {
        divide_session(briefs, is_over)
            .iter()
            .map(|it| it.places.len())
            .collect()
    }

    fn closed_passages(briefs: &[Brief]) -> Vec<Passage> {
        divide_session(briefs, false)
            .into_iter()
            .filter(|it| it.is_closed)
            .collect()
    }

    #[test]
    fn a_brief_counts_the_tokens_of_the_displayed_line() {
        let record = sample_record(1, "Ann", "I repotted the fern.");
        let brief = Brief::from_record(&record);
        assert_eq!((brief.id, brief.observed_at), (record.id, record.observed_at));
        assert_eq!(
            brief.tokens,
            text::count_tokens("[Fri 2023-06-09 18:01] Ann: I repotted the fern.")
        );
    }

    #[test]
    fn an_empty_session_has_no_passage() {
        assert_eq!(divide_session(&[], true), []);
    }

    #[test]
    fn a_long_conversation_is_divided_after_16_records_without_tiny_remainders() {
        for (count, expected) in [
            (1, vec![1]),
            (24, vec![24]),
            (25, vec![16, 9]),
            (40, vec![16, 24]),
            (41, vec![16, 16, 9]),
        ] {
            assert_eq!(
                passage_sizes(&evenly_spaced_briefs(count, 1, &[]), false),
                expected,
                "{count}"
            );
        }
    }

    #[test]
    fn a_pause_ends_a_passage_of_8_records() {
        assert_eq!(passage_sizes(&evenly_spaced_briefs(20, 30, &[8]), false), [8, 12]);
        assert_eq!(passage_sizes(&evenly_spaced_briefs(20, 29, &[8]), false), [20]);
        assert_eq!(passage_sizes(&evenly_spaced_briefs(20, 30, &[7]), false), [20]);
        // A conversation of 24 records before the pause stays whole; one of 25 is divided.
        assert_eq!(passage_sizes(&evenly_spaced_briefs(30, 60, &[24]), false), [24, 6]);
        assert_eq!(passage_sizes(&evenly_spaced_briefs(30, 60, &[25]), false), [16, 9, 5]);
    }

    #[test]
    fn only_the_end_of_an_unfinished_session_is_open() {
        let open = |briefs: &[Brief], is_over| {
            let passages = divide_session(briefs, is_over);
            passages.iter().map(|it| !it.is_closed).collect::<Vec<bool>>()
        };
        assert_eq!(open(&evenly_spaced_briefs(20, 30, &[8]), false), [false, true]);
        assert_eq!(open(&evenly_spaced_briefs(20, 30, &[8]), true), [false, false]);
        assert_eq!(open(&evenly_spaced_briefs(25, 1, &[]), false), [false, true]);
        assert_eq!(open(&evenly_spaced_briefs(24, 1, &[]), false), [true]);
    }

    #[test]
    fn many_tokens_end_a_passage_early() {
        let sized = |tokens: &[usize]| {
            let steps = tokens.iter().map(|&tokens| Step { minutes: 1, tokens });
            passage_sizes(&sample_briefs(&steps.collect::<Vec<Step>>()), true)
        };
        assert_eq!(sized(&[3_000, 3_000, 1]), [2, 1]);
        assert_eq!(sized(&[3_000, 2_999, 1]), [3]);
        assert_eq!(sized(&[10, 9_000, 10]), [1, 1, 1]);
    }

    fn step_strategy() -> impl Strategy<Value = Step> {
        let minutes = prop_oneof![8 => 0..10_i64, 1 => 25..40_i64];
        let tokens = prop_oneof![12 => 1..200_usize, 1 => 1_000..9_000_usize];
        (minutes, tokens).prop_map(|(minutes, tokens)| Step { minutes, tokens })
    }

    proptest! {
        #[test]
        fn appended_records_change_no_closed_passage(
            steps in prop::collection::vec(step_strategy(), 0..120),
            cut in 0..120_usize,
        ) {
            let briefs = sample_briefs(&steps);
            let before = closed_passages(&briefs[..cut.min(briefs.len())]);
            let after = closed_passages(&briefs);
            prop_assert!(before.len() <= after.len());
            prop_assert_eq!(&after[..before.len()], &before[..]);
        }

        #[test]
        fn records_after_a_closed_passage_are_divided_without_the_earlier_ones(
            steps in prop::collection::vec(step_strategy(), 0..120),
            is_over: bool,
        ) {
            let briefs = sample_briefs(&steps);
            let all = divide_session(&briefs, is_over);
            for (number, passage) in all.iter().enumerate() {
                let start = passage.places.start;
                let behind = all[number..].iter().map(|it| Passage {
                    places: it.places.start - start..it.places.end - start,
                    is_closed: it.is_closed,
                });
                prop_assert_eq!(divide_session(&briefs[start..], is_over), behind.collect::<Vec<Passage>>());
            }
        }

        #[test]
        fn passages_tile_the_session_and_are_bounded(
            steps in prop::collection::vec(step_strategy(), 0..120),
            is_over: bool,
        ) {
            let briefs = sample_briefs(&steps);
            let passages = divide_session(&briefs, is_over);
            let mut next = 0;
            for passage in &passages {
                prop_assert_eq!(passage.places.start, next);
                next = passage.places.end;
                let tokens: usize = briefs[passage.places.clone()].iter().map(|it| it.tokens).sum();
                let count = passage.places.len();
                prop_assert!((1..=MOST).contains(&count));
                prop_assert!(count == 1 || tokens <= TOKENS_MAX);
            }
            prop_assert_eq!(next, briefs.len());
            let before_last = passages.iter().rev().skip(1).all(|it| it.is_closed);
            let last = passages.last().is_none_or(|it| it.is_closed == is_over);
            prop_assert!(before_last && last);
        }
    }
}
