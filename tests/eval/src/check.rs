//! Checks the format of a data set: unique ids, order in time, evidence that exists, and answers that their evidence
//! supports.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::NaiveDateTime;

use crate::data::{Conversation, DataSet, Question, Turn};
use crate::score::words::content_of_text;

/// Result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Violations of the format.
    pub errors: Vec<String>,
    /// Possible mistakes that may be intended: answers whose words are not in their evidence.
    pub notes: Vec<String>,
    /// Counts by name: conversations, turns, questions by category.
    pub counts: BTreeMap<String, usize>,
}

/// Returns the errors, notes and counts of a data set.
pub fn check_data(data: &DataSet) -> Findings {
    let mut findings = Findings::default();
    let mut conversations = HashMap::new();
    for conversation in &data.conversations {
        if conversations
            .insert(conversation.conversation_id.as_str(), conversation)
            .is_some()
        {
            findings
                .errors
                .push(format!("conversation {} stands twice", conversation.conversation_id));
        }
        check_turns(conversation, &mut findings);
    }
    let mut seen = BTreeSet::new();
    for question in &data.questions {
        if !seen.insert(&question.id) {
            findings.errors.push(format!("question {} stands twice", question.id));
        }
        match conversations.get(question.conversation_id.as_str()) {
            Some(conversation) => check_question(question, conversation, &mut findings),
            None => findings
                .errors
                .push(format!("question {} is about an unknown conversation", question.id)),
        }
        *findings
            .counts
            .entry(format!("questions, {}", question.category))
            .or_default() += 1;
    }
    let turns = data.conversations.iter().map(|it| it.turns.len()).sum();
    let unanswerable = data.questions.iter().filter(|it| !it.answerable).count();
    findings.counts.insert("conversations".into(), data.conversations.len());
    findings.counts.insert("turns".into(), turns);
    findings.counts.insert("questions".into(), data.questions.len());
    findings
        .counts
        .insert("questions without an answer".into(), unanswerable);
    findings
}

fn check_turns(conversation: &Conversation, findings: &mut Findings) {
    let (mut ids, mut closed) = (BTreeSet::new(), BTreeSet::new());
    let mut before: Option<(&Turn, NaiveDateTime)> = None;
    for turn in &conversation.turns {
        let mut error = |what: &str| {
            findings
                .errors
                .push(format!("turn {} of {}: {what}", turn.id, conversation.conversation_id));
        };
        if !ids.insert(&turn.id) {
            error("its id stands twice");
        }
        if turn.whole().trim().is_empty() {
            error("it has neither text nor image caption");
        }
        if !conversation.speakers.is_empty() && !conversation.speakers.contains(&turn.speaker) {
            error("its speaker is not among the speakers");
        }
        if closed.contains(&turn.session) {
            error("its session was left and comes again");
        }
        let Ok(at) = turn.timestamp.parse::<NaiveDateTime>() else {
            error("its timestamp is not ISO 8601 without a zone");
            continue;
        };
        if let Some((previous, earlier)) = before {
            if at < earlier {
                error("it is earlier than the turn before it");
            }
            if previous.session != turn.session {
                closed.insert(&previous.session);
            }
        }
        before = Some((turn, at));
    }
}

fn check_question(question: &Question, conversation: &Conversation, findings: &mut Findings) {
    let turns: HashMap<&str, &Turn> = conversation.turns.iter().map(|it| (it.id.as_str(), it)).collect();
    let evidence: Vec<&String> = question
        .evidence
        .iter()
        .chain(question.evidence_groups.iter().flatten())
        .collect();
    let mut error = |what: String| findings.errors.push(format!("question {}: {what}", question.id));
    for id in evidence.iter().copied().chain(&question.trap_evidence) {
        if !turns.contains_key(id.as_str()) {
            error(format!("its conversation has no turn {id}"));
        }
    }
    if question.question.trim().is_empty() {
        error("it asks nothing".into());
    }
    if question.split != conversation.split {
        error("it is not in the split of its conversation".into());
    }
    if question.answerable && question.answer.trim().is_empty() {
        error("it is answerable and has no answer".into());
    }
    let has_gold = !question.answer.is_empty() || !evidence.is_empty();
    if !question.answerable && has_gold {
        error("it is not answerable and has an answer or evidence".into());
    }
    if question.answerable && evidence.is_empty() {
        findings
            .notes
            .push(format!("question {}: it has no evidence", question.id));
    } else if question.answerable {
        note_unborne(question, &evidence, &turns, findings);
    }
}

/// Adds a note about an answer that has no content word in common with its evidence. Some such answers are right:
/// dates are computed, and "yes" or "no" is a judgement.
fn note_unborne(question: &Question, evidence: &[&String], turns: &HashMap<&str, &Turn>, findings: &mut Findings) {
    let shown = evidence.iter().filter_map(|id| turns.get(id.as_str()));
    let words = shown
        .flat_map(|turn| content_of_text(&format!("{}: {}", turn.speaker, turn.whole())))
        .collect();
    let answer = content_of_text(&question.answer);
    if !answer.is_empty() && answer.is_disjoint(&words) {
        findings.notes.push(format!(
            "question {}: no word of its answer stands in its evidence",
            question.id
        ));
    }
}
