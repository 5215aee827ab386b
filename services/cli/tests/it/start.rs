//! First use: addresses and URLs as people type them, unsuitable keys, questions with filters, the demo.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::server::{Server, fresh_directory, line, mnemic};

fn url(server: &Server) -> &str {
    server.base.trim_end_matches("/v1")
}

#[test]
fn a_server_whose_admin_port_is_taken_says_so_before_anything_else() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let data = fresh_directory("start-taken");
    let mut command = mnemic();
    command.args(["serve", "--listen", "127.0.0.1:0", "--admin", &address]);
    let output = command.arg("--data").arg(&data).output().unwrap();
    let complained = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(
        complained.contains(&format!("cannot listen on {address} ([admin] listen)")),
        "{complained}"
    );
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0);
}

#[test]
fn custom_weights_that_do_not_fit_are_refused_with_advice() {
    let data = fresh_directory("start-weights");
    let path = data.join("weights.json");
    let refusal = include_str!("../../../reader/weights/refusal.json");
    let answers = include_str!("../../../reader/weights/answer.json");
    let printed = |command: &str, setting: &str, text: Option<&str>| {
        match text {
            Some(text) => std::fs::write(&path, text).unwrap(),
            None => std::fs::remove_file(&path).unwrap_or_default(),
        }
        let mut program = mnemic();
        program.arg(command).env(format!("MNEMIC_READER__{setting}"), &path);
        match command {
            "doctor" => program.args(["--url", "http://127.0.0.1:1", "--data"]),
            _ => program.arg("--data"),
        };
        let output = program.arg(data.join("memory")).output().unwrap();
        let printed = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        (output.status.code(), printed.concat())
    };
    let (code, all) = printed("config", "REFUSAL", Some(refusal));
    let line = format!("refusal = \"{}\"", path.display());
    assert!(code == Some(0) && all.contains(&line), "{all}");
    let (code, all) = printed("config", "ANSWERS", Some(answers));
    assert_eq!(code, Some(0), "{all}");

    let other = refusal.replace("reader-", "reader-0");
    for (command, code, setting, text, why) in [
        (
            "serve",
            1,
            "REFUSAL",
            Some(other.as_str()),
            "the weights are for features reader-0",
        ),
        (
            "serve",
            1,
            "ANSWERS",
            Some(refusal),
            "the weights cannot be read: unknown field `bias`",
        ),
        (
            "config",
            1,
            "ANSWERS",
            None,
            "weights.json cannot be read: No such file",
        ),
        (
            "doctor",
            3,
            "REFUSAL",
            Some("{}"),
            "the weights cannot be read: missing field",
        ),
    ] {
        let (ended, all) = printed(command, setting, text);
        let setting = setting.to_lowercase();
        let todo = format!("[reader] {setting}: name a file that `mnemic-train {setting}` of this version wrote");
        assert!(
            ended == Some(code) && all.contains(&todo) && all.contains(why),
            "{command}: {all}"
        );
    }
}

#[test]
fn an_address_may_be_a_name() {
    let mut command = mnemic();
    command.args(["serve", "--listen", "localhost:0", "--admin", "localhost:0"]);
    command.arg("--data").arg(fresh_directory("start-named"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut first = String::new();
    let read = BufReader::new(child.stdout.take().unwrap()).read_line(&mut first);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        read.is_ok() && first.contains("listens on http://localhost:0"),
        "{first}"
    );
    for wrong in ["localhost", "7077", ":7077", "localhost:port", "::1:7077x"] {
        let output = mnemic().args(["serve", "--listen", wrong]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong}: {output:?}");
    }
}

#[tokio::test]
async fn the_url_of_a_server_needs_no_scheme() {
    let server = Server::start(&fresh_directory("start-scheme")).await;
    let bare = url(&server).trim_start_matches("http://");
    let output = mnemic().args(["spaces", "list", "--url", bare]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn an_agent_whose_key_does_not_open_the_space_gets_an_explanation() {
    let output = mnemic().args(["keys", "new"]).output().unwrap();
    let made = String::from_utf8(output.stdout).unwrap();
    let key = made.lines().next().unwrap();
    let digest = made.split("sha256 = \"").nth(1).unwrap().split('"').next().unwrap();
    let keys = format!(r#"[{{name = "one", sha256 = "{digest}", spaces = ["ann"], rights = ["read", "write"]}}]"#);
    let server = Server::start_with(&fresh_directory("start-key"), |program| {
        let mut command = Command::new(program);
        command.arg("serve").env("MNEMIC_GATEWAY__KEYS", keys);
        command
    })
    .await;
    let mut command = mnemic();
    command.args(["mcp", "-s", "zzz", "--url", url(&server), "--key", key]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let complained = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        complained,
        "error: the space `zzz` cannot be read: 403 The key may not do this: the key does not open a space with this name\n"
    );
}

#[tokio::test]
async fn a_question_is_restricted_by_actor_session_and_time() {
    let talk = json!({ "records": [
        line("1", "Ines", "2026-03-02T18:00:00Z", "I painted the canoe blue."),
        line("2", "Omar", "2026-03-09T18:00:00Z", "I painted the canoe green."),
        line("3", "Ines", "2026-03-16T18:00:00Z", "I painted the canoe white."),
    ]});
    let server = Server::with_talk("start-ask", "pair", &talk).await;
    let cited = |bounds: &[&str]| {
        let mut command = mnemic();
        command.args([
            "ask",
            "Who painted the canoe?",
            "-s",
            "pair",
            "--json",
            "--time-ms",
            "20000",
            "--url",
            url(&server),
        ]);
        let output = command.args(bounds).output().unwrap();
        let reply: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        let items = reply["pack"]["items"].as_array().unwrap();
        let mut ids: Vec<String> = items
            .iter()
            .flat_map(|it| it["external_ids"].as_array().unwrap())
            .map(|it| it.as_str().unwrap().to_owned())
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(cited(&[]), ["1", "2", "3"]);
    assert_eq!(cited(&["--actor", "Omar"]), ["2"]);
    assert_eq!(
        cited(&["--session", "2026-03-02", "--session", "2026-03-16"]),
        ["1", "3"]
    );
    assert_eq!(cited(&["--from", "2026-03-09"]), ["2", "3"]);
    assert_eq!(cited(&["--until", "2026-03-09"]), ["1"]);
    assert_eq!(cited(&["--as-of", "2026-03-10"]), ["1", "2"]);
}

#[test]
fn the_demo_answers_withholds_one_answer_and_refuses_once() {
    let output = mnemic().arg("demo").output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{stdout}");
    assert_eq!(stdout.matches("\nAnswer: ").count(), 4, "{stdout}");
    assert_eq!(
        stdout
            .matches("\nVerdict: partial: the evidence may hold the answer")
            .count(),
        1,
        "{stdout}"
    );
    assert_eq!(stdout.matches("\nVerdict: insufficient").count(), 1, "{stdout}");
    for answer in ["15 April 2025", "Linden Street", "7,800 euros", "15 August 2025"] {
        assert!(stdout.contains(&format!("Answer: {answer}")), "{answer}: {stdout}");
    }
}

#[test]
fn settings_out_of_range_are_shown_and_refused() {
    let mut command = mnemic();
    command.arg("config").env("MNEMIC_GATEWAY__BATCH_MAX", "0");
    let output = command.output().unwrap();
    let (shown, complained) = (output.stdout, String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(shown).unwrap().contains("batch_max = 0"));
    assert!(complained.contains("batch_max must be 1 to 1024"), "{complained}");
}
