//! Runs the teacher against an endpoint with scripted replies. The resulting data set can be trained on.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use adapters::models::endpoint::chat::{ChatEndpoint, Options};
use eval::check::check_data;
use eval::data::{Conversation, DataSet};
use serde_json::{Value, json};
use train::teach::source;
use train::teach::{TeachOutcome, Teacher, estimate_cost, generate_lessons};
use train::world::{build_examples, build_worlds};

/// Returns the reply of the endpoint to a prompt; `None` stands for an error status.
type Script = fn(prompt: &str) -> Option<String>;

/// An endpoint with OpenAI's chat API. It runs until the test process ends.
struct Endpoint {
    url: String,
    prompts: Arc<Mutex<Vec<String>>>,
}

impl Endpoint {
    fn start(script: Script) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let prompts = Arc::new(Mutex::new(Vec::new()));
        let shared_prompts = Arc::clone(&prompts);
        thread::spawn(move || {
            for connection in listener.incoming() {
                serve_connection(connection.unwrap(), script, &shared_prompts);
            }
        });
        Endpoint { url, prompts }
    }

    fn teacher(&self, calls_max: u32) -> Teacher {
        let options = Options {
            url: self.url.clone(),
            model: "parrot".to_owned(),
            ..Options::default()
        };
        Teacher {
            model: Arc::new(ChatEndpoint::new(&options).unwrap()),
            name: "parrot".to_owned(),
            calls_max,
            seed: 1,
        }
    }

    fn calls(&self) -> usize {
        self.prompts.lock().unwrap().len()
    }
}

