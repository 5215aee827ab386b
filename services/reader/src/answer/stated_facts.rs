//! Facts that turns state outright (REMem, section 3), for questions that ask for just such a fact: the name, home,
//! origin, workplace, job, age, allergies and relatives of a person. A statement need not share a word with the
//! question: a person who moved to Graz lives there.

mod contradictions;
mod later_changes;
mod line_statements;
mod multi_value_slots;
mod requested_fact;

use chrono::{DateTime, TimeDelta, Utc};
use domain::anchor::AnswerKind;
use domain::evidence::Turn;
use domain::fact::Aspect;
use domain::message::AnswerV1;
use domain::predicate::Predicate;
use domain::question::Slot;
use text::facts::{Statement, Subject};
use text::lexicon::kin;
use text::people::role::is_user;
use text::question::slot;
use text::{gloss, split_words, stem_word};

use crate::answer::{FoundAnswer, strip_speaker_words};
use crate::evidence::evidence_lines::Pool;
use crate::evidence::question::Question;
use crate::evidence::word_classes::is_person_word;
use later_changes::{has_moved_since, is_reversed_since};
use line_statements::{LineStatement, find_line_statements};
use multi_value_slots::is_called_wrong;
use requested_fact::{RequestedFact, find_asked_state, find_asked_value, is_job};

/// Minimum confidence of a statement that counts. A statement about another person by a pronoun, or one that is only
/// inferred, has less.
const SURE: f32 = 0.65;

