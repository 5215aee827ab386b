//! Information extraction by rule: facts that a turn states, about whom, what, and since when (MRAgent's semantic
//! layer; REMem's facts, section 3).
//!
//! The rules are for English and prefer precision to completeness. A text that asks, wishes, supposes, quotes, jokes or
//! tells a tale states nothing. Other languages are read as far as `gloss` knows their grammatical words.
//!
//! A clause is read as subject, verb and rest (`subject`, `verb_group`, `clause`). A rule of a rule file (`rules`) or
//! of a module (`state`, `properties`, `habit`) makes a draft of it, and `validity` adds its times.

mod clauses;
mod group_claim;
mod lexicon;
mod meant;
mod non_literal;
mod reader;
mod rules;
mod sentence;
mod single_order;
mod statements;
mod validity;

use std::ops::Range;

use chrono::{DateTime, FixedOffset, Utc};
use domain::fact::Aspect;
use domain::time::TimeSpan;

use statements::reply;

pub use group_claim::{is_claim_of_group, names_first_person};
pub use meant::{is_in_own_words, is_meant};
pub use sentence::{FactWords, fact_sentence, fact_sentence_after_subject};
pub use single_order::is_single_order;
pub use statements::correction::{Correction, apply_correction, read_correction};

/// Largest number of statements taken from one turn.
const STATEMENTS_MAX: usize = 24;
/// Largest number of sentences that are read from a text.
const SENTENCES_MAX: usize = 200;

/// One turn, as the rules read it.
#[derive(Clone, Copy, Debug)]
pub struct Telling<'a> {
    /// The text of the turn.
    pub text: &'a str,
    /// Name of the speaker; empty if unknown.
    pub speaker: &'a str,
    /// Name of the person who is addressed; empty if there is none or it is unknown.
    pub addressee: &'a str,
    /// Time of the turn.
    pub observed_at: DateTime<FixedOffset>,
}

/// The subject of a statement, in the words of the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The speaker of the turn.
    Speaker,
    /// A person in a role: "my sister".
    Phrase(String),
    /// A person with this name.
    Name(String),
}

/// One statement of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Person or thing that the statement is about.
    pub subject: Subject,
    /// Verb phrase in the third person: `likes`, `lives in`, `does not eat`.
    pub predicate: String,
    /// The value, in the words of the text.
    pub object: String,
    /// Kind of the statement.
    pub aspect: Aspect,
    /// False if the statement denies something (`does not eat`, `dislikes`).
    pub positive: bool,
    /// The time since which it holds, if the text says so.
    pub since: Option<TimeSpan>,
    /// The time until which the statement holds or held, if the text states it.
    pub until: Option<DateTime<Utc>>,
    /// True if it no longer holds.
    pub ended: bool,
    /// True if it reports an event at `since`, and not a state at the time of the turn.
    pub event: bool,
    /// True if it corrects an earlier statement.
    pub corrects: bool,
    /// Confidence, 0 to 1.
    pub confidence: f32,
}

/// Returns the statements of a turn, in order and without duplicates; none for a turn of an assistant or a tool.
pub fn statements_of_turn(telling: &Telling<'_>) -> Vec<Statement> {
    stated_in_reply(telling, "")
}

/// Returns the statements of a turn that answers the question of another speaker: "Lisbon" answers "Where do you
/// live?", and "she" means the sister of the question. With an empty question, the result is that of
/// [`statements_of_turn`].
pub fn stated_in_reply(telling: &Telling<'_>, question: &str) -> Vec<Statement> {
    stated_by_rules(telling, question).into_iter().map(|it| it.0).collect()
}

/// Returns the statements of [`stated_in_reply`], each with the name of the rule of `data/en/facts` that made it; the
/// name is empty for statements that no such rule made.
pub fn stated_by_rules(telling: &Telling<'_>, question: &str) -> Vec<(Statement, &'static str)> {
    let is_quote = crate::quoted_speaker(telling.text, telling.speaker, &[telling.addressee]).is_some();
    if is_quote
        || crate::people::role::is_assistant_to(telling.speaker, telling.addressee)
        || non_literal::is_joke(telling.text)
    {
        return Vec::new();
    }
    let prose = crate::mask_non_prose(telling.text);
    let telling = &Telling {
        text: prose.get(..non_literal::end_of_meant_text(&prose)).unwrap_or_default(),
        ..*telling
    };
    let sentences = sentence_ranges(telling.text);
    let mut reader = reader::Reader::new(telling, question);
    for (at, range) in sentences.iter().enumerate() {
        let text = |it: Option<&Range<usize>>| it.and_then(|it| telling.text.get(it.clone())).unwrap_or_default();
        let before = at.checked_sub(1).and_then(|it| sentences.get(it));
        reader.read_sentence(range.clone(), text(before), text(sentences.get(at + 1)));
        reader.asked_back(range.clone());
    }
    let mut out: Vec<(Statement, &str)> = Vec::new();
    for (statement, rule) in reader
        .into_statements()
        .into_iter()
        .chain(statements_of_elliptic_reply(telling, question))
    {
        let known = out.iter().any(|(it, _)| {
            it.subject == statement.subject
                && it.predicate == statement.predicate
                && it.object.eq_ignore_ascii_case(&statement.object)
        });
        if !known && out.len() < STATEMENTS_MAX {
            out.push((statement, rule));
        }
    }
    out
}

/// Returns the statements of a reply that omits the words of its question.
fn statements_of_elliptic_reply(telling: &Telling<'_>, question: &str) -> Vec<(Statement, &'static str)> {
    let Some(full_reply) = reply::complete_reply(question, telling.text) else {
        return Vec::new();
    };
    let full_reply = Telling {
        text: &full_reply,
        ..*telling
    };
    let mut reader = reader::Reader::new(&full_reply, "");
    reader.read_sentence(0..full_reply.text.len(), "", "");
    reader.into_statements()
}

/// Returns the byte ranges of the sentences of a text. Questions are left out, but a statement before a tag remains: "I
/// moved" of "I moved, did I tell you?".
fn sentence_ranges(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    for sentence in crate::split_sentences(text).into_iter().take(SENTENCES_MAX) {
        let start = sentence.as_ptr() as usize - text.as_ptr() as usize;
        let mut end = start + sentence.len();
        let asked = crate::ends_asking(sentence.trim_end_matches(['"', ')', '\u{201d}', '!', ' ']));
        if asked {
            let tag_comma = (!crate::people::ownership::is_untagged_question(sentence))
                .then(|| sentence.rfind(','))
                .flatten();
            end = tag_comma.map_or(start, |it| start + it);
        }
        out.push(start..end);
    }
    out
}
