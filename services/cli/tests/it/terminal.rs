//! The output of commands that print stored text, over the real services.

use serde_json::{Value, json};

use crate::import::run;
use crate::server::{Server, line};

/// Texts that control a terminal, reorder the displayed text, or hide in it.
const HOSTILE: [&str; 32] = [
    "\x1b[2J",
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x1b]52;c;cm0gLXJm\x07",
    "\x1b]8;;http://evil.example\x1b\\",
    "\x1bP+q\x1b\\",
    "\x1bc",
    "\x1b[6n",
    "\x1b[?1049h",
    "\x1b[1A",
    "\u{9b}2J",
    "\u{9d}52;c;x\u{9c}",
    "\u{90}q\u{9c}",
    "\u{85}",
    "a\rb",
    "\x08\x08",
    "\x07",
    "\x7f",
    "\x0b",
    "\x0e",
    "\u{202e}gpj.exe",
    "\u{202d}",
    "\u{2066}",
    "\u{2069}",
    "\u{200f}",
    "\u{61c}",
    "An\u{200b}n",
    "An\u{200d}n",
    "\u{feff}",
    "\u{ad}",
    "\u{2028}",
    "\u{e0041}",
];

/// Returns `text` if names and texts may contain it. Control characters are refused there, and are stored only in
/// results of tools.
fn accepted(text: &str) -> &str {
    match text.chars().any(char::is_control) {
        true => "",
        false => text,
    }
}

fn talk() -> Value {
    let records = HOSTILE.iter().enumerate().map(|(number, text)| {
        let text_with_name = format!("My gate code {number} is {} 4711.", accepted(text));
        let actor = format!("Ann{}", accepted(text));
        let mut record = line(&format!("h{number}"), &actor, "2026-03-02T18:00:00Z", &text_with_name);
        record["tool"] = json!({
            "name": "gate", "arguments": { "code": text }, "result": format!("gate {number} says {text} opened")
        });
        record["image_caption"] = json!(format!("a gate {}", accepted(text)));
        record
    });
    json!({ "records": records.collect::<Vec<_>>() })
}

/// Returns true if a terminal would interpret the character or not show it.
fn is_unsafe(next: char) -> bool {
    let hidden = matches!(next, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    hidden || (next.is_control() && !matches!(next, '\n' | '\t'))
}

#[tokio::test]
async fn stored_text_cannot_act_on_a_terminal() {
    let server = Server::with_talk("terminal", "gate", &talk()).await;
    let commands: [&[&str]; 16] = [
        &["ask", "What is the gate code?", "-s", "gate", "--explain", "20"],
        &["ask", "What is the gate code?", "-s", "gate", "--json"],
        &["ask", "\x1b[2J?", "-s", "gate"],
        &["records", "-s", "gate"],
        &["records", "-s", "gate", "h3"],
        &["units", "-s", "gate"],
        &["facts", "-s", "gate", "--all"],
        &["facts", "-s", "gate", "--all", "--json"],
        &["entities", "-s", "gate"],
        &["entities", "-s", "gate", "--json"],
        &["topics", "-s", "gate"],
        &["pages", "-s", "gate"],
        &["curations", "-s", "gate"],
        &["recall", "My gate code 3 changed", "-s", "gate", "--actor", "Ann"],
        &["recall", "My gate code 3 changed", "-s", "gate", "--json"],
        &["records", "-s", "gate", "\x1b]52;c;x\x07"],
    ];
    for command in commands {
        let (_, stdout, stderr) = run(&server, command);
        let unsafe_ones: Vec<char> = stdout
            .chars()
            .chain(stderr.chars())
            .filter(|it| is_unsafe(*it))
            .collect();
        assert!(unsafe_ones.is_empty(), "{command:?} printed {unsafe_ones:?}");
    }
    // The text is printed in escaped form; the JSON has the same data.
    let (_, stdout, _) = run(&server, &["records", "-s", "gate"]);
    assert!(stdout.contains(r"My gate code 20 is \u{202e}gpj.exe 4711."), "{stdout}");
    let (_, stdout, _) = run(&server, &["units", "-s", "gate"]);
    assert!(
        stdout.contains(r"gate 3 says \u{1b}]52;c;cm0gLXJm\u{7} opened"),
        "{stdout}"
    );
    let (_, stdout, _) = run(&server, &["records", "-s", "gate", "h11"]);
    let record: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(record["tool"]["result"], "gate 11 says \u{9d}52;c;x\u{9c} opened");
}

#[tokio::test]
async fn an_export_into_a_pipe_is_byte_exact() {
    let server = Server::with_talk("terminal-export", "gate", &talk()).await;
    let (code, stdout, _) = run(&server, &["export", "-s", "gate", "--out", "-"]);
    assert_eq!(code, Some(0));
    let result = |line: &str| serde_json::from_str::<Value>(line).unwrap()["tool"]["result"].take();
    let results: Vec<Value> = stdout.lines().map(result).collect();
    let sent: Vec<String> = (0..HOSTILE.len())
        .map(|number| format!("gate {number} says {} opened", HOSTILE[number]))
        .collect();
    assert_eq!(results, sent);
    assert!(
        stdout.contains('\u{9d}') && stdout.contains('\u{202e}'),
        "C1 controls and marks stay as they are"
    );
}
