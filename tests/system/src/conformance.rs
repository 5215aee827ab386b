//! One suite for each port. Every function tests a promise of the port's documentation and runs on any adapter.
//!
//! A function gets `open`, which returns the ports over the same stored state at each call. Dropping the ports closes
//! them. The functions use only the ports, so an adapter of another store runs the same functions.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a suite is a test, though it lives in a library"
)]

pub mod bus;
pub mod curation;
pub mod dead_letters;
pub mod derived;
pub mod embedder;
pub mod erasure;
pub mod graph;
pub mod idempotency;
pub mod index;
pub mod keys;
pub mod readings;
pub mod records;
mod sample;
pub mod selection;
pub mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use adapters::{Embedded, Options};
use bus::ACK_WAIT;
use domain::port::{Bus, DeadLetters, Embedder, Graph, Index, Keys, Readings, Receipts, Records, Webhooks};
use domain::{Classify, ErrorKind, PortError};

/// The ports under test.
pub struct Ports {
    /// Durable streams and requests.
    pub bus: Arc<dyn Bus>,
    /// Messages that became dead letters.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// Spaces and records.
    pub records: Arc<dyn Records>,
    /// Output of language models about records.
    pub readings: Arc<dyn Readings>,
    /// Receipts of erasures.
    pub receipts: Arc<dyn Receipts>,
    /// Keys of the API.
    pub keys: Arc<dyn Keys>,
    /// Webhooks of the API.
    pub webhooks: Arc<dyn Webhooks>,
    /// Units, relations and derived objects.
    pub graph: Arc<dyn Graph>,
    /// Index for searches.
    pub index: Arc<dyn Index>,
    /// Embedder of texts.
    pub embedder: Arc<dyn Embedder>,
    /// Time after which an unsettled delivery of `bus` is delivered again; short, because the suite waits for it.
    pub ack_wait: Duration,
}

impl Ports {
    /// Returns the ports of embedded stores that were opened with [`test_options`].
    pub fn of(it: Embedded) -> Ports {
        Ports {
            bus: it.bus,
            dead_letters: it.dead_letters,
            records: it.records,
            readings: it.readings,
            receipts: it.receipts,
            keys: it.keys,
            webhooks: it.webhooks,
            graph: it.graph,
            index: it.index,
            embedder: it.embedder,
            ack_wait: ACK_WAIT,
        }
    }
}

/// Returns the options of embedded stores under test.
pub fn test_options() -> Options {
    Options {
        ack_wait: ACK_WAIT,
        ..Options::default()
    }
}

