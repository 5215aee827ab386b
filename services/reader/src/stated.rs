//! Facts that turns state outright (REMem, section 3), for questions that ask for just such a fact: the name, home,
//! origin, workplace, job, age, allergies and relatives of a person. A statement need not share a word with the
//! question: a person who moved to Graz lives there.

mod asked;
mod contradicted;
mod several;

use chrono::{DateTime, Utc};
use domain::anchor::AnswerKind;
use domain::evidence::Turn;
use domain::fact::Aspect;
use domain::message::AnswerV1;
use domain::predicate::Predicate;
use domain::question::Slot;
use text::facts::{Statement, Subject, Telling, stated_in_reply};
use text::question::slot;
use text::role::is_user;
use text::{gloss, kin, stem, words};

use crate::answer::{Found, person, shown};
use crate::pool::Pool;
use crate::question::Question;
use asked::{Asked, is_job, still, valued};

/// Least confidence of a statement that counts. A statement about another person by a pronoun, or one that is only
/// inferred, has less.
const SURE: f32 = 0.65;

/// The fact that a question asks for, and the person whom it is about.
pub(crate) struct Sought {
    asked: Asked,
    whom: Whom,
    /// The time of the question.
    asked_at: Option<DateTime<Utc>>,
    /// "No" in the language of the question.
    no: &'static str,
}

/// The person whom a question is about.
#[derive(Default)]
struct Whom {
    /// A name, in lower case.
    name: String,
    /// The role of another person relative to the named one: "father" of "Ann's father".
    role: Option<String>,
    /// Names of the people in that role, in lower case.
    called: Vec<String>,
}

impl Sought {
    /// Returns the fact that a question asks for, or `None` if turns do not state such facts outright.
    pub(crate) fn of(request: &AnswerV1, question: &Question, pool: &Pool<'_>) -> Option<Sought> {
        let lower = &question.lower;
        let asked_at = request.anchors.asked_at.map(|it| it.to_utc());
        if let Some(name) = &question.identity {
            return Some(Sought {
                asked: Asked::Who(name.to_lowercase()),
                whom: Whom::default(),
                asked_at,
                no: question.replies[1],
            });
        }
        let name = subject(request, question, lower)?;
        let role = role(lower, &name).filter(|_| !matches!(question.slot, Some(Slot::Relative(_))));
        // "Does Ann have an allergy, and to what?" asks for more than yes or no.
        let asked = if question.kind == AnswerKind::YesNo && question.slot != Some(Slot::Allergy) {
            still(question, lower)
        } else {
            valued(question, lower, (&name, role.as_deref()))
        }?;
        let own = Whom {
            name,
            ..Whom::default()
        };
        let called = role.as_ref().map(|it| own.relatives(it, pool)).unwrap_or_default();
        Some(Sought {
            asked,
            whom: Whom { role, called, ..own },
            asked_at,
            no: question.replies[1],
        })
    }

