//! Invalid files are rejected with file, item and field.

use eval::convert::{Conversion, Format, convert_data};
use serde_json::json;

use super::refusal;

#[test]
fn an_error_names_file_item_and_field() {
    let turn = json!({ "speaker": "Ada", "dia_id": "D1:1", "text": "Hello." });
    let talk = |session: serde_json::Value, time: &str| json!([{ "sample_id": "t", "conversation": { "session_1": session, "session_1_date_time": time } }]);
    let good = "7:05 pm on 4 May, 2026";
    let chat = |part: serde_json::Value| json!({ "conversation_id": 4, "chat": [part] });
    let context = json!([{ "context": "a", "questions": ["b?"], "answers": [] }]);
    for (format, content, expected) in [
        (
            Format::Locomo,
            talk(json!([turn, { "speaker": 5 }]), good),
            "f.json, item 1 (t), field conversation.session_1[1].speaker: invalid type: integer `5`, expected a string",
        ),
        (
            Format::Locomo,
            talk(json!([turn, { "text": "Hi." }]), good),
            "f.json, item 1 (t), field conversation.session_1[1].speaker: it is missing",
        ),
        (
            Format::Locomo,
            talk(json!([turn]), "some day"),
            "f.json, item 1 (t), field conversation.session_1_date_time: \"some day\" is no time that is known",
        ),
        (
            Format::Locomo,
            json!([{ "sample_id": "t", "conversation": {} }]),
            "f.json, item 1 (t), field conversation.session_1: there is no session",
        ),
        (
            Format::Longmemeval,
            json!([{ "question_id": "q", "question": "?" }]),
            "f.json, item 1 (q), field .: missing field `haystack_sessions`",
        ),
        (
            Format::Beam,
            chat(json!("text")),
            "f.json, item 1 (4), field chat[0]: a message, a list or a batch is wanted",
        ),
        (
            Format::MemoryAgentBench,
            context,
            "f.json, item 1, field answers: there are 0 for 1 questions",
        ),
        (
            Format::Trajectory,
            json!({ "episode": "e", "action": "go" }),
            "f.json, item 1 (e), field .: missing field `step`",
        ),
        (
            Format::Trajectory,
            json!({ "episode": "e", "question": "?" }),
            "episode e has questions and no steps",
        ),
    ] {
        assert_eq!(refusal(format, "f.json", &content), expected);
    }
}

#[test]
fn an_existing_data_set_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f.jsonl");
    std::fs::write(&file, json!({ "episode": "e", "step": 1, "action": "go" }).to_string()).unwrap();
    let conversion = Conversion {
        format: Format::Trajectory,
        files: vec![file],
        questions: None,
        out: dir.path().join("out"),
    };
    convert_data(&conversion).unwrap();
    let error = convert_data(&conversion).unwrap_err().to_string();
    assert!(
        error.ends_with("conversations.jsonl exists: name an empty folder, or remove it"),
        "{error}"
    );
}
