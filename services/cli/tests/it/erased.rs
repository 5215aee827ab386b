//! Erased data leave no trace in any file of the data folder, while the server runs and other clients write and ask.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fixtures::wait_for;
use serde_json::{Value, json};

use crate::server::{Server, fresh_directory};

/// Returns the number of occurrences of each word in each file of a folder, ignoring the case of ASCII letters.
fn occurrences(data: &Path, words: &[&str]) -> Vec<(String, String, usize)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(data).unwrap() {
        let path = entry.unwrap().path();
        let Ok(mut bytes) = std::fs::read(&path) else { continue };
        bytes.make_ascii_lowercase();
        for word in words {
            let word = word.to_ascii_lowercase();
            let count = bytes.windows(word.len()).filter(|it| *it == word.as_bytes()).count();
            if count > 0 {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                found.push((word, name, count));
            }
        }
    }
    found
}

/// Waits until no word is left; panics with the remaining occurrences if some stay.
async fn until_gone(data: &Path, words: &[&str]) {
    wait_for("no word is left", async || match occurrences(data, words) {
        left if left.is_empty() => Ok(()),
        left => Err(left),
    })
    .await;
}

fn line(id: &str, session: &str, minute: usize, text: &str) -> Value {
    let at = format!("2026-03-02T{:02}:{:02}:00Z", 8 + minute / 60, minute % 60);
    json!({ "id": id, "session": session, "actor": "Ann", "observed_at": at, "text": text })
}

async fn remember(server: &Server, space: &str, key: &str, records: &[Value]) {
    let request = server.http.post(format!("{}/spaces/{space}/records", server.base));
    let request = request
        .header("Idempotency-Key", key)
        .json(&json!({ "records": records }));
    let (status, body) = server.send(request).await;
    assert_eq!(status, 202, "{body}");
    server.written(space, body["watermark"].as_str().unwrap()).await;
}

async fn erase(server: &Server, space: &str, path: &str) {
    let (status, body) = server.delete(&format!("/spaces/{space}/{path}")).await;
    assert_eq!(status, 202, "{body}");
    server.written(space, body["watermark"].as_str().unwrap()).await;
}

/// Writes and asks until `stop` is set, in another space and in the same one.
async fn load(server: Arc<Server>, space: &'static str, stop: Arc<AtomicBool>) {
    let mut number = 0;
    while !stop.load(Ordering::SeqCst) {
        number += 1;
        let texts = [
            "I watered the fern.",
            "Ben moved to Oslo.",
            "We planned the trip to Rome in May.",
        ];
        let records: Vec<Value> = (0..10)
            .map(|it| {
                line(
                    &format!("load-{number}-{it}"),
                    &format!("load {number}"),
                    it,
                    texts[it % 3],
                )
            })
            .collect();
        let (status, _) = server
            .post(&format!("/spaces/{space}/records"), &json!({ "records": records }))
            .await;
        assert!(status == 202 || status == 429, "{status}");
        let question = json!({ "question": "Where did Ben move?" });
        server.post(&format!("/spaces/{space}/query"), &question).await;
    }
}

/// Corrects the fact that contains a word.
async fn correct(server: &Server, space: &str, word: &str, object: &str, reason: &str) {
    let fact = wait_for(&format!("there is a fact of {word}"), async || {
        let facts = server.list(&format!("/spaces/{space}/facts")).await;
        let of_word = |it: &&Value| it["object"].as_str().unwrap().contains(word);
        facts.iter().find(of_word).cloned().ok_or(facts)
    })
    .await;
    let act = json!({ "act": { "kind": "correct_fact", "fact": fact["id"], "object": object }, "reason": reason });
    let request = server.http.post(format!("{}/spaces/{space}/curations", server.base));
    let (status, body) = server.send(request.header("Idempotency-Key", "why").json(&act)).await;
    assert_eq!(status, 202, "{body}");
    server.written(space, body["watermark"].as_str().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn erased_records_sessions_and_spaces_leave_no_trace_under_load() {
    let data = fresh_directory("erased-load");
    let server = Arc::new(Server::start(&data).await);
    for space in ["one", "two", "other"] {
        server.put(&format!("/spaces/{space}")).await;
    }
    let mut records = vec![
        line("ext-fnordlex", "monday", 0, "I live in Quaxbank."),
        line("kept", "monday", 1, "I bought a green bicycle."),
        line("i1", "inkhornwick", 2, "My sister lives in Brimblethorp."),
        line("i2", "inkhornwick", 3, "She likes Brimblethorp a lot."),
    ];
    for number in 0..40 {
        let text =
            format!("In the Snorkelfax number {number} we talked about trains and boats and planes for a long time.");
        records.push(line(&format!("s{number}"), "whole-gribbleshaw", 10 + number, &text));
    }
    remember(&server, "one", "key-1", &records).await;
    remember(&server, "two", "key-2", &[line("z", "z", 0, "I live in Zwickelmoor.")]).await;
    correct(&server, "one", "Quaxbank", "Zorbenheim", "Vellichor said so").await;
    for session in ["inkhornwick", "whole-gribbleshaw"] {
        let message = json!({ "message": "Shall we visit my sister in Brimblethorp?", "session": session });
        let (status, body) = server.post("/spaces/one/recall", &message).await;
        assert_eq!(status, 200, "{body}");
    }
    let words = [
        "Quaxbank",
        "fnordlex",
        "Zorbenheim",
        "Vellichor",
        "Brimblethorp",
        "inkhornwick",
        "Snorkelfax",
        "gribbleshaw",
    ];
    for word in words.iter().chain(&["Zwickelmoor"]) {
        assert!(!occurrences(&data, &[word]).is_empty(), "{word} was there");
    }

    let stop = Arc::new(AtomicBool::new(false));
    let loads = ["one", "other"].map(|space| tokio::spawn(load(Arc::clone(&server), space, Arc::clone(&stop))));
    // The loads are under way by then; they only have to keep the files busy.
    tokio::time::sleep(Duration::from_millis(500)).await;
    erase(&server, "one", "records/ext-fnordlex").await;
    until_gone(&data, &words[..4]).await;
    erase(&server, "one", "records/i1").await;
    erase(&server, "one", "records/i2").await;
    until_gone(&data, &words[..6]).await;
    erase(&server, "one", "sessions/whole-gribbleshaw").await;
    until_gone(&data, &words).await;
    assert_eq!(server.delete("/spaces/two").await.0, 204);
    until_gone(&data, &["Zwickelmoor"]).await;

    stop.store(true, Ordering::SeqCst);
    for it in loads {
        it.await.unwrap();
    }
    assert_eq!(server.get("/spaces/one/records/kept").await.0, 200);
    let acts = server.list("/spaces/one/curations").await;
    let corrected = acts.iter().find(|it| it["act"]["kind"] == "correct_fact").unwrap();
    assert_eq!(
        (&corrected["act"]["object"], &corrected["reason"]),
        (&json!(""), &json!("")),
        "that it was done stays"
    );
    until_gone(&data, &words).await;
}
