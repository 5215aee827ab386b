//! Runs the judge against an endpoint with scripted replies.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use adapters::models::endpoint::chat::{ChatEndpoint, Options};
use eval::judge::prompt::Verdict;
use eval::judge::report::count_verdicts;
use eval::judge::{Answer, Judge, JudgeOutcome, judge_answers, read_answers};
use eval::score::summary::ALL;
use serde_json::{Value, json};

/// Returns the reply of the endpoint to a prompt; `None` stands for an error of the server.
type Script = fn(prompt: &str) -> Option<String>;

/// An endpoint with OpenAI's chat API. It runs until the test process ends.
struct Endpoint {
    url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Endpoint {
    fn start(script: Script) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let shared_requests = Arc::clone(&requests);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let requests = Arc::clone(&shared_requests);
                thread::spawn(move || serve(connection.unwrap(), script, &requests));
            }
        });
        Endpoint { url, requests }
    }

    fn judge(&self) -> Judge {
        let options = Options {
            url: self.url.clone(),
            model: "parrot".to_owned(),
            ..Options::default()
        };
        Judge {
            model: Arc::new(ChatEndpoint::new(&options).unwrap()),
            name: "parrot".to_owned(),
            jobs: 2,
        }
    }

    fn calls(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

/// Answers one request and ends the connection.
fn serve(connection: TcpStream, script: Script, requests: &Mutex<Vec<Value>>) {
    let mut reader = BufReader::new(connection);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim().to_lowercase();
        if let Some(bytes) = line.strip_prefix("content-length:") {
            length = bytes.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let request: Value = serde_json::from_slice(&body).unwrap();
    let prompt = request["messages"][1]["content"].as_str().unwrap().to_owned();
    requests.lock().unwrap().push(request);
    let (status, body) = match script(&prompt) {
        Some(text) => (
            "200 OK",
            json!({
                "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
                "usage": { "prompt_tokens": 100, "completion_tokens": 10 },
            }),
        ),
        None => ("500 Internal Server Error", json!({})),
    };
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let mut connection = reader.into_inner();
    connection.write_all((head + &body).as_bytes()).unwrap();
}

fn answer(id: &str, given: &str, category: &str) -> Answer {
    let line = json!({ "id": id, "question": "Where is Ana?", "gold": "Ghent", "given": given, "category": category });
    serde_json::from_value(line).unwrap()
}

fn answers() -> Vec<Answer> {
    vec![
        answer("1", "in Ghent", "place"),
        answer("2", "Bruges", "place"),
        answer("3", "maybe Ghent", "doubt"),
        answer("4", "mumble", "doubt"),
    ]
}

/// Replies "right" for Ghent and "wrong" for Bruges. For "maybe", the verdict depends on the order of the answers. For
/// "mumble", the reply has no verdict.
fn by_wording(prompt: &str) -> Option<String> {
    let gold_first = prompt.find("reference") < prompt.find("given");
    let verdict = if prompt.contains("mumble") {
        return Some("Hm.".to_owned());
    } else if prompt.contains("Bruges") || (prompt.contains("maybe") && gold_first) {
        "wrong"
    } else {
        "right"
    };
    Some(format!("{{\"reason\": \"as told\", \"verdict\": \"{verdict}\"}}"))
}

async fn judged(endpoint: &Endpoint, answers: &[Answer], verdicts: &Path) -> JudgeOutcome {
    judge_answers(&endpoint.judge(), answers, verdicts).await.unwrap()
}

#[tokio::test]
async fn every_answer_gets_two_verdicts_and_unreadable_ones_are_counted_separately() {
    let dir = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::start(by_wording);
    let found = judged(&endpoint, &answers(), &dir.path().join("verdicts.jsonl")).await;
    assert!(found.failures.is_empty(), "{:?}", found.failures);
    assert_eq!(found.verdicts.len(), 8);
    let unreadable = found.verdicts.iter().filter(|it| it.verdict == Verdict::Unreadable);
    assert_eq!(
        unreadable.map(|it| (it.id.as_str(), it.calls)).collect::<Vec<_>>(),
        [("4", 2), ("4", 2)]
    );
    let table = count_verdicts(&answers(), &found.verdicts);
    let all = &table[ALL];
    assert_eq!((all.judged, all.right, all.agreed, all.unreadable), (3, 1, 2, 1));
    assert_eq!((all.calls, all.usage.total_tokens()), (10, 1_100));
    assert_eq!((table["place"].judged, table["place"].right), (2, 1));
    assert_eq!(endpoint.calls(), 10);
    let requests = endpoint.requests.lock().unwrap();
    assert!(
        requests
            .iter()
            .all(|it| it["response_format"]["json_schema"]["name"] == "verdict")
    );
}

#[tokio::test]
async fn only_changed_answers_are_judged_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("verdicts.jsonl");
    let endpoint = Endpoint::start(by_wording);
    let first = judged(&endpoint, &answers(), &path).await;
    let calls = endpoint.calls();
    // An interrupted run leaves an incomplete line.
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"key\": \"ab");
    std::fs::write(&path, text).unwrap();
    let again = judged(&endpoint, &answers(), &path).await;
    assert_eq!(endpoint.calls(), calls);
    assert_eq!(again.spent.calls, 0);
    assert_eq!(
        count_verdicts(&answers(), &again.verdicts),
        count_verdicts(&answers(), &first.verdicts)
    );
    let mut changed = answers();
    changed[1].given = "Ghent".to_owned();
    let found = judged(&endpoint, &changed, &path).await;
    assert_eq!(found.spent.calls, 2);
    assert_eq!(count_verdicts(&changed, &found.verdicts)["place"].right, 2);
}

#[tokio::test]
async fn an_answer_gets_no_verdict_when_the_endpoint_fails() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("verdicts.jsonl");
    let endpoint = Endpoint::start(|prompt| by_wording(prompt).filter(|_| !prompt.contains("Bruges")));
    let found = judged(&endpoint, &answers(), &path).await;
    assert_eq!(found.failures.len(), 2);
    assert!(
        format!("{:#}", found.failures[0]).starts_with("answer 2"),
        "{:?}",
        found.failures
    );
    let table = count_verdicts(&answers(), &found.verdicts);
    assert_eq!((table[ALL].missing, table[ALL].judged), (1, 2));
    // When the endpoint answers again, only the missing verdicts are asked for.
    let well = Endpoint::start(by_wording);
    let found = judged(&well, &answers(), &path).await;
    assert_eq!(
        (well.calls(), count_verdicts(&answers(), &found.verdicts)[ALL].judged),
        (2, 3)
    );
}

#[test]
fn two_answers_with_the_same_id_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("answers.jsonl");
    let line = "{\"question_id\": \"1\", \"question\": \"?\", \"gold\": \"a\", \"given\": \"b\"}\n";
    std::fs::write(&path, line).unwrap();
    assert_eq!(read_answers(&path).unwrap().len(), 1);
    std::fs::write(&path, line.repeat(2)).unwrap();
    let error = read_answers(&path).unwrap_err().to_string();
    assert!(error.ends_with("two answers are called 1"), "{error}");
}