/// Answers one request and ends the connection.
fn serve_connection(connection: TcpStream, script: Script, prompts: &Mutex<Vec<String>>) {
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
    let reply = script(&prompt);
    prompts.lock().unwrap().push(prompt);
    let (status, body) = match reply {
        Some(text) => (
            "200 OK",
            json!({
                "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 900, "completion_tokens": 80},
            }),
        ),
        None => ("400 Bad Request", json!({"error": {"message": "no such model"}})),
    };
    let body = body.to_string();
    let length = body.len();
    let mut connection = reader.into_inner();
    write!(
        connection,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .unwrap();
}

/// Replies with two questions, about the first and the third line of a stretch, and with two more that cannot be
/// learned from.
fn reply_with_question(_: &str) -> Option<String> {
    let question = |question: &str, answer: &str, supports: &[u32], anchor: u32| json!({"question": question, "answer": answer, "supports": supports, "anchor": anchor});
    let questions = [
        question("What did Ann make in her first week at work?", "sourdough", &[3], 1),
        question("In which town did Ann find a job?", "Leeds", &[1], 1),
        question("In which town did Ann find a job?", "Paris", &[1], 1),
        question("Who found a job in Leeds?", "Leeds", &[1], 1),
    ];
    Some(json!({ "questions": questions }).to_string())
}

fn create_folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes the file that `mnemic export` would write, newest session first, and reads it.
fn export_talks(folder: &std::path::Path, talks: usize) -> Vec<Conversation> {
    let turns = [
        ("Ann", "I start at the bakery in Leeds on Monday."),
        ("Tom", "Well done, what a relief after that winter!"),
        ("Ann", "First week over. They put me on the sourdough."),
    ];
    let mut lines = Vec::new();
    for talk in (0..talks).rev() {
        for (ordinal, (actor, text)) in turns.iter().enumerate() {
            let record = json!({"id": format!("r{talk}.{ordinal}"), "session": format!("s{talk}"), "ordinal": ordinal,
                "actor": actor, "text": text, "observed_at": format!("2024-05-{:02}T10:00:0{ordinal}Z", talk + 1)});
            lines.push(record.to_string());
        }
    }
    lines.push(
        json!({"id": "empty", "session": "s0", "actor": "Ann", "text": " ", "observed_at": "2024-05-01T10:00:00Z"})
            .to_string(),
    );
    lines.push(json!({"reading": {"kind": "events"}}).to_string());
    let path = folder.join("home.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    source::read_exports(&[path]).unwrap()
}

#[tokio::test]
async fn the_questions_of_a_teacher_form_a_data_set_to_train_on() {
    let endpoint = Endpoint::start(reply_with_question);
    let folder = create_folder("taught");
    let data = export_talks(&folder, 1);
    assert_eq!(data[0].conversation_id, "home");
    let out = folder.join("out");
    let planned = estimate_cost("parrot", 10, &data, &out).unwrap();
    assert_eq!((planned.stretches, planned.done, planned.calls), (1, 0, 1));
    assert!(planned.prompt_tokens > 300 && endpoint.calls() == 0);
    let taught = generate_lessons(&endpoint.teacher(10), &data, &out).await.unwrap();
    assert_eq!(
        (taught.questions, taught.left_out, taught.spent.calls, taught.open),
        (2, 2, 1, 0)
    );
    let set = DataSet::read(&out).unwrap();
    assert_eq!(check_data(&set).errors, Vec::<String>::new());
    let baked = set.questions.iter().find(|it| it.answer == "sourdough").unwrap();
    assert_eq!(
        (baked.evidence.as_slice(), baked.category.as_str()),
        (&["r0.0", "r0.2"].map(str::to_owned)[..], "multi-hop")
    );
    assert_eq!(baked.anchor.as_deref(), Some("r0.0"));
    // The router finds the evidence of the questions, so they can be trained on.
    let worlds = build_worlds(set).unwrap();
    let found = build_examples(&worlds, router::route::scoring::heads::Weights::builtin().unwrap()).unwrap();
    assert_eq!(found.len(), 2);
    for example in &found {
        let anchor = example.anchor.unwrap();
        assert!(example.gold[anchor] > 0.0 && example.places[anchor] == 0);
    }
    // A second run makes no call and gives the same result.
    let again = generate_lessons(&endpoint.teacher(10), &data, &out).await.unwrap();
    assert_eq!((again.questions, again.spent.calls, endpoint.calls()), (2, 0, 1));
    assert_eq!(estimate_cost("parrot", 10, &data, &out).unwrap().done, 1);
}

#[tokio::test]
async fn a_run_respects_its_call_limit_and_the_next_run_continues() {
    let endpoint = Endpoint::start(reply_with_question);
    let folder = create_folder("in_steps");
    // 60 turns are two stretches.
    let data = export_talks(&folder, 20);
    let out = folder.join("out");
    let first = generate_lessons(&endpoint.teacher(1), &data, &out).await.unwrap();
    assert_eq!((first.spent.calls, first.open), (1, 1));
    // The last line is incomplete.
    let lessons = out.join("lessons.jsonl");
    let whole = fs::read(&lessons).unwrap();
    fs::write(&lessons, [whole.as_slice(), b"{\"key\": \"torn"].concat()).unwrap();
    let second = generate_lessons(&endpoint.teacher(5), &data, &out).await.unwrap();
    assert_eq!((second.spent.calls, second.open, endpoint.calls()), (1, 0, 2));
    let prompts = endpoint.prompts.lock().unwrap().clone();
    assert_ne!(prompts[0], prompts[1]);
    assert!(
        prompts
            .iter()
            .any(|it| it.contains("\n1. [2024-05-01T10:00:00] Ann: I start at the bakery"))
    );
}

#[tokio::test]
async fn unreadable_replies_and_failures_are_reported() {
    let folder = create_folder("unwilling");
    let data = export_talks(&folder, 1);
    let silent = Endpoint::start(|_| Some("I would rather not.".to_owned()));
    let taught: TeachOutcome = generate_lessons(&silent.teacher(10), &data, &folder.join("out"))
        .await
        .unwrap();
    assert_eq!((taught.questions, taught.left_out, taught.spent.calls), (0, 1, 2));
    let broken = Endpoint::start(|_| None);
    let error = generate_lessons(&broken.teacher(10), &data, &folder.join("other"))
        .await
        .unwrap_err();
    let error = error.to_string();
    assert!(error.contains("0 questions were kept, run it again"), "{error}");
}

#[test]
fn an_error_names_the_data_that_cannot_be_read() {
    let folder = create_folder("unreadable");
    let path = folder.join("talk.jsonl");
    fs::write(
        &path,
        "{\"session\": \"s\", \"text\": \"Hi.\", \"observed_at\": \"2024-05-01T10:00:00Z\"}",
    )
    .unwrap();
    let error = format!("{:#}", source::read_exports(std::slice::from_ref(&path)).unwrap_err());
    assert!(
        error.contains("talk.jsonl, object 1") && error.contains("has no `id`"),
        "{error}"
    );
    fs::write(&path, "").unwrap();
    let error = source::read_exports(&[path]).unwrap_err().to_string();
    assert!(error.contains("there is no talk in the data"), "{error}");
}