/// Generates a module of tests for each named suite, with one test for each promise.
///
/// `run!` is a macro of the caller. It gets the path of a promise and calls it with the function that opens the ports.
#[macro_export]
macro_rules! promises {
    ($run:ident: $($suite:ident),+) => {
        $($crate::promises!(@suite $run $suite);)+
    };
    (@suite $run:ident bus) => {
        $crate::promises! { @tests $run bus:
            a_key_is_stored_once,
            a_frame_arrives_as_it_was,
            groups_hear_all_and_members_share,
            what_is_dropped_comes_again,
            a_retry_waits_for_its_delay,
            a_cancelled_wait_loses_nothing,
            spaces_take_turns,
            the_backlog_counts_what_is_not_settled,
            the_backlog_of_a_space_counts_nothing_of_others,
            unsettled_messages_are_listed_by_space,
            the_queue_survives,
            requests_are_answered,
            servers_share,
        }
    };
    (@suite $run:ident dead_letters) => {
        $crate::promises! { @tests $run dead_letters:
            they_say_what_happened,
            they_are_counted_and_listed_by_space,
            they_are_amended,
            an_amendment_during_a_replay_leaves_no_letter,
            they_are_replayed_and_discarded,
            a_discarded_key_is_free,
        }
    };
    (@suite $run:ident records) => {
        $crate::promises! { @tests $run records:
            spaces_are_made_once_and_listed,
            spaces_are_listed_by_the_start_of_their_names,
            the_first_claim_wins,
            claims_are_asked_for,
            the_first_response_is_remembered,
            records_come_back_as_they_were,
            records_are_listed_in_insertion_order,
            a_cursor_outlives_what_it_stands_behind,
            a_session_is_read_around_a_record,
            positions_are_marked,
            a_revision_tells_of_changes,
            records_survive,
        }
    };
    (@suite $run:ident readings) => {
        $crate::promises! { @tests $run readings:
            a_reading_comes_back_as_it_was,
            a_reading_takes_the_place_of_the_one_before,
            a_reading_goes_with_any_record_that_was_shown,
            readings_are_counted_since_a_moment,
            the_cost_of_removed_readings_counts_for_their_day,
            a_wanted_session_is_taken_once,
            times_of_a_clock_that_was_ahead_block_nothing,
            what_is_wanted_meanwhile_stands,
            spaces_take_turns,
            readings_go_with_their_space,
            readings_survive,
        }
    };
    (@suite $run:ident idempotency) => {
        $crate::promises! { @tests $run idempotency:
            a_key_has_one_holder,
            holds_with_the_same_end_are_distinct,
            a_hold_ends,
            a_hold_of_a_clock_that_was_ahead_ends,
            of_many_that_ask_at_once_one_holds_the_key,
            what_was_decided_first_survives,
            the_first_secret_is_kept,
        }
    };
    (@suite $run:ident selection) => {
        $crate::promises! { @tests $run selection:
            it_is_listed_in_insertion_order,
            units_are_listed_by_their_latest_changes,
            units_are_listed_by_their_labels,
            a_page_ends_with_its_bytes,
            what_is_rare_is_found_by_and_by,
        }
    };
    (@suite $run:ident curation) => {
        $crate::promises! { @tests $run curation:
            the_first_curation_of_an_id_stays,
            the_latest_note_counts,
            of_a_scope_the_latest_notes_are_kept,
            the_scopes_of_a_space_share_a_bound,
            the_notes_of_a_scope_are_erased,
            an_erased_record_is_gone,
            what_people_decided_survives,
        }
    };
    (@suite $run:ident graph) => {
        $crate::promises! { @tests $run graph:
            units_come_back_as_they_were,
            changes_are_fed_by_sequence,
            a_removed_unit_says_nothing,
            relations_show_between_known_units,
            an_unknown_space_stays_empty,
            the_graph_survives,
        }
    };
    (@suite $run:ident derived) => {
        $crate::promises! { @tests $run derived:
            they_are_listed_by_kind_and_id,
            their_changes_are_fed_by_sequence,
            what_is_gone_goes_before_what_is_put,
            any_text_comes_back,
            what_is_no_number_is_refused,
            what_is_put_out_of_turn_is_refused,
            of_a_turn_one_gets_through,
            they_survive,
        }
    };
    (@suite $run:ident index) => {
        $crate::promises! { @tests $run index:
            it_finds_what_the_formulas_say,
            ties_break_by_unit_and_part,
            what_is_not_asked_is_not_found,
            a_put_is_seen_at_once,
            spaces_do_not_meet,
            a_switch_leaves_what_was_put_since,
            a_generation_ends_with_the_next_and_with_its_space,
            what_was_put_since_a_deletion_stays,
            points_of_a_space_created_by_a_slow_clock_stay,
            points_are_listed_once,
            numbers_that_are_not_finite_are_refused,
        }
    };
    (@suite $run:ident keys) => {
        $crate::promises! { @tests $run keys:
            a_key_comes_back_as_it_was,
            a_name_is_taken_once,
            keys_are_listed_by_name,
            a_rotated_key_has_two_digests,
            a_revoked_key_stays_revoked,
            the_last_use_counts,
            keys_survive,
        }
    };
    (@suite $run:ident webhooks) => {
        $crate::promises! { @tests $run webhooks:
            webhooks_come_back_by_id,
            an_id_is_taken_once,
            a_replaced_webhook_is_another_one,
            the_number_of_webhooks_is_bounded,
            webhooks_survive,
        }
    };
    (@suite $run:ident embedder) => {
        $crate::promises! { @tests $run embedder:
            vectors_are_normalised_and_repeatable,
            near_in_meaning_is_near,
        }
    };
    (@suite $run:ident erasure) => {
        $crate::promises! { @tests $run erasure:
            an_erased_space_is_gone,
            a_deletion_is_unfinished_until_it_is_finished,
            a_space_is_newer_than_the_deleted_space_of_its_name,
            responses_that_name_an_erased_record_are_forgotten,
            a_receipt_outlives_its_space,
            a_receipt_is_completed_by_its_id,
            what_is_left_of_a_space_is_counted,
            the_bus_forgets_a_space,
        }
    };
    (@tests $run:ident $suite:ident: $($promise:ident,)+) => {
        mod $suite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $promise() {
                    $run!($crate::conformance::$suite::$promise);
                }
            )+
        }
    };
}

fn error_kind<T>(result: Result<T, PortError>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}
