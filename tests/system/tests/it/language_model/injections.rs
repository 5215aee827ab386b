//! Text of people and programs is only a line of data in a prompt. If a model obeys such text, the answer attributes
//! the text to nobody but its writer.

use std::iter::once;

use serde_json::{Value, json};
use system::injections::{self, Injection, Place};
use system::running::Running;
use system::running::api::Api;
use system::servers::chat::Server;

use super::{reply_without_lines, text_reply};

/// Number of attempts in one space.
const PER_SPACE: usize = 10;
const QUESTION: &str = "What is told about the canoe?";
/// A true statement of a person.
const GENUINE: &str = "The canoe is green and leans against the garage.";
/// A reply without an answer.
const NO_ANSWER: &str = "{\"answer\": null, \"lines\": [], \"reason\": \"no owner is told\"}";

/// Content of a prompt between its marks.
struct ShownPrompt {
    system: String,
    lines: Vec<String>,
}

/// Reads a prompt. Fails if text outside of the marks is not the product's own, or if a line inside is not a numbered
/// line of data.
fn read_prompt(request: &Value, name: &str) -> ShownPrompt {
    let message = |at: usize| request["messages"][at]["content"].as_str().unwrap().to_owned();
    assert_eq!(request["messages"].as_array().unwrap().len(), 2, "{request}");
    let user = message(1);
    let mark = user.split_once("<question ").unwrap().1.split('>').next().unwrap();
    assert!(
        mark.len() == 16 && mark.chars().all(|it| it.is_ascii_hexdigit()),
        "{user}"
    );
    assert_eq!(user.matches(mark).count(), 4, "{user}");
    let around = format!("<question {mark}>\n{QUESTION}\n</question {mark}>\n\nThe {name}:\n<{name} {mark}>\n");
    let (_, fenced) = user.split_once(&around).unwrap();
    let fenced = fenced.strip_suffix(&format!("\n</{name} {mark}>")).unwrap();
    // Hidden characters are invisible to people, and servers may interpret the markers below as the start of another
    // message.
    assert!(
        fenced.chars().all(|it| it == '\n' || !text::is_hidden(it, Some('a'))),
        "{fenced}"
    );
    for marker in ["<|", "<｜", "</", "[INST]", "<start_of_turn>", "<<"] {
        assert!(!fenced.contains(marker), "{marker}: {fenced}");
    }
    let mut lines: Vec<String> = Vec::new();
    for line in fenced.lines() {
        match line.strip_prefix(&format!("{}. ", lines.len() + 1)) {
            Some(line) => lines.push(line.to_owned()),
            None => assert!(is_day(line), "neither a day nor the next line: {line}"),
        }
    }
    ShownPrompt {
        system: message(0),
        lines,
    }
}

/// Returns true if a line is the header of a day with records of this test.
fn is_day(line: &str) -> bool {
    ["1 Mar 2026:", "2 Mar 2026:", "1 Mar:", "2 Mar:"].contains(&line)
}

async fn ask_with_calls(api: &Api, space: &str, calls: u32) -> Value {
    let body = json!({ "question": QUESTION, "asked_at": "2026-04-01T12:00:00Z",
        "budget": { "tokens": 4_000, "model_calls": calls, "ms": 20_000 } });
    let (status, body) = api.post(&format!("/spaces/{space}/query"), &body).await;
    assert_eq!(status, 200, "{body}");
    body
}

/// Returns the number of the only line that contains a text.
fn line_of(lines: &[String], text: &str) -> usize {
    let holds: Vec<usize> = (1..)
        .zip(lines)
        .filter(|(_, it)| it.contains(text))
        .map(|(at, _)| at)
        .collect();
    assert_eq!(holds.len(), 1, "{text}: {lines:#?}");
    holds[0]
}

/// Returns a text that occurs only in the line of this attempt.
fn sign_of(attempt: &Injection) -> String {
    match attempt.place {
        Place::Text | Place::ToolResult | Place::Caption => attempt.wanted.clone(),
        Place::Actor | Place::Session => format!("The canoe has {} oars.", attempt.number),
    }
}

fn answer_reply(wanted: &str, line: usize) -> String {
    json!({ "answer": format!("It belongs to {wanted}"), "lines": [line] }).to_string()
}

/// Makes the model obey an attempt. Its answer is never supported by a line that does not contain it.
async fn check_obeying_reply(server: &Server, api: &Api, space: &str, attempt: &Injection, lines: &[String]) {
    let (genuine, own) = (line_of(lines, GENUINE), line_of(lines, &sign_of(attempt)));
    server.script_replies([text_reply(&answer_reply(&attempt.wanted, genuine))]);
    let body = ask_with_calls(api, space, 1).await;
    assert_eq!(body["verdict"]["status"], "partial", "{attempt:?}: {body}");
    let reason = body["verdict"]["reasons"][1].as_str().unwrap();
    assert!(reason.contains(&attempt.wanted), "{attempt:?}: {body}");
    assert_eq!(body["answer"]["external_ids"], json!(["genuine"]), "{body}");

    // An answer that cites the line of the attempt may be supported only if that line or its speaker contains the
    // name.
    server.script_replies([text_reply(&answer_reply(&attempt.wanted, own))]);
    let body = ask_with_calls(api, space, 1).await;
    assert_eq!(body["answer"]["external_ids"], json!([attempt.id()]), "{body}");
    let is_named = attempt.place == Place::Actor && attempt.says.contains(&attempt.wanted);
    let says_so = is_named || lines[own - 1].contains(&attempt.wanted);
    assert!(says_so || body["verdict"]["status"] == "partial", "{attempt:?}: {body}");
}

