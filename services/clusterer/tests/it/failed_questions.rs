//! Tests of the service with a model endpoint that does not answer some questions.

use domain::reading::{Reading, ReadingKind};
use domain::record::Record;
use domain::unit::Unit;
use fixtures::{ChatEndpoint, ChatReply, user_message, wait_for};

use crate::coreference::walks;
use crate::endpoint::{ANOTHER_CALL, endpoint_settings, start_endpoint};
use crate::entities::talk;
use crate::follow::Running;
use crate::labels::{NAME, SUMMARY, events, label_reply, labelled};
use crate::people::{TALK, joins_names, wait_for_merge};
use crate::{coreference_worker, labels, space};

/// Refuses to compare events, and answers all other questions.
fn refuses_events(shown: &str) -> String {
    match shown.contains("The later event:") {
        true => String::new(),
        false => joins_names(shown),
    }
}

async fn stored_readings(running: &Running) -> Vec<Reading> {
    let readings = &running.context.backends.readings;
    readings.list(&space(), None, 100).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_fails_does_not_keep_the_others_waiting() {
    let endpoint = start_endpoint(refuses_events);
    let mut running = Running::new_with("refused", &endpoint_settings(&endpoint, "")).await;
    let (events, turns) = (walks(), talk(&TALK));
    let of_events = events.iter().flat_map(coreference_worker::records);
    let all: Vec<Record> = of_events.chain(turns.iter().flat_map(labels::records)).collect();
    running.context.backends.records.put(&space(), &all).await.unwrap();
    let units: Vec<Unit> = events.into_iter().chain(turns).collect();
    running.put(&units, &[]).await;
    wait_for_merge(&running, true).await;
    let shown = endpoint.user_messages();
    let compared = shown.iter().filter(|it| it.contains("The later event:"));
    assert_eq!(compared.count(), 1, "{shown:?}");
    let stored = stored_readings(&running).await;
    assert!(stored.iter().all(|it| it.kind != ReadingKind::Events), "{stored:?}");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_label_stays_if_the_model_does_not_answer_about_the_grown_topic() {
    let mut asked = 0;
    let endpoint = ChatEndpoint::start(move |request| {
        let is_about_topic = user_message(request).starts_with("The events:");
        asked += u32::from(is_about_topic);
        ChatReply::Text(match (is_about_topic, asked) {
            (true, 1) => label_reply(NAME, SUMMARY),
            (true, _) => "I would rather not say.".to_owned(),
            (false, _) => "{\"events\": [], \"sections\": []}".to_owned(),
        })
    });
    let mut running = Running::new_with("unanswered", &endpoint_settings(&endpoint, "")).await;
    let units = events(8);
    let all: Vec<Record> = units.iter().flat_map(labels::records).collect();
    running.context.backends.records.put(&space(), &all).await.unwrap();
    running.put(&units[..4], &[]).await;
    labelled(&running, |it| it.iter().any(|it| it.label == NAME)).await;
    running.put(&units[4..], &[]).await;
    let label = wait_for("the model was asked about eight events", async || {
        let stored = stored_readings(&running).await;
        let is_of_eight = |it: &Reading| it.kind == ReadingKind::Label && it.outcome.events == 8;
        stored.iter().find(|it| is_of_eight(it)).cloned().ok_or(stored)
    })
    .await;
    // The unreadable reply was requested once more.
    assert_eq!((label.failure.as_deref(), label.spent.calls), (None, 3));
    assert!(label.output.contains(NAME), "{label:?}");
    tokio::time::sleep(ANOTHER_CALL).await;
    labelled(&running, |it| it.iter().any(|it| it.label == NAME && it.units == 8)).await;
    let shown = endpoint.user_messages();
    assert_eq!(shown.iter().filter(|it| it.starts_with("The events:")).count(), 3);
    running.stop().await;
}
