//! Converts contexts of MemoryAgentBench, and trajectories.

use eval::convert::Format;
use serde_json::json;

use super::converted;

#[test]
fn contexts_are_cut_into_turns_and_questions_keep_all_right_answers() {
    let paragraph = "The mill stands at the river. ".repeat(40);
    let context = format!("{paragraph}\n\n{paragraph}\n\nThe miller is called Ivo.");
    let sample = json!({
        "context": context,
        "questions": ["Who is the miller?", "Where is the mill?"],
        "answers": [["Ivo", "Ivo the miller"], "at the river"],
        "metadata": { "source": "mills", "qa_pair_ids": ["a", "b"], "question_dates": ["2026/05/04 10:00", null] },
    });
    let made = converted(Format::MemoryAgentBench, "mab.jsonl", &format!("{sample}\n"));
    let talk = &made.data.conversations[0];
    assert_eq!(talk.conversation_id, "mills-1");
    assert!(talk.turns.len() >= 2 && talk.turns.iter().all(|it| it.text.chars().count() <= 2_000));
    let length: usize = talk.turns.iter().map(|it| it.text.split_whitespace().count()).sum();
    assert_eq!(length, context.split_whitespace().count());
    let asked = &made.data.questions;
    assert_eq!((asked[0].id.as_str(), asked[0].answer.as_str()), ("mills-1-a", "Ivo"));
    assert_eq!(asked[0].accept, ["Ivo the miller"]);
    assert_eq!(made.times["mills-1-a"], "2026-05-04T10:00:00");
    assert!(!made.times.contains_key("mills-1-b"));
}

#[test]
fn steps_become_turns_of_agent_and_environment_with_step_and_place() {
    let lines = [
        json!({ "episode": "lamp", "step": 2, "action": "take lamp", "observation": "You have the lamp.", "place": "cellar" }),
        json!({ "episode": "lamp", "step": 1, "goal": "Find the lamp.", "action": { "go": "down" }, "observation": "",
                "image": "file:///frames/1.png", "caption": "a dark cellar", "time": "2026-05-04T10:00:00" }),
        json!({ "episode": "garden", "step": 1, "action": "look", "observation": "A gate." }),
        json!({ "episode": "lamp", "question": "Where was the lamp?", "answer": "in the cellar", "evidence": [2, 9] }),
        json!({ "episode": "lamp", "question": "Who sold it?", "answer": null, "evidence": [2] }),
    ];
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let made = converted(Format::Trajectory, "runs.jsonl", &lines.join("\n"));
    assert_eq!(made.counts.conversations, 2);
    let lamp = &made.data.conversations[0];
    let ids: Vec<&str> = lamp.turns.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["goal", "1.action", "1.observation", "2.action", "2.observation"]);
    assert_eq!(lamp.turns[1].text, "{\"go\":\"down\"}");
    assert_eq!(lamp.turns[2].image_caption.as_deref(), Some("a dark cellar"));
    assert_eq!(lamp.turns[2].image_uri.as_deref(), Some("file:///frames/1.png"));
    assert_eq!(lamp.turns[3].metadata["location"], "cellar");
    assert_eq!(lamp.turns[3].metadata["step"], "2");
    let asked = &made.data.questions;
    assert_eq!(asked[0].evidence_groups, [["2.action", "2.observation"]]);
    assert!(!asked[1].answerable);
    assert_eq!(made.counts.notes.0["evidence that names no step, left out"], 1);
}
