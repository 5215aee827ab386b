//! Memories exported by mem0 and Hindsight: sentences in the third person that a model wrote about conversations.

use serde_json::Value;

use crate::import::formats::times::EntryTime;
use crate::import::record_draft::{Draft, LeftOut, Metadata, digest_texts, first_text_field, prefixed_name};

const MEM0: &str = "mem0";
const HINDSIGHT: &str = "hindsight";

/// Returns the record of a mem0 memory.
///
/// # Errors
/// If the memory has no text.
pub(crate) fn of_mem0(memory: &Value, left_out: &mut LeftOut) -> Result<Vec<Value>, String> {
    let text =
        first_text_field(memory, &["memory", "data", "text"]).ok_or("not a memory of mem0: `memory` is missing")?;
    let user = first_text_field(memory, &["user_id"]);
    let session = first_text_field(memory, &["run_id"]).or_else(|| user.clone());
    let session = session.or_else(|| first_text_field(memory, &["agent_id", "app_id"]));
    let mut metadata = Metadata::from_source(MEM0);
    let ours = [
        "user_id",
        "agent_id",
        "run_id",
        "app_id",
        "actor_id",
        "role",
        "categories",
        "updated_at",
    ];
    metadata.put_fields(memory, &ours);
    for (name, value) in memory.get("metadata").and_then(Value::as_object).into_iter().flatten() {
        if !metadata.put_value(name, value) {
            left_out.count_one("entries of metadata beyond 32");
        }
    }
    let time = read_time(memory, &["created_at"], &mut metadata, left_out);
    let draft = Draft {
        id: prefixed_name(MEM0, &memory_id(memory, &text)),
        session: session.map_or_else(|| MEM0.to_owned(), |it| prefixed_name(MEM0, &it)),
        actor: Some(user.unwrap_or_else(|| "user".to_owned())),
        text,
        observed_at: time,
        metadata,
        ..Draft::default()
    };
    Ok(vec![draft.into_record()])
}

/// Returns the record of a Hindsight memory.
///
/// # Errors
/// If the memory has no text.
pub(crate) fn of_hindsight(memory: &Value, left_out: &mut LeftOut) -> Result<Vec<Value>, String> {
    let text = first_text_field(memory, &["text", "content"]).ok_or("not a memory of Hindsight: `text` is missing")?;
    let mut metadata = Metadata::from_source(HINDSIGHT);
    let ours = [
        "fact_type",
        "type",
        "context",
        "entities",
        "occurred_start",
        "occurred_end",
        "mentioned_at",
        "date",
        "document_id",
        "chunk_id",
        "tags",
    ];
    metadata.put_fields(memory, &ours);
    for (name, value) in memory.get("metadata").and_then(Value::as_object).into_iter().flatten() {
        if !metadata.put_value(name, value) {
            left_out.count_one("entries of metadata beyond 32");
        }
    }
    let document = first_text_field(memory, &["document_id"]);
    // The time of the statement comes before the time of the event, because "yesterday" refers to the time of the
    // statement.
    let times = ["mentioned_at", "date", "occurred_start", "created_at"];
    let time = read_time(memory, &times, &mut metadata, left_out);
    let draft = Draft {
        id: prefixed_name(HINDSIGHT, &memory_id(memory, &text)),
        session: document.map_or_else(|| HINDSIGHT.to_owned(), |it| prefixed_name(HINDSIGHT, &it)),
        text,
        observed_at: time,
        metadata,
        ..Draft::default()
    };
    Ok(vec![draft.into_record()])
}

/// Returns the id in the export, else a digest of the text.
fn memory_id(memory: &Value, text: &str) -> String {
    first_text_field(memory, &["id", "memory_id", "uuid"]).unwrap_or_else(|| digest_texts(&[text]))
}