    /// Returns the last statement of the requested fact, or the one before it if the question asks for the former
    /// value. Returns `None` if the last statement says that the fact has ended; for "does she still have it", that is
    /// the answer.
    pub(crate) fn find(&self, pool: &Pool<'_>) -> Option<Found> {
        let mut told: Vec<(usize, Statement)> = Vec::new();
        for (line, it) in pool.lines.iter().enumerate() {
            let of = |statement: &Statement| {
                statement.confidence >= SURE && self.is_about(statement, it.turn) && !self.is_to_come(statement)
            };
            told.extend(self.met(it.turn).filter(of).map(|it| (line, it)));
        }
        told.sort_by_key(|it| (pool.lines[it.0].turn.observed_at, pool.lines[it.0].turn.unit));
        if matches!(self.asked, Asked::Slot(Slot::Allergy)) {
            return self.all_that_hold(&told, pool);
        }
        if let Some(contradicted) = self.contradicted(&told, pool) {
            return Some(contradicted);
        }
        let (line, last) = told.last()?;
        let observed_at = |line: usize| pool.lines[line].turn.observed_at;
        let over = last.ended || !last.positive || self.is_past(last, observed_at(*line).to_utc());
        let (line, text) = match &self.asked {
            Asked::Who(_) => (!over).then(|| (*line, relative(last, pool.lines[*line].turn))),
            Asked::Slot(_) => (!over).then(|| (*line, shown(&last.object))),
            Asked::Before(_) => {
                let past = |it: &&(usize, Statement)| !is_job(&it.1) && (over || it.1.object != last.object);
                told.iter().rev().find(past).map(|it| (it.0, shown(&it.1.object)))
            }
            Asked::Still(_) => over.then(|| (*line, self.no.to_owned())),
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

    /// Returns the role that the question names, if no turn ever mentions a person in that role. Then no name can be
    /// the answer: there is no son, only a daughter.
    pub(crate) fn unheard_role(&self, pool: &Pool<'_>) -> Option<&str> {
        let role = match (&self.asked, &self.whom.role) {
            (Asked::Slot(Slot::Relative(role)), _) | (_, Some(role)) => role,
            _ => return None,
        };
        let slot = &Slot::Relative(role.rsplit(' ').next().unwrap_or_default().to_owned());
        let family = role
            .split(' ')
            .all(|it| kin::of(it).is_some() || kin::modifier(it).is_some());
        let spoken = |text: &str| {
            let english = gloss::english(text);
            let mut words = words(&english)
                .into_iter()
                .map(|it| it.to_lowercase().replace('’', "'"));
            words.any(|it| slot::is_told_by(slot, &format!("has {}", it.strip_suffix("'s").unwrap_or(&it))))
        };
        let mut turns = pool.lines.iter().map(|it| it.turn);
        (family && !turns.any(|it| spoken(&it.text) || spoken(&it.caption))).then_some(role.as_str())
    }

    /// Returns true if a statement has ended: "I work here until May" was said in April, and the question is asked in
    /// June.
    fn is_past(&self, statement: &Statement, observed_at: DateTime<Utc>) -> bool {
        let now = self.asked_at.map_or(observed_at, |it| it.max(observed_at));
        statement.until.is_some_and(|it| it <= now)
    }

    /// Returns true if a statement is not valid yet: "we move into the flat on 1 February", before that day.
    fn is_to_come(&self, statement: &Statement) -> bool {
        let since = statement.since.as_ref().map(|it| it.start);
        since
            .zip(self.asked_at)
            .is_some_and(|(since, asked_at)| asked_at < since)
    }

    fn is_about(&self, statement: &Statement, turn: &Turn) -> bool {
        matches!(self.asked, Asked::Who(_)) || self.whom.is(statement, turn)
    }

    /// Returns the statements of a turn that state the requested fact, about any person.
    fn met(&self, turn: &Turn) -> impl Iterator<Item = Statement> {
        stated(turn).into_iter().filter(|it| self.asked.met(it))
    }
}

/// Returns the statements of a turn, including those that it makes by answering a question.
fn stated(turn: &Turn) -> Vec<Statement> {
    let told = Telling {
        text: &turn.text,
        speaker: &turn.actor,
        addressee: &turn.addressee,
        observed_at: turn.observed_at,
    };
    stated_in_reply(&told, &turn.question)
}

/// Returns the role of the object of a statement relative to its subject: "sister" of "has sister Ann".
fn kinship(statement: &Statement) -> Option<&str> {
    let Predicate::HasRole(role) = Predicate::of(&statement.predicate) else {
        return None;
    };
    (statement.aspect == Aspect::Relation).then_some(role)
}

/// Returns the role of a named person: "Ann's sister"; for a relative of the user of an assistant, the role alone.
fn relative(statement: &Statement, turn: &Turn) -> String {
    let role = kinship(statement).unwrap_or_default();
    match &statement.subject {
        Subject::Speaker if is_user(&turn.actor) => role.to_owned(),
        Subject::Speaker => format!("{}'s {role}", turn.actor),
        Subject::Name(name) => format!("{name}'s {role}"),
        Subject::Phrase(phrase) => format!("{}'s {role}", shown(phrase)),
    }
}

/// Returns, in lower case, the speaker whom the question is about, the user of an assistant who asks about himself or
/// herself, or the only other name. Returns `None` if the question names several people.
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

/// Returns the word after "Ann's" or "my", if it is a word for a person.
fn role(lower: &str, name: &str) -> Option<String> {
    let words = words(lower);
    let named = |it: &str| name.split(' ').any(|word| word == it);
    let owns = |it: &&str| it.strip_suffix("'s").is_some_and(named) || *it == "my" && is_user(name);
    let next = words.get(words.iter().position(owns)? + 1)?;
    person(next).then(|| (*next).to_owned())
}

impl Whom {
    fn is(&self, statement: &Statement, turn: &Turn) -> bool {
        let named = |name: &str| same(&name.to_lowercase(), &self.name);
        match (&statement.subject, &self.role) {
            (Subject::Speaker, None) => named(&turn.actor),
            (Subject::Name(name), None) => named(name),
            (Subject::Phrase(phrase), Some(role)) => {
                named(&turn.actor) && words(phrase).last().is_some_and(|it| stem(it) == stem(role))
            }
            (Subject::Name(name), Some(_)) => self.called.iter().any(|it| same(&name.to_lowercase(), it)),
            (Subject::Phrase(_), None) | (Subject::Speaker, Some(_)) => false,
        }
    }

    /// Returns, in lower case, the names of the people who are stated to be `role` of this person.
    fn relatives(&self, role: &str, pool: &Pool<'_>) -> Vec<String> {
        let slot = &Slot::Relative(role.to_owned());
        let of = |turn: &Turn| {
            let mut told = stated(turn);
            told.retain(|it| kinship(it).is_some() && slot::is_told_by(slot, &it.predicate) && self.is(it, turn));
            told
        };
        let told = pool.lines.iter().flat_map(|it| of(it.turn));
        told.map(|it| it.object.to_lowercase()).collect()
    }
}

/// Returns true if two names may be the same person: "Jorun" is "Jorun Berg", but two full names must be equal.
fn same(a: &str, b: &str) -> bool {
    let opens = |long: &str, short: &str| long.split(' ').next() == Some(short);
    a == b || opens(a, b) || opens(b, a)
}
