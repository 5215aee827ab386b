//! A language model that refuses: sessions wait, and neither calls nor budget are wasted on them meanwhile.

use std::time::Duration;

use domain::record::Record;
use fixtures::{ChatEndpoint, wait_until};

use crate::order::settled;
use crate::pictures::{PIXEL, Writer, folder, reading_settings};
use crate::{record, space};

/// Settings with which one session is read after another.
const ONE_BY_ONE: &str = "in_flight_max = 1\n";

/// The first record of so many sessions.
fn sessions(count: u64) -> Vec<Record> {
    let session = |it: u64| record(&format!("talk {it}"), 1, "Ana", "I moved to Oslo in May.");
    (1..=count).map(session).collect()
}

/// Time in which every session is looked at: only a wait shows that no further call is made.
const EVERY_SESSION: Duration = Duration::from_secs(3);

/// Waits until the endpoint was called `times` times, and then long enough for every session to be looked at. Returns
/// the number of calls.
async fn calls(endpoint: &ChatEndpoint, times: usize) -> usize {
    wait_until("the model is asked", async || endpoint.requests().len() >= times).await;
    tokio::time::sleep(EVERY_SESSION).await;
    endpoint.requests().len()
}

async fn waiting(writer: &Writer) -> u64 {
    writer
        .context
        .backends
        .readings
        .count_scheduled_sessions(&space())
        .await
        .unwrap()
}

fn one_by_one(endpoint: &ChatEndpoint, readings: &str) -> String {
    reading_settings(endpoint).replace(
        "[writer.readings]\n",
        &format!("[writer.readings]\n{ONE_BY_ONE}{readings}"),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_refuses_every_call_is_not_asked_for_every_session() {
    for (status, expected) in [
        ("429 Too Many Requests", 1),
        ("401 Unauthorized", 1),
        // The question itself may cause the failure; the third failure in a row shows that it does not.
        ("500 Internal Server Error", 3),
    ] {
        let endpoint = ChatEndpoint::scripted(&[], status);
        let dir = folder("refusing");
        let writer = Writer::start(&dir, &one_by_one(&endpoint, "")).await;
        writer.accept("1", &sessions(6)).await;
        settled(&writer.context).await;
        assert_eq!(calls(&endpoint, expected).await, expected, "{status}");
        assert_eq!(waiting(&writer).await, 6, "{status}");
        writer.stop().await;
        std::fs::remove_dir_all(&dir).ok();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_from_which_nothing_is_stored_count_for_the_budget_of_the_day() {
    // The first reply cannot be read, the second call is refused: the session waits, and the replies were paid for.
    for (calls_a_day, expected) in [(2, 2), (3, 3)] {
        let endpoint = ChatEndpoint::scripted(&["I would rather not say."], "500 No");
        let dir = folder("unstored");
        let readings = format!("calls_a_day = {calls_a_day}\n");
        let writer = Writer::start(&dir, &one_by_one(&endpoint, &readings)).await;
        writer.accept("1", &sessions(2)).await;
        settled(&writer.context).await;
        assert_eq!(calls(&endpoint, expected).await, expected);
        assert_eq!(waiting(&writer).await, 2);
        writer.stop().await;
        std::fs::remove_dir_all(&dir).ok();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_wait_for_a_model_that_refuses_and_sessions_without_them_are_read() {
    let (seeing, reading) = (
        ChatEndpoint::scripted(&[], "401 Unauthorized"),
        ChatEndpoint::scripted(
            &[r#"{"gists": [], "relations": [], "facts": [], "changes": []}"#],
            "500 No",
        ),
    );
    let roles = format!("[language_model.roles.see]\nurl = \"{}\"\n", seeing.url());
    let dir = folder("unseen");
    let writer = Writer::start(&dir, &format!("{}{roles}", one_by_one(&reading, ""))).await;
    let mut all = sessions(3);
    all.iter_mut().for_each(|it| it.image_uri = Some(PIXEL.to_owned()));
    all.push(record("plain", 1, "Ana", "I moved to Oslo in May."));
    writer.accept("1", &all).await;
    settled(&writer.context).await;
    let is_read = async || waiting(&writer).await == 3;
    wait_until("the session without a picture is read", is_read).await;
    assert_eq!(calls(&seeing, 1).await, 1);
    assert_eq!(reading.requests().len(), 1, "the session without a picture is read");
    assert_eq!(waiting(&writer).await, 3);
    writer.stop().await;
    std::fs::remove_dir_all(&dir).ok();
}
