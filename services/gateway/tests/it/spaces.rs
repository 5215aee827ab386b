//! Tests of the creation and the deletion of spaces.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use axum::http::StatusCode;
use domain::erasure::Erased;
use domain::id::{RecordId, SpaceId};
use domain::port::UnitBlock;
use domain::{Classify, ErrorKind};
use fixtures::{UnavailableIndex, sample_unit};
use futures::FutureExt;

use crate::harness::Gateway;

fn space() -> SpaceId {
    "s".parse().unwrap()
}

/// Writes units of the space `s` to a file that the record store has to destroy when it deletes the space. Returns its
/// path.
async fn write_unit_file(gateway: &Gateway) -> PathBuf {
    const VERSION: i64 = 7;
    /// The smallest number of blocks that make a file.
    const BLOCKS: u64 = 32;
    let (graph, s) = (&gateway.context.backends.graph, space());
    let units: Vec<_> = (0..BLOCKS).map(|it| sample_unit(&s, &it.to_string())).collect();
    graph.put_units(&s, &units, &[]).await.unwrap();
    while let Some(gap) = graph.block_gap(&s, 0, 1, VERSION).await.unwrap() {
        let block = UnitBlock {
            after: gap.after,
            last: gap.changes[0].sequence,
            body: vec![1_u8; 8].into(),
            file: None,
        };
        assert!(graph.put_block(&s, VERSION, &block, &gap.digests).await.unwrap());
    }
    let file = graph.write_block_file(&s, VERSION).await.unwrap().unwrap();
    let path = gateway.dir.path().join(format!("mnemic.blocks/{}.units", file.id.0));
    assert!(path.is_file());
    path
}

#[tokio::test]
async fn requests_without_a_body_refuse_a_body() {
    let gateway = Gateway::new().await;
    for call in [
        "PUT /v1/spaces/t",
        "POST /v1/spaces/s/rebuild",
        "POST /v1/admin/dead-letters/1/replay",
    ] {
        for body in [r#"{"retention":"1d"}"#, "[]", "null", "x"] {
            let problem_text = gateway.send(call, body).await.problem();
            assert!(
                problem_text.starts_with("422 this request takes no body"),
                "{call} {body}: {problem_text}"
            );
        }
    }
    assert_eq!(gateway.send("GET /v1/spaces/t", "").await.status, StatusCode::NOT_FOUND);
    for (body, expected) in [(" {\n} ", StatusCode::CREATED), ("", StatusCode::OK)] {
        assert_eq!(gateway.send("PUT /v1/spaces/t", body).await.status, expected);
    }
}

#[tokio::test]
async fn a_write_that_a_full_queue_refuses_creates_no_space() {
    let gateway = Gateway::with("[backends]\nqueue_frames_max = 2").await;
    let batch = r#"{"records":[{"text":"one"}]}"#;
    let space = async || gateway.send("GET /v1/spaces/t", "").await.status;
    for _ in 0..2 {
        let accepted = gateway.send("POST /v1/spaces/s/records", batch).await;
        assert_eq!(accepted.status, StatusCode::ACCEPTED, "{accepted:?}");
    }
    for (call, body) in [
        ("POST /v1/spaces/t/records", batch),
        ("PUT /v1/spaces/t/records/a", r#"{"text":"one"}"#),
    ] {
        let problem_text = gateway.send(call, body).await.problem();
        assert!(
            problem_text.starts_with("429 the queue is full"),
            "{call}: {problem_text}"
        );
        assert_eq!(space().await, StatusCode::NOT_FOUND, "{call}");
    }
    gateway.start_writer();
    gateway.drained().await;
    let accepted = gateway.send("POST /v1/spaces/t/records", batch).await;
    assert_eq!(accepted.status, StatusCode::ACCEPTED, "{accepted:?}");
    assert_eq!(space().await, StatusCode::OK);
}

/// The record store fails after it hid the space. The deletion is then noted, and continues later.
#[tokio::test]
async fn a_deletion_that_fails_after_its_note_is_accepted() {
    let gateway = Gateway::new().await;
    // A folder in place of the file cannot be overwritten.
    let stuck = write_unit_file(&gateway).await;
    fs::remove_file(&stuck).unwrap();
    fs::create_dir(&stuck).unwrap();
    let deleted = gateway.send("DELETE /v1/spaces/s", "").await;
    assert_eq!(deleted.status, StatusCode::ACCEPTED, "{deleted:?}");
    let receipt = deleted.headers["location"].to_str().unwrap().to_owned();
    let state = async || gateway.send(&format!("GET {receipt}"), "").await.json()["state"].clone();
    assert_eq!(state().await, "erasing");
    assert_eq!(gateway.send("GET /v1/spaces/s", "").await.status, StatusCode::NOT_FOUND);

    fs::remove_dir(&stuck).unwrap();
    let again = gateway.send("DELETE /v1/spaces/s", "").await;
    assert_eq!(again.status, StatusCode::NO_CONTENT, "{again:?}");
    assert_eq!(state().await, "complete");
}

#[tokio::test]
async fn a_deletion_that_takes_long_is_accepted_once_the_space_is_hidden() {
    let gateway = Gateway::with("[gateway]\nrequest_ms_max = 4000").await;
    let mut context = gateway.context.clone();
    context.backends.index = Arc::new(UnavailableIndex::Hanging);
    let slow = gateway.in_context(context);
    let deleted = slow.send("DELETE /v1/spaces/s", "").await;
    assert_eq!(deleted.status, StatusCode::ACCEPTED, "{deleted:?}");
    assert_eq!(slow.send("GET /v1/spaces/s", "").await.status, StatusCode::NOT_FOUND);
    let receipt = deleted.headers["location"].to_str().unwrap().to_owned();
    let state = gateway.send(&format!("GET {receipt}"), "").await.json()["state"].clone();
    assert_eq!(state, "erasing");

    let again = gateway.send("DELETE /v1/spaces/s", "").await;
    assert_eq!(again.status, StatusCode::NO_CONTENT, "{again:?}");
}

#[tokio::test]
async fn an_unavailable_index_does_not_keep_the_rows_of_a_deleted_space() {
    let gateway = Gateway::new().await;
    let (stores, s, t) = (&gateway.context.backends, space(), "t".parse().unwrap());
    let created_at = stores.records.space(&s).await.unwrap().unwrap().created_at;
    let claim = (RecordId::from_external_id(&s, "r"), [7; 32]);
    stores.records.claim(&s, &[claim]).await.unwrap();
    // The caller stops waiting before the rows are erased. The creation of another space follows the first step.
    assert!(stores.records.delete_space(&s).now_or_never().is_none());
    assert!(stores.records.create_space(&t, created_at).await.unwrap());
    let claims = async || {
        let erased = Erased::Space { created_at };
        stores.receipts.count_remaining_data(&s, &erased).await.unwrap()["claims"]
    };
    let notes = async || stores.records.unfinished_erasures(None, 9).await.unwrap();
    let noted = notes().await;
    assert_eq!((claims().await, noted.len()), (1, 1));

    let mut without_index = gateway.context.clone();
    without_index.backends.index = Arc::new(UnavailableIndex::Failing);
    let error = gateway::finish_erasure(&without_index, &noted[0]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert_eq!((claims().await, notes().await), (0, noted.clone()));
    gateway::finish_erasure(&gateway.context, &noted[0]).await.unwrap();
    assert_eq!(notes().await, []);
}
