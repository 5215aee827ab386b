//! What turns state outright (REMem, section 3), for questions that ask for just that: where somebody lives, comes from or
//! works, as what, and how old they are. Who moved to Graz lives there, though no word of the question says so.

use domain::anchor::AnswerKind;
use domain::evidence::Turn;
use domain::message::AnswerV1;
use text::facts::{Slot, Statement, Subject, Telling, is_user, stated};
use text::{stem, words};

use crate::answer::{Found, person, shown};
use crate::pool::Pool;
use crate::question::Question;

/// What a turn states of others by a pronoun, or what only follows from it, is less sure than this.
const SURE: f32 = 0.65;

/// What a question asks for, and of whom.
pub(crate) struct Sought {
    asked: Asked,
    whom: Whom,
}

/// Whom a question asks about.
struct Whom {
    /// A name, in lower case.
    name: String,
    /// The stem of what somebody is to them: "Ann's father".
    role: Option<String>,
}

impl Sought {
    /// Reads a question; none if it asks for anything but what turns state outright.
    pub(crate) fn of(request: &AnswerV1, question: &Question) -> Option<Sought> {
        let lower = request.question.to_lowercase().replace('’', "'");
        let name = subject(request, question, &lower)?;
        let role = role(&lower, &name);
        let asked = if question.kind == AnswerKind::YesNo {
            still(question, &lower)
        } else {
            valued(question, &lower, role.as_deref())
        }?;
        Some(Sought {
            asked,
            whom: Whom { name, role },
        })
    }

    /// Finds what is stated last of whom the question asks about, or before that if it asks what was before; none if the last
    /// that was said is that it is over. To "does she still have it" that is the answer.
    pub(crate) fn find(&self, pool: &Pool<'_>) -> Option<Found> {
        let mut told: Vec<(usize, Statement)> = Vec::new();
        for (line, it) in pool.lines.iter().enumerate() {
            let of = |statement: &Statement| statement.confidence >= SURE && self.whom.is(statement, it.turn);
            told.extend(self.met(it.turn).filter(of).map(|it| (line, it)));
        }
        told.sort_by_key(|it| (pool.lines[it.0].turn.observed_at, pool.lines[it.0].turn.unit));
        let (line, last) = told.last()?;
        let observed_at = |line: usize| pool.lines[line].turn.observed_at;
        let over = last.ended || !last.positive || last.until.is_some_and(|it| it <= observed_at(*line));
        let (line, text) = match self.asked {
            Asked::Slot(_) => (!over).then(|| (*line, shown(&last.object))),
            Asked::Before(_) => {
                let past = |it: &&(usize, Statement)| !is_job(&it.1) && (over || it.1.object != last.object);
                told.iter().rev().find(past).map(|it| (it.0, shown(&it.1.object)))
            }
            Asked::Still(_) => over.then(|| (*line, "No".to_owned())),
        }?;
        Some(Found {
            text,
            lines: vec![line],
            share: 1.0,
            reason: Some(format!("stated on {}", observed_at(line).format("%-d %B %Y"))),
            conflict: false,
            stated: Some(last.confidence),
        })
    }

    /// Says whether a turn states what is asked for, but of others only.
    pub(crate) fn is_of_others(&self, turn: &Turn) -> bool {
        let mut found = self.met(turn).peekable();
        found.peek().is_some() && !found.any(|it| self.whom.is(&it, turn))
    }

    /// Returns the statements of a turn that tell what is asked for, of whomever.
    fn met(&self, turn: &Turn) -> impl Iterator<Item = Statement> {
        stated(&telling(turn)).into_iter().filter(|it| self.asked.met(it))
    }
}

fn telling(turn: &Turn) -> Telling<'_> {
    Telling {
        text: &turn.text,
        speaker: &turn.actor,
        addressee: &turn.addressee,
        observed_at: turn.observed_at,
    }
}

/// What would answer a question.
enum Asked {
    /// The value of a slot.
    Slot(Slot),
    /// The value that it had before.
    Before(Slot),
    /// That these are the case no more: stems that the statement has to hold.
    Still(Vec<String>),
}