/// Returns the first named time that a record can have; counts the memory if it has only other times. A time in the
/// future is kept in the metadata.
fn read_time(memory: &Value, names: &[&str], metadata: &mut Metadata, left_out: &mut LeftOut) -> Option<String> {
    let time = EntryTime::first_of(names.iter().filter_map(|it| memory.get(it)));
    time.count_unused(left_out);
    metadata.put_entry("date", time.future.as_deref().unwrap_or_default());
    time.usable
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_memory_of_mem0_keeps_its_user_its_run_and_its_metadata() {
        let memory = json!({ "id": "m1", "memory": "Prefers green tea", "user_id": "ann", "agent_id": null, "run_id": "r7",
            "hash": "ignored", "metadata": { "topic": "food", "score": 3 }, "categories": ["food", "habits"],
            "created_at": "2026-03-02T10:00:00-08:00", "updated_at": "2026-03-03T10:00:00-08:00" });
        let mut left_out = LeftOut::default();
        assert_eq!(
            of_mem0(&memory, &mut left_out).unwrap(),
            [
                json!({ "id": "mem0:m1", "session": "mem0:r7", "actor": "ann", "text": "Prefers green tea",
                "observed_at": "2026-03-02T10:00:00-08:00", "metadata": { "source": "mem0", "user_id": "ann", "run_id": "r7",
                    "categories": "food, habits", "updated_at": "2026-03-03T10:00:00-08:00", "topic": "food", "score": "3" } })
            ]
        );
        let bare = of_mem0(
            &json!({ "memory": "Has a dog", "user_id": "ben", "created_at": "soon" }),
            &mut left_out,
        )
        .unwrap();
        assert_eq!(
            (&bare[0]["session"], &bare[0]["actor"]),
            (&json!("mem0:ben"), &json!("ben"))
        );
        assert!(bare[0].get("observed_at").is_none());
        assert_eq!(left_out.in_words(), ["times that could not be read: 1"]);
        let again = of_mem0(&json!({ "memory": "Has a dog" }), &mut left_out).unwrap();
        assert_eq!(
            (&again[0]["id"], &again[0]["session"]),
            (&bare[0]["id"], &json!("mem0"))
        );
        assert!(of_mem0(&json!({ "id": "m2", "memory": " " }), &mut left_out).is_err());
    }

    #[test]
    fn a_memory_of_hindsight_is_observed_when_it_was_mentioned() {
        let memory = json!({ "id": "h1", "text": "Ann moved to Oslo.", "context": "talk", "fact_type": "world",
            "occurred_start": "2026-02-01", "mentioned_at": "2026-03-02T18:00:00Z", "entities": "Ann, Oslo", "embedding": [1, 2] });
        let mut left_out = LeftOut::default();
        assert_eq!(
            of_hindsight(&memory, &mut left_out).unwrap(),
            [
                json!({ "id": "hindsight:h1", "session": "hindsight", "text": "Ann moved to Oslo.",
                "observed_at": "2026-03-02T18:00:00Z", "metadata": { "source": "hindsight", "context": "talk", "fact_type": "world",
                    "occurred_start": "2026-02-01", "mentioned_at": "2026-03-02T18:00:00Z", "entities": "Ann, Oslo" } })
            ]
        );
        let dated = json!({ "id": 7, "text": "x", "date": "2026-02-01", "document_id": "d1" });
        let dated = of_hindsight(&dated, &mut left_out).unwrap();
        assert_eq!(dated[0]["observed_at"], "2026-02-01T00:00:00Z");
        assert_eq!(
            (&dated[0]["id"], &dated[0]["session"]),
            (&json!("hindsight:7"), &json!("hindsight:d1"))
        );
        assert_eq!(left_out, LeftOut::default());
        let planned = json!({ "id": "h3", "text": "The fair opens.", "occurred_start": "2999-01-15" });
        let planned = of_hindsight(&planned, &mut left_out).unwrap();
        assert!(planned[0].get("observed_at").is_none());
        assert_eq!(planned[0]["metadata"]["date"], "2999-01-15T00:00:00Z");
        assert_eq!(left_out.in_words(), ["times in the future: 1"]);
        assert!(of_hindsight(&json!({ "id": "h2" }), &mut left_out).is_err());
    }
}
