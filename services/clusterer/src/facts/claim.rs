//! Claims: statements with their subject, their times and their place among others.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset, Utc};
use domain::fact::{Aspect, Fact};
use domain::id::{FactId, SessionId, UnitId};
use domain::time::{Precision, TimeSpan};
use text::facts::{Statement, Subject};

use super::slot::{Said, Slot, Sort, Whose, sort};
use super::told::Told;
use crate::{Acts, Named};

/// A statement in comparable form.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    /// The fact it becomes if no other claim closes it.
    pub(super) fact: Arc<Fact>,
    /// The teller, and the phrase by which the teller means the subject.
    pub(super) subject: (String, String),
    pub(super) session: SessionId,
    /// Time of the statement, and the id of the fact as stated, before any correction.
    pub(super) told: (DateTime<Utc>, FactId),
    /// Time at which a user corrected the fact to this value.
    pub(super) made: Option<DateTime<Utc>>,
    /// Time at which a user retired or corrected it, and the fact that replaces it, if any.
    pub(super) undone: Option<(DateTime<Utc>, Option<FactId>)>,
    /// Time at which a user forgot its unit.
    pub(super) forgotten: Option<DateTime<Utc>>,
    /// A moment at which it surely held, or at which it ended.
    pub(super) vouched: DateTime<Utc>,
    pub(super) positive: bool,
    pub(super) single: bool,
    pub(super) ended: bool,
    pub(super) event: bool,
    pub(super) corrects: bool,
    /// True if the statement says since when it holds.
    pub(super) since_told: bool,
    /// True if the subject itself makes the statement.
    pub(super) own: bool,
    /// Stems of the value, sorted; empty: any.
    pub(super) value: Box<[String]>,
    pub(super) slot: Slot,
    /// Slots in which it ends the current values.
    pub(super) ends: Vec<Slot>,
}

/// The subject of a statement, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) teller: String,
    pub(super) phrase: String,
    pub(super) whose: Whose,
    pub(super) named: Option<Named>,
    /// The subject in words.
    pub(super) shown: String,
}

/// Returns the phrase by which the teller means the subject; "I" for the teller.
pub(super) fn phrase(subject: &Subject) -> &str {
    match subject {
        Subject::Speaker => "I",
        Subject::Phrase(phrase) | Subject::Name(phrase) => phrase,
    }
}

impl About {
    /// Describes a subject: by the name of its entity, otherwise in the teller's words, such as "Ann's sister".
    pub(super) fn of(subject: &Subject, actor: &str, named: Option<Named>) -> About {
        let teller = if actor.is_empty() { "user" } else { actor };
        let told = |phrase: &str| Whose::Told {
            teller: teller.to_lowercase(),
            phrase: phrase.to_lowercase(),
        };
        let (whose, shown) = match (&named, subject) {
            (Some(Named { id: Some(id), name }), _) => (Whose::Entity(*id), name.clone()),
            (Some(Named { id: None, name }), _) => (Whose::OfSeveral(name.to_lowercase()), name.clone()),
            (None, Subject::Speaker) => (told(""), teller.to_owned()),
            (None, Subject::Phrase(it)) => {
                let role = it.strip_prefix("my ").unwrap_or(it);
                (told(it), format!("{teller}'s {role}"))
            }
            (None, Subject::Name(it)) => (told(it), it.clone()),
        };
        About {
            teller: actor.to_owned(),
            phrase: phrase(subject).to_owned(),
            whose,
            named,
            shown,
        }
    }
}

/// Returns the claims of a statement: one as stated, then one for each correction by a user.
pub(super) fn claims(told: &Told, statement: &Statement, about: &About, acts: &Acts) -> Vec<Claim> {
    let id = FactId::derive(
        told.place.2,
        phrase(&statement.subject),
        &statement.predicate,
        &statement.object,
    );
    let decided = acts.decided(id);
    let undone = |at: usize| {
        let next = decided.get(at)?;
        Some((next.at, next.instead.as_ref().map(|it| it.0)))
    };
    let mut first = claim(told, statement, about, (id, id, None));
    first.undone = undone(0);
    let mut claims = vec![first];
    for (number, decision) in (1..).zip(decided) {
        let Some((corrected, object)) = &decision.instead else {
            continue;
        };
        let statement = Statement {
            object: object.clone(),
            ..statement.clone()
        };
        let made = Some(decision.at);
        claims.push(Claim {
            undone: undone(number),
            ..claim(told, &statement, about, (*corrected, id, made))
        });
    }
    claims
}

