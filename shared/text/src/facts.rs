//! Facts that a turn states: who, what, since when (MRAgent's semantic layer; REMem's facts, section 3).
//!
//! Rules of English, made to be right rather than complete: what is asked, wished, supposed, quoted, joked or told as a
//! tale states nothing. Other languages are read as far as `gloss` has their frame in English. A clause is read as subject,
//! verb and the rest (`subject`, `group`, `said`), a rule of a rule file (`rules`) or of a module (`state`, `thing`, `habit`)
//! makes a draft of it, and `when` gives it its times.

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

/// Most statements that one turn yields.
const STATEMENTS_MAX: usize = 24;
/// Longest text that is read, in sentences.
const SENTENCES_MAX: usize = 200;

/// One turn.
#[derive(Clone, Copy, Debug)]
pub struct Telling<'a> {
    /// What is said.
    pub text: &'a str,
    /// Who says it; empty if not known.
    pub speaker: &'a str,
    /// Who is spoken to; empty if nobody or not known.
    pub addressee: &'a str,
    /// When it is said.
    pub observed_at: DateTime<FixedOffset>,
}

/// Whom a statement is about, as told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Who speaks.
    Speaker,
    /// Somebody by their role: "my sister".
    Phrase(String),
    /// Somebody by name.
    Name(String),
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Whom it is about.
    pub subject: Subject,
    /// Verb phrase in the third person: `likes`, `lives in`, `does not eat`.
    pub predicate: String,
    /// The value as told.
    pub object: String,
    /// What kind of statement it is.
    pub aspect: Aspect,
    /// False: the statement says what is not so (`does not eat`, `dislikes`).
    pub positive: bool,
    /// Since when it holds, if that was told.
    pub since: Option<TimeSpan>,
    /// When it ceases or ceased to hold, if that was told.
    pub until: Option<DateTime<Utc>>,
    /// It does not hold any more.
    pub ended: bool,
    /// It tells what happened at `since`, and not what is so when it is told.
    pub event: bool,
    /// It puts right what was said before.
    pub corrects: bool,
    /// 0 to 1.
    pub confidence: f32,
}

/// Returns what a turn states, in order, without duplicates. What an assistant or a tool says states nothing.
pub fn stated(told: &Telling<'_>) -> Vec<Statement> {
    stated_in_reply(told, "")
}

/// Returns what a turn states that answers the question of another speaker: "Lisbon" to "Where do you live?", and "she" is the
/// sister who was asked about. With an empty question the same as [`stated`].
pub fn stated_in_reply(told: &Telling<'_>, question: &str) -> Vec<Statement> {
    stated_by_rules(told, question).into_iter().map(|it| it.0).collect()
}

/// Returns what [`stated_in_reply`] does, each with the name of the rule of `data/en/facts` that made it; empty if none of these.
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

/// What a turn states that leaves out what its question said.
fn replied(told: &Telling<'_>, question: &str) -> Vec<(Statement, &'static str)> {
    let Some(whole) = reply::completed(question, told.text) else {
        return Vec::new();
    };
    let whole = Telling { text: &whole, ..*told };
    let mut reader = reader::Reader::new(&whole, "");
    reader.sentence(0..whole.text.len(), "", "");
    reader.stated()
}

/// Sentences as bytes of the text. Questions are left out; of "I moved, did I tell you?" the statement stays.
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
