//! Converts the chat formats: LoCoMo, REALTALK, LongMemEval, BEAM.

use eval::convert::Format;
use serde_json::{Value, json};

use super::converted;

fn samples() -> Value {
    json!([{
        "sample_id": "talk-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_2_date_time": "9:30 am on 11 May, 2026",
            "session_2": [{ "speaker": "Ben", "dia_id": "D2:1", "text": "The kite flew!" }],
            "session_1_date_time": "7:05 pm on 4 May, 2026",
            "session_1": [
                { "speaker": "Ada", "dia_id": "D1:1", "text": "I built a red kite." },
                { "speaker": "Ben", "dia_id": "D1:2", "text": "", "img_url": ["https://example.org/kite.jpg"],
                  "blip_caption": "a photo of a kite" },
                { "speaker": "Ben", "dia_id": "D1:3", "text": " " },
            ],
            "session_3_date_time": "1:00 pm on 20 May, 2026",
        },
        "qa": [
            { "question": "What did Ada build?", "answer": "a kite", "evidence": ["D1:01; D2:1"], "category": 1 },
            { "question": "How many kites?", "answer": 1, "evidence": ["D:1:2", "D9:9"], "category": 4 },
            { "question": "What did Ben build?", "adversarial_answer": "a kite", "evidence": ["D1:1"], "category": 5 },
        ],
        "event_summary": {},
    }])
}

#[test]
fn locomo_samples_keep_turns_pictures_and_evidence() {
    let made = converted(Format::Locomo, "talks.json", &samples().to_string());
    assert_eq!(
        (made.counts.conversations, made.counts.turns, made.counts.questions),
        (1, 3, 3)
    );
    let turns = &made.data.conversations[0].turns;
    let ids: Vec<&str> = turns.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["D1:1", "D1:2", "D2:1"]);
    assert_eq!(turns[0].timestamp, "2026-05-04T19:05:00");
    assert_eq!(turns[2].timestamp, "2026-05-11T09:30:00");
    assert_eq!(turns[1].image_caption.as_deref(), Some("a photo of a kite"));
    assert_eq!(turns[1].image_uri.as_deref(), Some("https://example.org/kite.jpg"));
    let asked = &made.data.questions;
    assert_eq!(asked[0].evidence, ["D1:1", "D2:1"]);
    assert_eq!(
        (asked[0].category.as_str(), asked[0].category_id),
        ("multi-hop", Some(1))
    );
    assert_eq!((asked[1].answer.as_str(), asked[1].evidence.len()), ("1", 1));
    assert!(!asked[2].answerable && asked[2].evidence.is_empty());
    assert_eq!(asked[2].trap_evidence, ["D1:1"]);
    let notes: Vec<(&str, usize)> = made
        .counts
        .notes
        .0
        .iter()
        .map(|(what, count)| (*what, *count))
        .collect();
    assert_eq!(
        notes,
        [
            ("evidence that names no turn, left out", 1),
            ("turns without text and caption, left out", 1)
        ]
    );
}

#[test]
fn realtalk_chats_are_named_after_their_files() {
    let chat = json!({
        "name": { "speaker_1": "Cleo", "speaker_2": "Dan" },
        "session_1_date_time": "04.05.2026, 10:00:00",
        "session_1": [
            { "clean_text": "Tea is ready.", "speaker": "Cleo", "dia_id": "D1:1", "date_time": "04.05.2026, 10:00:09" },
            { "clean_text": "Coming!", "speaker": "Dan", "dia_id": "D1:2", "date_time": "04.05.2026, 10:00:05" },
        ],
        "qa": [{ "question": "What was ready?", "answer": "Tea", "evidence": ["D1:1"], "category": "2" }],
    });
    let made = converted(Format::Realtalk, "Chat_1.json", &chat.to_string());
    let talk = &made.data.conversations[0];
    assert_eq!(talk.conversation_id, "Chat_1");
    assert_eq!(talk.speakers, ["Cleo", "Dan"]);
    // Inside a session, turns keep their order and times never decrease.
    assert_eq!(talk.turns[1].timestamp, "2026-05-04T10:00:09");
    assert_eq!(made.data.questions[0].category, "temporal");
}

