use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use futures::{StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;

use super::shared_servers;

/// Number of parallel questions.
const AT_ONCE: usize = 4;
/// Minimum share of questions with the same pack in both modes.
const SAME: f64 = 0.99;

#[derive(Deserialize)]
struct Conversation {
    conversation_id: String,
    turns: Vec<Turn>,
}

#[derive(Deserialize)]
struct Turn {
    id: String,
    session: String,
    speaker: String,
    text: String,
    timestamp: String,
    image_caption: Option<String>,
}

#[derive(Deserialize)]
struct Question {
    id: String,
    conversation_id: String,
    question: String,
}

fn read_lines<T: for<'a> Deserialize<'a>>(name: &str) -> Vec<T> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../eval/data/house");
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

async fn send_conversation(api: &Api, conversation: &Conversation) {
    let space = &conversation.conversation_id;
    assert_eq!(api.put(&format!("/spaces/{space}")).await.0, 201);
    let mut ordinals = HashMap::<&str, u32>::new();
    let mut records = Vec::new();
    for turn in &conversation.turns {
        let ordinal = ordinals.entry(&turn.session).or_default();
        let mut record = json!({ "id": turn.id, "session": turn.session, "ordinal": *ordinal, "actor": turn.speaker,
            "text": turn.text, "observed_at": turn.timestamp });
        if let Some(caption) = &turn.image_caption {
            record["image_caption"] = json!(caption);
        }
        *ordinal += 1;
        records.push(record);
    }
    for batch in records.chunks(64) {
        let watermark = api.send_records(space, &json!(batch)).await;
        api.wait_until_written(space, &watermark).await;
    }
}

/// Returns the pack of every question, by the question's id.
async fn packs_of_questions(
    api: &Api,
    conversations: &[Conversation],
    questions: &[Question],
) -> BTreeMap<String, Value> {
    for conversation in conversations {
        send_conversation(api, conversation).await;
    }
    for conversation in conversations {
        api.wait_until_settled(&conversation.conversation_id).await;
    }
    let asked = stream::iter(questions).map(async |it| {
        let body = api.ask(&it.conversation_id, &it.question).await;
        assert_eq!(body["degraded"], json!([]), "{body}");
        (it.id.clone(), body["pack"].clone())
    });
    asked.buffered(AT_ONCE).collect().await
}

/// Returns a description of the first item in which two packs differ.
fn first_difference(a: &Value, b: &Value) -> String {
    let shown = |it: &Value| -> Vec<String> {
        let items = it["items"].as_array().unwrap().iter();
        items
            .map(|it| format!("{} {} {}", it["external_ids"], it["probability"], it["scores"]))
            .collect()
    };
    let (a, b) = (shown(a), shown(b));
    let first = a
        .iter()
        .zip(&b)
        .position(|(a, b)| a != b)
        .unwrap_or(a.len().min(b.len()));
    format!("item {first}: {:?} and {:?}", a.get(first), b.get(first))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_deployment_modes_pack_the_same_evidence() {
    let Some(servers) = shared_servers().await else { return };
    let conversations: Vec<Conversation> = read_lines("conversations.jsonl");
    let questions: Vec<Question> = read_lines("questions.jsonl");
    let dir = tempfile::tempdir().unwrap();
    let standalone = Running::standalone(dir.path(), &[]).await.unwrap();
    let expected = packs_of_questions(&standalone.api, &conversations, &questions).await;
    standalone.end().await.unwrap();
    let distributed = Running::distributed(servers, &[]).await.unwrap();
    let found = packs_of_questions(&distributed.api, &conversations, &questions).await;
    distributed.end().await.unwrap();
    let mut other = 0;
    for (id, expected) in &expected {
        if &found[id] != expected {
            other += 1;
            println!("{id}: {}", first_difference(expected, &found[id]));
        }
    }
    let same = 1.0 - f64::from(other) / expected.len() as f64;
    println!(
        "{} of {} packs are the same",
        expected.len() as i32 - other,
        expected.len()
    );
    assert!(same >= SAME, "only {same:.4} of the packs are the same");
}
