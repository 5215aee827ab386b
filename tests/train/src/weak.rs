//! Makes questions from traces by program. Each asks for the state of a thing after its last change (the weak labels
//! of S3Mem).

use std::collections::BTreeMap;

use domain::unit::StateChange;
use eval::data::Question;

use crate::world::World;

/// Adds to each world a question for every state that changed at least twice in it. The evidence is the turn of the
/// last change.
pub fn add_weak_questions(worlds: &mut [World]) {
    for world in worlds {
        let mut last: BTreeMap<(String, String), (usize, String)> = BTreeMap::new();
        for turn in world.view.turns() {
            for change in &turn.unit.changes {
                let entry = last.entry(key_of_change(change)).or_default();
                entry.0 += 1;
                entry.1 = turn.unit.external_ids().into_iter().next().unwrap_or_default();
            }
        }
        let made = last.into_iter().filter(|(_, (count, _))| *count >= 2).enumerate();
        let made: Vec<Question> = made
            .map(|(number, ((subject, key), (_, turn)))| Question {
                id: format!("{}-w{number}", world.name),
                conversation_id: world.name.clone(),
                split: Some(world.setting.clone()),
                question: word_question(&subject, &key),
                answer: String::new(),
                accept: Vec::new(),
                category: "weak".to_owned(),
                category_id: None,
                evidence: vec![turn],
                anchor: None,
                evidence_groups: Vec::new(),
                answerable: true,
                options: Vec::new(),
                rubric: Vec::new(),
                trap_evidence: Vec::new(),
                audit_error: None,
                evidence_audited: Vec::new(),
                answer_audited: None,
            })
            .collect();
        world.questions.extend(made);
    }
}

fn key_of_change(change: &StateChange) -> (String, String) {
    (change.subject.clone(), change.key.clone())
}

fn word_question(subject: &str, key: &str) -> String {
    match key {
        "location" => format!("Where is {subject} now?"),
        _ => format!("What is the {key} of {subject} now?"),
    }
}