/// The fact that a question asks for, and the person whom it is about.
pub(crate) struct Sought {
    requested_fact: RequestedFact,
    whom: Whom,
    /// The time of the question.
    asked_at: Option<DateTime<Utc>>,
    /// "Yes" and "No" in the language of the question.
    replies: [&'static str; 2],
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
    pub(crate) fn from_question(request: &AnswerV1, question: &Question, pool: &Pool<'_>) -> Option<Sought> {
        let lower = &question.lower;
        let asked_at = request.anchors.asked_at.map(|it| it.to_utc());
        if let Some(name) = &question.identity {
            return Some(Sought {
                requested_fact: RequestedFact::Who(name.to_lowercase()),
                whom: Whom::default(),
                asked_at,
                replies: question.replies,
            });
        }
        let name = find_subject(request, question, lower)?;
        let role = find_role(lower, &name).filter(|_| !matches!(question.slot, Some(Slot::Relative(_))));
        // "Does Ann have an allergy, and to what?" asks for more than yes or no.
        let value = || find_asked_value(question, lower, &name, role.as_deref());
        let requested_fact = if question.kind == AnswerKind::YesNo {
            let of_role = |it: &RequestedFact| role.is_none() || matches!(it, RequestedFact::Still(_));
            let state = || find_asked_state(question, lower, &name).filter(of_role);
            let values = question.slot.as_ref().filter(|it| **it == Slot::Allergy);
            values.and_then(|_| value()).or_else(state)
        } else {
            value()
        }?;
        let own = Whom {
            name,
            ..Whom::default()
        };
        let called = role.as_ref().map(|it| own.find_relatives(it, pool)).unwrap_or_default();
        Some(Sought {
            requested_fact,
            whom: Whom { role, called, ..own },
            asked_at,
            replies: question.replies,
        })
    }

    /// Returns the last statement of the requested fact, or the one before it if the question asks for the former
    /// value. Returns `None` if the last statement or later words say that the fact has ended; for "does she still have
    /// it", that is the answer.
    pub(crate) fn find_answer(&self, pool: &Pool<'_>) -> Option<FoundAnswer> {
        let statements = self.find_statements(pool);
        if matches!(self.requested_fact, RequestedFact::Slot(Slot::Allergy)) {
            return self.all_that_hold(&statements, pool);
        }
        if let Some(contradicted) = self.find_contradiction(&statements, pool) {
            return Some(contradicted);
        }
        let last = statements.last()?;
        let observed_at = |it: &LineStatement| pool.lines[it.line].turn.observed_at;
        let over = self.is_over(last, pool);
        let (statement, text) = match &self.requested_fact {
            RequestedFact::Who(_) => (!over).then(|| (last, describe_relative(last, pool.lines[last.line].turn))),
            RequestedFact::Slot(_) => (!over).then(|| (last, strip_speaker_words(&last.object))),
            RequestedFact::Before(_) => {
                let past = |it: &&LineStatement| !is_job(it) && (over || it.object != last.object);
                let before = statements.iter().rev().find(past);
                before.map(|it| (it, strip_speaker_words(&it.object)))
            }
            RequestedFact::Still(_) => over.then(|| (last, self.replies[1].to_owned())),
            RequestedFact::Whether(stems) => {
                let is_clear = self.requested_fact.is_whole_of(last)
                    && !is_denied_by_another(&statements)
                    && !is_reversed_since(last, stems, pool)
                    && (over || !is_called_wrong(last, &last.object, pool));
                is_clear.then(|| (last, self.replies[usize::from(over)].to_owned()))
            }
        }?;
        Some(FoundAnswer {
            text,
            lines: statement.lines().collect(),
            share: 1.0,
            reason: Some(format!("stated on {}", observed_at(statement).format("%-d %B %Y"))),
            conflict: false,
            is_doubtful: false,
            stated: Some(last.confidence),
        })
    }

    /// Returns the line of the last statement of the requested present value, if that value has ended. Returns `None` for
    /// allergies, of which a denial ends nothing.
    pub(crate) fn find_end(&self, pool: &Pool<'_>) -> Option<usize> {
        let is_value = matches!(&self.requested_fact, RequestedFact::Slot(slot) if *slot != Slot::Allergy);
        let statements = self.find_statements(pool);
        let last = statements.last().filter(|it| is_value && self.is_over(it, pool))?;
        Some(last.line)
    }

    /// Returns the statements that count as statements of the requested fact, the latest one last.
    fn find_statements(&self, pool: &Pool<'_>) -> Vec<LineStatement> {
        let mut statements = find_line_statements(pool);
        statements.retain(|it| {
            self.requested_fact.is_answered_by(it)
                && it.confidence >= SURE
                && self.is_about(it, pool.lines[it.line].turn)
                && !self.is_to_come(it)
        });
        statements.sort_by_key(|it| (pool.lines[it.line].turn.observed_at, pool.lines[it.line].turn.unit));
        if matches!(self.requested_fact, RequestedFact::Slot(Slot::Home | Slot::Employer)) {
            leave_out_ends_of_other_values(&mut statements, pool);
        }
        statements
    }

    /// Returns true if a statement says that the fact has ended, or if its time or later words say so.
    fn is_over(&self, statement: &LineStatement, pool: &Pool<'_>) -> bool {
        let observed_at = pool.lines[statement.line].turn.observed_at;
        statement.ended
            || !statement.positive
            || self.is_past(statement, observed_at.to_utc())
            || self.requested_fact.is_home() && has_moved_since(statement, pool)
    }

    /// Returns the role that the question names, if no turn ever mentions a person in that role. Then no name can be
    /// the answer: there is no son, only a daughter.
    pub(crate) fn unheard_role(&self, pool: &Pool<'_>) -> Option<&str> {
        let role = match (&self.requested_fact, &self.whom.role) {
            (RequestedFact::Slot(Slot::Relative(role)), _) | (_, Some(role)) => role,
            _ => return None,
        };
        let slot = &Slot::Relative(role.rsplit(' ').next().unwrap_or_default().to_owned());
        let family = role
            .split(' ')
            .all(|it| kin::find_relation(it).is_some() || kin::word_added_by_modifier(it).is_some());
        let spoken = |text: &str| {
            let english = gloss::to_english(text);
            let mut words = split_words(&english)
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
        matches!(self.requested_fact, RequestedFact::Who(_)) || self.whom.is_subject_of(statement, turn)
    }
}

/// Leaves out statements that another value has ended than the one that was stated last: somebody who lives in Graz may
/// say "I don't live in Vienna any more". Values that are not names may mean the same: a flat may be in Graz. A job that
/// ended long before the last value was stated is another one: "I quit in 2019".
fn leave_out_ends_of_other_values(statements: &mut Vec<LineStatement>, pool: &Pool<'_>) {
    let mut present: Option<String> = None;
    let mut stated_at: Option<DateTime<Utc>> = None;
    statements.retain(|it| {
        if !it.ended {
            present = Some(it.object.clone());
            stated_at = Some(pool.lines[it.line].turn.observed_at.to_utc());
        }
        let ends_other_name = || {
            present
                .as_deref()
                .is_some_and(|value| are_different_names(value, &it.object))
        };
        let ends_earlier_job = || {
            let end = it.until.filter(|_| is_job(it));
            end.zip(stated_at).is_some_and(|(end, stated)| end + EARLIER < stated)
        };
        !it.ended || !ends_other_name() && !ends_earlier_job()
    });
}

/// Minimum time between the end of a job and the statement of another one; a vague end such as "in March" is inexact.
const EARLIER: TimeDelta = TimeDelta::days(31);

/// Returns true if two values are names that share no word.
fn are_different_names(a: &str, b: &str) -> bool {
    let is_name = |words: &[&str]| !words.is_empty() && words.iter().all(|it| it.starts_with(char::is_uppercase));
    let (a, b) = (split_words(a), split_words(b));
    let is_in_b = |word: &&str| b.iter().any(|it| it.to_lowercase() == word.to_lowercase());
    is_name(&a) && is_name(&b) && !a.iter().any(is_in_b)
}

/// Returns true if the last statement is by another person, and the person's own one says the opposite.
fn is_denied_by_another(statements: &[LineStatement]) -> bool {
    let own = statements.iter().rfind(|it| it.subject == Subject::Speaker);
    let last = statements.last().filter(|it| it.subject != Subject::Speaker);
    let holds = |it: &LineStatement| it.positive && !it.ended;
    own.zip(last).is_some_and(|(own, last)| holds(own) != holds(last))
}

/// Returns the role of the object of a statement relative to its subject: "sister" of "has sister Ann".
fn kinship_role(statement: &Statement) -> Option<&str> {
    let Predicate::HasRole(role) = Predicate::from_verb_phrase(&statement.predicate) else {
        return None;
    };
    (statement.aspect == Aspect::Relation).then_some(role)
}

/// Returns the role of a named person: "Ann's sister"; for a relative of the user of an assistant, the role alone.
fn describe_relative(statement: &Statement, turn: &Turn) -> String {
    let role = kinship_role(statement).unwrap_or_default();
    match &statement.subject {
        Subject::Speaker if is_user(&turn.actor) => role.to_owned(),
        Subject::Speaker => format!("{}'s {role}", turn.actor),
        Subject::Name(name) => format!("{name}'s {role}"),
        Subject::Phrase(phrase) => format!("{}'s {role}", strip_speaker_words(phrase)),
    }
}

/// Returns, in lower case, the speaker whom the question is about, the user of an assistant who asks about himself or
/// herself, or the only other name. Returns `None` if the question names several people.
fn find_subject(request: &AnswerV1, question: &Question, lower: &str) -> Option<String> {
    let user = || request.speakers.iter().find(|it| is_user(it));
    let own = split_words(lower).iter().any(|it| matches!(*it, "i" | "my"));
    let name = match (&question.subject, request.anchors.names.as_slice()) {
        (Some(speaker), []) => speaker,
        (None, []) if own => user()?,
        (None, [name]) if request.anchors.subjects.is_empty() && !own => name,
        _ => return None,
    };
    Some(name.to_lowercase())
}

/// Returns the word after "Ann's" or "my", if it is a word for a person.
fn find_role(lower: &str, name: &str) -> Option<String> {
    let words = split_words(lower);
    let is_in_name = |it: &str| name.split(' ').any(|word| word == it);
    let owns = |it: &&str| it.strip_suffix("'s").is_some_and(is_in_name) || *it == "my" && is_user(name);
    let next = words.get(words.iter().position(owns)? + 1)?;
    is_person_word(next).then(|| (*next).to_owned())
}

impl Whom {
    fn is_subject_of(&self, statement: &Statement, turn: &Turn) -> bool {
        let is_this_person = |name: &str| may_be_same_person(&name.to_lowercase(), &self.name);
        match (&statement.subject, &self.role) {
            (Subject::Speaker, None) => is_this_person(&turn.actor),
            (Subject::Name(name), None) => is_this_person(name),
            (Subject::Phrase(phrase), Some(role)) => {
                is_this_person(&turn.actor)
                    && split_words(phrase)
                        .last()
                        .is_some_and(|it| stem_word(it) == stem_word(role))
            }
            (Subject::Name(name), Some(_)) => self
                .called
                .iter()
                .any(|it| may_be_same_person(&name.to_lowercase(), it)),
            (Subject::Phrase(_), None) | (Subject::Speaker, Some(_)) => false,
        }
    }

    /// Returns, in lower case, the names of the people who are stated to have the `role` for this person.
    fn find_relatives(&self, role: &str, pool: &Pool<'_>) -> Vec<String> {
        let slot = &Slot::Relative(role.to_owned());
        let mut statements = find_line_statements(pool);
        statements.retain(|it| {
            kinship_role(it).is_some()
                && slot::is_told_by(slot, &it.predicate)
                && self.is_subject_of(it, pool.lines[it.line].turn)
        });
        statements.iter().map(|it| it.object.to_lowercase()).collect()
    }
}

/// Returns true if two names may be the same person: "Jorun" is "Jorun Berg", but two full names must be equal.
fn may_be_same_person(a: &str, b: &str) -> bool {
    let opens = |long: &str, short: &str| long.split(' ').next() == Some(short);
    a == b || opens(a, b) || opens(b, a)
}