impl Asked {
    fn met(&self, statement: &Statement) -> bool {
        match self {
            Asked::Slot(slot) | Asked::Before(slot) => {
                let left = statement.ended && is_job(statement) && matches!(slot, Slot::Job | Slot::Employer);
                left || statement.positive && slot.is_told_by(&statement.predicate)
            }
            Asked::Still(words) => {
                let said = text::stems(&format!("{} {}", statement.predicate, statement.object));
                words.iter().all(|it| said.contains(it))
            }
        }
    }
}

/// "I quit my job": it says no more which.
fn is_job(statement: &Statement) -> bool {
    statement.predicate == "has" && statement.object == "job"
}

fn still(question: &Question, lower: &str) -> Option<Asked> {
    let owning = |it: &str| matches!(it, "own" | "keep" | "possess");
    let stems = question.words.iter().map(|it| it.stem.clone());
    let words: Vec<String> = stems.filter(|it| !owning(it)).collect();
    (lower.contains(" still ") && !words.is_empty()).then_some(Asked::Still(words))
}

/// Reads which value a question asks for: every word of it belongs to the slot or to whom it is about. What was at some time
/// is not stated outright, only what is and what was before that.
fn valued(question: &Question, lower: &str, role: Option<&str>) -> Option<Asked> {
    let tokens = words(lower);
    let has = |list: &[&str]| tokens.iter().any(|it| list.contains(it));
    let before = has(&["before", "previously", "formerly"]) || lower.contains("used to");
    let other = has(&["first", "originally", "if", "would", "will", "not", "why", "when"]);
    if other || question.negated || !question.options.is_empty() || (!before && has(&["did", "was", "were", "had"])) {
        return None;
    }
    let slot = Slot::asked(lower)?;
    let framed = ["previous", "former", "use"];
    let belongs = |stem: &str| stem == question.head || role == Some(stem) || slot.words().contains(&stem);
    let fits = |stem: &str| belongs(stem) || (before && framed.iter().any(|it| stem.starts_with(it)));
    let all = question.words.iter().all(|it| fits(&it.stem));
    all.then_some(if before { Asked::Before(slot) } else { Asked::Slot(slot) })
}

/// Returns in lower case the speaker who is asked about, the user of an assistant who asks about themselves, or the only other
/// name.
fn subject(request: &AnswerV1, question: &Question, lower: &str) -> Option<String> {
    let user = || request.speakers.iter().find(|it| is_user(it));
    let own = words(lower).iter().any(|it| matches!(*it, "i" | "my"));
    let name = match (&question.subject, request.anchors.names.as_slice()) {
        (Some(speaker), []) => speaker,
        (None, []) if own => user()?,
        (None, [name]) if request.anchors.subjects.is_empty() && !own => name,
        _ => return None,
    };
    Some(name.to_lowercase())
}

/// Returns the stem of the word after "Ann's" or "my", if it is one for people.
fn role(lower: &str, name: &str) -> Option<String> {
    let words = words(lower);
    let named = |it: &str| name.split(' ').any(|word| word == it);
    let owns = |it: &&str| it.strip_suffix("'s").is_some_and(named) || *it == "my" && is_user(name);
    let next = words.get(words.iter().position(owns)? + 1)?;
    person(next).then(|| stem(next))
}

impl Whom {
    fn is(&self, statement: &Statement, turn: &Turn) -> bool {
        let named = |name: &str| same(&name.to_lowercase(), &self.name);
        match (&statement.subject, &self.role) {
            (Subject::Speaker, None) => named(&turn.actor),
            (Subject::Name(name), None) => named(name),
            (Subject::Phrase(phrase), Some(role)) => {
                named(&turn.actor) && words(phrase).last().is_some_and(|it| stem(it) == *role)
            }
            (Subject::Phrase(_), None) | (Subject::Speaker | Subject::Name(_), Some(_)) => false,
        }
    }
}

/// "Jorun" is "Jorun Berg"; two whole names have to be equal.
fn same(a: &str, b: &str) -> bool {
    let opens = |long: &str, short: &str| long.split(' ').next() == Some(short);
    a == b || opens(a, b) || opens(b, a)
}
