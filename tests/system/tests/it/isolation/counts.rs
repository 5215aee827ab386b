//! The responses to a key do not change when others write, which includes numbers, positions and lengths of lists.

use serde_json::{Value, json};
use system::running::api::Api;

/// Requests that mallory can make, with the bodies of POST requests.
const LOOKS: [(&str, &str); 24] = [
    ("/spaces", ""),
    ("/spaces?limit=1", ""),
    ("/spaces/mallory", ""),
    ("/spaces/mallory2", ""),
    ("/spaces/mallory/progress", ""),
    ("/spaces/mallory2/progress?wait_ms=0", ""),
    ("/spaces/mallory/records", ""),
    ("/spaces/mallory/records?limit=1", ""),
    ("/spaces/mallory/units", ""),
    ("/spaces/mallory/units?limit=1", ""),
    ("/spaces/mallory/facts", ""),
    ("/spaces/mallory/entities", ""),
    ("/spaces/mallory/topics", ""),
    ("/spaces/mallory/pages", ""),
    ("/spaces/mallory/merges", ""),
    ("/spaces/mallory/curations", ""),
    ("/admin/dead-letters", ""),
    ("/admin/dead-letters?limit=1", ""),
    ("/spaces/alice", ""),
    (
        "/spaces/mallory/query",
        r#"{"question":"What is mine?","asked_at":"2026-05-07T18:30:00Z","explain":100,"ranked":200,"budget":{"ms":20000}}"#,
    ),
    (
        "/spaces/mallory/query",
        r#"{"question":"Where is the lighthouse?","strategy":"explore","budget":{"ms":20000}}"#,
    ),
    ("/spaces/mallory/tools/list_dimensions", "{}"),
    ("/spaces/mallory/tools/lexical_retrieve", r#"{"query":"lighthouse"}"#),
    (
        "/spaces/mallory/tools/semantic_retrieve",
        r#"{"query":"a light at sea"}"#,
    ),
];

/// Returns the responses to a key, by request, without the fields that differ between two equal requests.
pub(super) async fn responses_for_key(key: &Api) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (path, body) in LOOKS {
        let (status, mut answer) = if body.is_empty() {
            key.get(path).await
        } else {
            key.post(path, &serde_json::from_str(body).unwrap()).await
        };
        without_times(&mut answer);
        all.push((format!("{path} {body}"), json!([status, answer])));
    }
    all
}

/// Removes durations and trace ids.
fn without_times(answer: &mut Value) {
    match answer {
        Value::Object(fields) => {
            for name in ["ms", "steps", "trace_id"] {
                fields.remove(name);
            }
            fields.values_mut().for_each(without_times);
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Writes many batches to `space` while `other` asks for its own progress. Returns descriptions of wrong responses,
/// and the number of requests.
pub(super) async fn while_others_write(space: &Api, other: &Api) -> (Vec<String>, usize) {
    let noise = async {
        let mut last = String::new();
        for number in 0..30 {
            let record = json!([{ "id": format!("noise-{number}"), "session": "noise", "text": "Nothing of note." }]);
            last = space.send_records("alice", &record).await;
        }
        last
    };
    let look = async {
        let (mut wrong, mut looks) = (Vec::new(), 0);
        for _ in 0..15 {
            for path in ["/spaces/mallory/progress", "/spaces/mallory2/progress"] {
                let (status, body) = other.get(path).await;
                looks += 1;
                if status != 200 || body["backlog"] != json!(0) {
                    wrong.push(format!("{path}: {status} {body}"));
                }
            }
        }
        (wrong, looks)
    };
    let (last, seen) = tokio::join!(noise, look);
    space.wait_until_written("alice", &last).await;
    seen
}