fn claim(
    told: &Told,
    statement: &Statement,
    about: &About,
    (id, first, made): (FactId, FactId, Option<DateTime<Utc>>),
) -> Claim {
    let observed = told.place.0.to_utc();
    let Sort {
        family,
        stem,
        value,
        single,
        ends,
    } = sort(&said(statement, told.place.0));
    let slot = |family: &str, stem: &str| Slot {
        whose: about.whose.clone(),
        family: family.to_owned(),
        stem: stem.to_owned(),
    };
    let (valid_from, valid_until) = times(statement, observed);
    let recorded = made.map_or(observed, |it| it.max(observed));
    Claim {
        subject: (about.teller.clone(), about.phrase.clone()),
        session: told.session,
        told: (observed, first),
        made,
        undone: None,
        forgotten: None,
        vouched: vouched(statement, &valid_from, valid_until, observed),
        positive: statement.positive,
        single,
        ended: statement.ended,
        event: statement.event,
        corrects: statement.corrects,
        since_told: statement.since.is_some(),
        own: statement.subject == Subject::Speaker && about.teller == told.actor,
        value: value.into_iter().collect(),
        slot: slot(&family, &stem),
        ends: ends.iter().map(|it| slot(it, "")).collect(),
        fact: Arc::new(Fact {
            id,
            subject: about.shown.clone(),
            entity: about.named.as_ref().and_then(|it| it.id),
            predicate: statement.predicate.clone(),
            object: shown(&statement.object, statement, &told.actor),
            aspect: statement.aspect,
            valid_from,
            valid_until,
            closed_at: valid_until.map(|_| recorded),
            recorded_at: recorded,
            source: told.source,
            origin: told.origin,
            told_by: told.actor.clone(),
            confidence: statement.confidence,
            retired_by: None,
            former_ends: Vec::new(),
            withdrawn: false,
            former: Vec::new(),
        }),
    }
}

/// Returns an object that can be understood without knowing the teller: "me" and "my" become the teller's name. An
/// instruction keeps the words of its author.
fn shown(object: &str, statement: &Statement, teller: &str) -> String {
    if teller.is_empty() || statement.aspect == Aspect::Instruction {
        return object.to_owned();
    }
    let named = |word: &str| {
        let bare = word.trim_matches(|it: char| !it.is_alphanumeric());
        match bare {
            "me" | "myself" => word.replacen(bare, teller, 1),
            "my" | "mine" => word.replacen(bare, &format!("{teller}'s"), 1),
            _ => word.to_owned(),
        }
    };
    object.split(' ').map(named).collect::<Vec<String>>().join(" ")
}

fn said(statement: &Statement, at: DateTime<FixedOffset>) -> Said<'_> {
    Said {
        aspect: statement.aspect,
        predicate: &statement.predicate,
        object: &statement.object,
        ended: statement.ended,
        event: statement.event,
        at,
    }
}

/// Returns the validity of a statement. If it has ended and no beginning is known, the beginning has precision
/// `Unknown`.
fn times(statement: &Statement, recorded: DateTime<Utc>) -> (TimeSpan, Option<DateTime<Utc>>) {
    let until = match (statement.until, statement.ended) {
        (Some(it), _) => Some(it),
        (None, true) => Some(recorded),
        (None, false) => None,
    };
    let from = match (&statement.since, statement.ended) {
        (Some(it), _) => it.clone(),
        (None, true) => TimeSpan {
            precision: Precision::Unknown,
            ..TimeSpan::instant(until.unwrap_or(recorded))
        },
        (None, false) => TimeSpan::instant(recorded),
    };
    let until = until.map(|it| it.max(from.start));
    (from, until)
}

fn vouched(
    statement: &Statement,
    from: &TimeSpan,
    until: Option<DateTime<Utc>>,
    recorded: DateTime<Utc>,
) -> DateTime<Utc> {
    match (statement.ended, statement.event) {
        (true, _) => until.unwrap_or(recorded),
        // "In March" does not say on which day, so it surely held at the end of March. If the event was announced, it
        // counts from the time of the statement.
        (false, true) => from.end.max(from.start).min(recorded),
        (false, false) => recorded,
    }
}

impl Claim {
    /// Returns the id of its source unit.
    pub(super) fn unit(&self) -> UnitId {
        self.fact.source
    }

    /// Returns the moment at which it began or, if it ended, the moment at which it ended.
    pub(super) fn moment(&self) -> DateTime<Utc> {
        match (self.ended, self.fact.valid_until) {
            (true, Some(until)) => until,
            (true, None) | (false, _) => self.fact.valid_from.start,
        }
    }

    /// Returns true if it is a correction that a user made at or after this moment; false if `before` is none.
    pub(super) fn is_to_come(&self, before: Option<DateTime<Utc>>) -> bool {
        self.made.zip(before).is_some_and(|(made, before)| made >= before)
    }

    /// Returns true if it was withdrawn before this moment, or at any time if `before` is none.
    pub(super) fn is_taken_back(&self, before: Option<DateTime<Utc>>) -> bool {
        let gone = |it: DateTime<Utc>| before.is_none_or(|before| it < before);
        self.forgotten.is_some_and(gone) || self.undone_at(before).is_some()
    }

    /// Returns when a user retired or corrected it, if that was before this moment (at any time if `before` is none).
    /// Forgetting its unit does not count, because that does not say that the fact is wrong.
    pub(super) fn undone_at(&self, before: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
        let undone = self.undone.map(|it| it.0);
        undone.filter(|it| before.is_none_or(|before| *it < before))
    }

    /// Returns the times of all decisions about it.
    pub(super) fn decided(&self) -> impl Iterator<Item = DateTime<Utc>> {
        let undone = self.undone.map(|it| it.0);
        self.made.into_iter().chain(undone).chain(self.forgotten)
    }

    /// Returns true if it is a plan; plans can be postponed.
    pub(super) fn is_plan(&self) -> bool {
        self.fact.aspect == Aspect::Plan
    }
}
