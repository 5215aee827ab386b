//! Erasure of records that a language model has read.

use serde_json::json;
use system::running::api::Api;

/// Erases a record and returns when the erasure is done.
pub(super) async fn erase_record(api: &Api, space: &str, record: &str) {
    let (status, erased) = api.delete(&format!("/spaces/{space}/records/{record}")).await;
    assert_eq!(status, 202, "{erased}");
    api.wait_until_written(space, erased["watermark"].as_str().unwrap())
        .await;
}

/// Checks that the first erasure of a space left no data.
pub(super) async fn check_first_erasure(api: &Api, space: &str) {
    let receipts = api.list(&format!("/spaces/{space}/erasures")).await;
    let id = receipts[0]["id"].as_str().unwrap();
    let path = format!("/spaces/{space}/erasures/{id}/check");
    let (status, check) = api.post(&path, &json!({})).await;
    assert_eq!((status, &check["absent"]), (200, &json!(true)), "{check}");
}
