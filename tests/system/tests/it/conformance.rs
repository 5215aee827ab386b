//! The conformance suites on the embedded adapters.

use std::path::Path;
use std::time::Duration;

use adapters::{Embedded, Options};
use system::conformance::Ports;

const ACK_WAIT: Duration = Duration::from_millis(400);

async fn open(dir: &Path) -> Ports {
    let options = Options {
        ack_wait: ACK_WAIT,
        ..Options::default()
    };
    let it = Embedded::open(dir, options).await.unwrap();
    Ports {
        bus: it.bus,
        dead_letters: it.dead_letters,
        records: it.records,
        graph: it.graph,
        index: it.index,
        embedder: it.embedder,
        ack_wait: ACK_WAIT,
    }
}

macro_rules! suite {
    ($port:ident: $($promise:ident,)*) => {
        mod $port {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $promise() {
                    let dir = tempfile::tempdir().unwrap();
                    system::conformance::$port::$promise(async || super::open(dir.path()).await).await;
                }
            )*
        }
    };
}

suite! { bus:
    a_key_is_stored_once,
    a_frame_arrives_as_it_was,
    groups_hear_all_and_members_share,
    what_is_dropped_comes_again,
    a_retry_waits_for_its_delay,
    a_cancelled_wait_loses_nothing,
    spaces_take_turns,
    the_backlog_counts_what_is_not_settled,
    the_queue_survives,
    requests_are_answered,
    servers_share,
}

suite! { dead_letters:
    they_say_what_happened,
    they_are_replayed_and_discarded,
}

suite! { records:
    spaces_are_made_once_and_listed,
    the_first_claim_wins,
    the_first_response_is_remembered,
    records_come_back_as_they_were,
    records_are_listed_in_insertion_order,
    a_session_is_read_around_a_record,
    positions_are_marked,
    records_survive,
}

suite! { graph:
    units_come_back_as_they_were,
    changes_are_fed_by_sequence,
    relations_show_between_known_units,
    facts_and_entities_are_paged_by_id,
    an_unknown_space_stays_empty,
    the_graph_survives,
}

suite! { index:
    it_finds_what_the_formulas_say,
    ties_break_by_unit_and_part,
    what_is_not_asked_is_not_found,
    a_put_is_seen_at_once,
    spaces_do_not_meet,
}

suite! { embedder:
    vectors_are_normalised_and_repeatable,
    near_in_meaning_is_near,
}

suite! { erasure:
    an_erased_space_is_gone,
    the_bus_forgets_a_space,
}