#[test]
fn longmemeval_questions_have_their_own_sessions_and_time() {
    let instance = |id: &str, labels: bool| {
        let mut turn_with_answer = json!({ "role": "user", "content": "My bike is blue." });
        if labels {
            turn_with_answer["has_answer"] = json!(true);
        }
        json!({
            "question_id": id, "question_type": "single-session-user", "question": "What colour is my bike?",
            "answer": "Blue", "question_date": "2026/05/30 (Sat) 23:40",
            "haystack_dates": ["2026/05/20 (Wed) 02:21", "2026/05/04 (Mon) 10:00"],
            "haystack_session_ids": ["late", "early"],
            "haystack_sessions": [
                [turn_with_answer, { "role": "assistant", "content": "Nice." }],
                [{ "role": "user", "content": "Hello." }],
            ],
            "answer_session_ids": ["late"],
        })
    };
    let content = json!([instance("q1", true), instance("q2", false), instance("q3_abs", true)]);
    let made = converted(Format::Longmemeval, "set.json", &content.to_string());
    let first = &made.data.conversations[0];
    let ids: Vec<&str> = first.turns.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["early:1", "late:1", "late:2"]);
    assert_eq!(made.times["q1"], "2026-05-30T23:40:00");
    let asked = &made.data.questions;
    assert_eq!(asked[0].evidence, ["late:1"]);
    assert_eq!(asked[1].evidence_groups, [["late:1", "late:2"]]);
    assert!(!asked[2].answerable && asked[2].answer.is_empty());
}

#[test]
fn beam_chats_are_read_at_every_nesting_level() {
    let message = |id: u32, text: &str| json!({ "role": "user", "id": id, "content": text });
    let mut dated = message(0, "I run a bakery.");
    dated["time_anchor"] = json!("May-04-2026");
    let asked = json!({
        "information_extraction": [
            { "question": "What do I run?", "answer": "a bakery", "source_chat_ids": { "told": [0] }, "rubric": ["bakery"] }
        ],
        "abstention": [{ "question": "Who is my baker?", "ideal_response": "Not said.", "source_chat_ids": [] }],
    });
    let nestings = [
        json!([[dated, message(1, "Hi.")], [message(2, "Bye.")]]),
        json!([{ "batch_number": 1, "turns": [[dated, message(1, "Hi.")]] }, { "turns": [[message(2, "Bye.")]] }]),
        json!([{ "plan-1": [{ "turns": [[dated, message(1, "Hi.")]] }] }, { "plan-2": [{ "turns": [[message(0, "Bye.")]] }] }]),
    ];
    for chat in nestings {
        let sample = json!({ "conversation_id": "1", "chat": chat, "probing_questions": asked.to_string() });
        let made = converted(Format::Beam, "beam.jsonl", &sample.to_string());
        let turns = &made.data.conversations[0].turns;
        assert_eq!(turns.len(), 3, "{sample}");
        assert_ne!(turns[0].session, turns[2].session, "{sample}");
        assert!(turns.iter().all(|it| it.timestamp == "2026-05-04T00:00:00"), "{sample}");
        let of = |category: &str| made.data.questions.iter().find(|it| it.category == category).unwrap();
        assert_eq!(of("information-extraction").evidence, ["0"]);
        assert_eq!(of("information-extraction").rubric, ["bakery"]);
        assert!(!of("abstention").answerable);
    }
}

#[test]
fn a_bare_chat_of_beam_takes_its_questions_from_another_file() {
    let dir = tempfile::tempdir().unwrap();
    let (chat, questions) = (dir.path().join("chat.json"), dir.path().join("questions.json"));
    let messages = json!([[{ "role": "user", "id": 7, "content": "I keep bees." }]]);
    std::fs::write(&chat, messages.to_string()).unwrap();
    let asked =
        json!({ "summarization": [{ "question": "Sum it up.", "ideal_summary": "Bees.", "source_chat_ids": [7] }] });
    std::fs::write(&questions, asked.to_string()).unwrap();
    let out = dir.path().join("out");
    let conversion = eval::convert::Conversion {
        format: Format::Beam,
        files: vec![chat],
        questions: Some(questions),
        out: out.clone(),
    };
    let counts = eval::convert::convert_data(&conversion).unwrap();
    assert_eq!((counts.turns, counts.questions), (1, 1));
    let data = eval::data::DataSet::read(&out).unwrap();
    assert_eq!(data.questions[0].evidence, ["7"]);
}
