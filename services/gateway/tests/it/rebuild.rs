use std::sync::{Arc, Mutex};

use domain::PortError;
use domain::id::{SessionId, SpaceId};
use domain::message::RecordsAcceptedV1;
use domain::record::{Modality, Record, ToolCall};
use fixtures::sample_record;

use crate::harness::Gateway;

/// Returns a call with a long result, which is twice as long in a message because of its quotation marks.
fn call(space: &SpaceId, number: usize) -> Record {
    Record {
        session: SessionId::from_name(space, "run"),
        session_name: "run".to_owned(),
        ordinal: number as u64,
        modality: Modality::Action,
        tool: Some(ToolCall {
            name: "look".to_owned(),
            arguments: String::new(),
            result: "\"".repeat(100_000),
        }),
        ..sample_record(space, &number.to_string())
    }
}

#[tokio::test]
async fn a_rebuild_sends_messages_of_limited_size() {
    let gateway = Gateway::new().await;
    let space: SpaceId = "s".parse().unwrap();
    let all: Vec<Record> = (0..60).map(|it| call(&space, it)).collect();
    let records = gateway.context.backends.records.clone();
    records.put(&space, &all).await.unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (context, sizes) = (gateway.context.clone(), Arc::clone(&seen));
    tokio::spawn(async move {
        let handle = async |message: RecordsAcceptedV1, meta: host::Meta| {
            let bytes = serde_json::to_vec(&message).unwrap().len();
            sizes.lock().unwrap().push((message.records.len(), bytes));
            records.mark_written(&message.space, meta.position).await
        };
        context
            .consume_messages::<_, PortError, _, _>("writer", 1, handle)
            .await
            .unwrap();
    });
    gateway::rederive_space(&gateway.context, &space, "test", |_| ())
        .await
        .unwrap();
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.iter().map(|it| it.0).sum::<usize>(), all.len());
    assert!(seen.iter().all(|it| it.1 < 1_100_000), "{seen:?}");
}