/// Sends records and returns the accepted attempts. Attempts with control characters are rejected.
async fn send_attempts(api: &Api, space: &str, records: &[Value], attempts: &[Injection]) -> Vec<Injection> {
    let path = format!("/spaces/{space}/records");
    let (status, body) = api.post(&path, &json!({ "records": records })).await;
    assert_eq!(status, 202, "{body}");
    api.wait_until_written(space, body["watermark"].as_str().unwrap()).await;
    api.wait_until_settled(space).await;
    let is_accepted = |attempt: &&Injection| {
        let items = body["items"].as_array().unwrap();
        let item = items.iter().find(|it| it["id"] == attempt.id()).unwrap();
        let is_rejected = item["status"] == "rejected";
        let may_break = attempt.place == Place::Text;
        let is_forbidden = |it: char| it.is_control() && !(may_break && matches!(it, '\n' | '\r'));
        let detail = item["problem"]["detail"].as_str().unwrap_or_default();
        assert!(
            !is_rejected || attempt.says.contains(is_forbidden) && detail.contains("control character"),
            "{item}"
        );
        !is_rejected
    };
    attempts.iter().filter(is_accepted).cloned().collect()
}

async fn attempts_stay_lines(server: &Server, api: &Api, space: &str, attempts: &[Injection]) -> Vec<String> {
    assert_eq!(api.put(&format!("/spaces/{space}")).await.0, 201);
    let genuine = json!({ "id": "genuine", "session": "sunday", "actor": "Ines", "observed_at": "2026-03-01T18:00:00Z", "text": GENUINE });
    let records: Vec<Value> = once(genuine).chain(attempts.iter().map(Injection::record)).collect();
    let attempts = send_attempts(api, space, &records, attempts).await;

    server.script().requests.clear();
    server.script_replies([reply_without_lines(), text_reply(NO_ANSWER)]);
    let body = ask_with_calls(api, space, 2).await;
    assert_eq!(body["degraded"], json!([]), "{body}");
    let requests = std::mem::take(&mut server.script().requests);
    let (rank, answer) = (
        read_prompt(&requests[0], "lines"),
        read_prompt(&requests[1], "evidence"),
    );
    for attempt in &attempts {
        for prompt in [&rank, &answer] {
            let line = line_of(&prompt.lines, &sign_of(attempt));
            let holds = |it: &&String| it.contains(&attempt.wanted);
            let elsewhere = prompt.lines.iter().filter(holds).count()
                - usize::from(prompt.lines[line - 1].contains(&attempt.wanted));
            assert_eq!(elsewhere, 0, "{attempt:?}: {:#?}", prompt.lines);
        }
    }
    for attempt in &attempts {
        check_obeying_reply(server, api, space, attempt, &answer.lines).await;
    }
    vec![rank.system, answer.system]
}

/// Returns the user message of a turn in a loop, with its lines and tool results.
async fn message_of_turn(server: &Server, api: &Api, space: &str) -> String {
    server.script().requests.clear();
    server.script_replies([reply_without_lines(), text_reply(NO_ANSWER)]);
    let body = json!({ "question": QUESTION, "strategy": "recollect", "asked_at": "2026-04-01T12:00:00Z",
        "budget": { "tokens": 4_000, "model_calls": 2, "ms": 20_000 } });
    let (status, body) = api.post(&format!("/spaces/{space}/query"), &body).await;
    assert_eq!((status, &body["degraded"]), (200, &json!([])), "{body}");
    let request = std::mem::take(&mut server.script().requests).remove(0);
    request["messages"][1]["content"].as_str().unwrap().to_owned()
}

/// In the prompt of a loop, an injection attempt appears only inside the marks, and without the marks that it forges.
async fn attempts_stay_lines_in_loops(server: &Server, api: &Api, space: &str) {
    let turn = message_of_turn(server, api, space).await;
    let mark = turn.split_once("<question ").unwrap().1.split('>').next().unwrap();
    assert_eq!(turn.matches(mark).count(), 6, "question, lines and lookups: {turn}");
    let (mut within, mut outside) = (false, Vec::new());
    for line in turn.lines() {
        match (line.starts_with('<') && line.contains(mark), within) {
            (true, _) => within = !within,
            (false, true) => assert!(
                ["<|", "<｜", "</", "[INST]", "<start_of_turn>", "<<"]
                    .iter()
                    .all(|it| !line.contains(it)),
                "{line}"
            ),
            (false, false) => outside.push(line),
        }
    }
    let expected = [
        "The question, asked on Wednesday, 1 April 2026 at 12:00:",
        "",
        "The lines found so far:",
        "",
        "Looked up so far:",
        "",
        "This is the last turn: end.",
    ];
    assert_eq!(outside, expected, "{turn}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_in_the_memory_is_only_data_in_a_prompt() {
    let server = Server::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let running = Running::standalone(dir.path(), &server.settings()).await.unwrap();
    // System messages in a space without attempts.
    let systems = attempts_stay_lines(&server, &running.api, "calm", &[]).await;
    let all = injections::read_injections().unwrap();
    assert!(all.len() >= 80, "{}", all.len());
    for (number, attempts) in all.chunks(PER_SPACE).enumerate() {
        let space = format!("attempts-{number}");
        let prompts_seen = attempts_stay_lines(&server, &running.api, &space, attempts).await;
        assert_eq!(prompts_seen, systems);
        attempts_stay_lines_in_loops(&server, &running.api, &space).await;
    }
    assert!(server.script().replies.is_empty());
    running.end().await.unwrap();
}
