//! Facts that a turn states: about whom, what, and since when (MRAgent's semantic layer; REMem's facts, section 3).
//!
//! The rules are for English and prefer precision to completeness. A text that asks, wishes, supposes, quotes, jokes or
//! tells a tale states nothing. Other languages are read as far as `gloss` knows their grammatical words.
//!
//! A clause is read as subject, verb and rest (`subject`, `group`, `said`). A rule of a rule file (`rules`) or of a
//! module (`state`, `thing`, `habit`) makes a draft of it, and `when` adds its times.

mod apposed;
mod correction;
mod group;
mod guard;
mod habit;
mod lexicon;
mod reader;
mod reply;
mod rules;
mod said;
mod state;
mod subject;
mod thing;
mod token;
mod verb;
mod when;

use std::ops::Range;

use chrono::{DateTime, FixedOffset, Utc};
use domain::fact::Aspect;
use domain::time::TimeSpan;

pub use correction::{Correction, corrected, correction};

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

/// Whom a statement is about, in the words of the text.
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
    /// Whom it is about.
    pub subject: Subject,
    /// Verb phrase in the third person: `likes`, `lives in`, `does not eat`.
    pub predicate: String,
    /// The value, in the words of the text.
    pub object: String,
    /// What kind of statement it is.
    pub aspect: Aspect,
    /// False if the statement denies something (`does not eat`, `dislikes`).
    pub positive: bool,
    /// The time since which it holds, if the text says so.
    pub since: Option<TimeSpan>,
    /// The time until which it holds or held, if the text says so.
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
pub fn stated(told: &Telling<'_>) -> Vec<Statement> {
    stated_in_reply(told, "")
}

/// Returns the statements of a turn that answers the question of another speaker: "Lisbon" answers "Where do you
/// live?", and "she" means the sister of the question. With an empty question, the result is that of [`stated`].
pub fn stated_in_reply(told: &Telling<'_>, question: &str) -> Vec<Statement> {
    stated_by_rules(told, question).into_iter().map(|it| it.0).collect()
}

/// Returns the statements of [`stated_in_reply`], each with the name of the rule of `data/en/facts` that made it; the
/// name is empty for statements that no such rule made.
pub fn stated_by_rules(told: &Telling<'_>, question: &str) -> Vec<(Statement, &'static str)> {
    let is_quote = crate::quoted_speaker(told.text, told.speaker, &[told.addressee]).is_some();
    if is_quote || crate::role::is_assistant_to(told.speaker, told.addressee) || guard::joking(told.text) {
        return Vec::new();
    }
    let prose = crate::prose(told.text);
    let told = &Telling { text: &prose, ..*told };
    let sentences = ranges(told.text);
    let mut reader = reader::Reader::new(told, question);
    for (at, range) in sentences.iter().enumerate() {
        let text = |it: Option<&Range<usize>>| it.and_then(|it| told.text.get(it.clone())).unwrap_or_default();
        let before = at.checked_sub(1).and_then(|it| sentences.get(it));
        reader.sentence(range.clone(), text(before), text(sentences.get(at + 1)));
        reader.asked_back(range.clone());
    }
    let mut out: Vec<(Statement, &str)> = Vec::new();
    for (statement, rule) in reader.stated().into_iter().chain(replied(told, question)) {
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
fn replied(told: &Telling<'_>, question: &str) -> Vec<(Statement, &'static str)> {
    let Some(whole) = reply::completed(question, told.text) else {
        return Vec::new();
    };
    let whole = Telling { text: &whole, ..*told };
    let mut reader = reader::Reader::new(&whole, "");
    reader.sentence(0..whole.text.len(), "", "");
    reader.stated()
}

/// Returns the byte ranges of the sentences of a text. Questions are left out, but a statement before a tag remains: "I
/// moved" of "I moved, did I tell you?".
fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    for sentence in crate::sentences(text).into_iter().take(SENTENCES_MAX) {
        let start = sentence.as_ptr() as usize - text.as_ptr() as usize;
        let mut end = start + sentence.len();
        let asked = crate::ends_asking(sentence.trim_end_matches(['"', ')', '\u{201d}', '!', ' ']));
        if asked {
            let told = (!crate::ownership::asks(sentence))
                .then(|| sentence.rfind(','))
                .flatten();
            end = told.map_or(start, |it| start + it);
        }
        out.push(start..end);
    }
    out
}
