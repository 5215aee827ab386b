//! A statement with the one it is about, its times and its place among others.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset, Utc};
use domain::fact::{Aspect, Fact};
use domain::id::{FactId, SessionId, UnitId};
use domain::time::{Precision, TimeSpan};
use text::facts::{Statement, Subject};

use super::slot::{Said, Slot, Sort, Whose, sort};
use super::told::Told;
use crate::{Acts, Named};

/// One statement, ready to be compared.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    /// The fact it is if nothing else closes it.
    pub(super) fact: Arc<Fact>,
    /// How its teller calls its subject, and whose words these are.
    pub(super) subject: (String, String),
    pub(super) session: SessionId,
    /// The fact as it was told, whoever corrected it since, and when that was.
    pub(super) told: (DateTime<Utc>, FactId),
    /// When it was corrected to this by hand.
    pub(super) made: Option<DateTime<Utc>>,
    /// When it was taken back or corrected by hand, and the fact that stands in its place.
    pub(super) undone: Option<(DateTime<Utc>, Option<FactId>)>,
    /// When its unit was forgotten by hand.
    pub(super) forgotten: Option<DateTime<Utc>>,
    /// The moment it is sure to have held at, or to have ended at.
    pub(super) vouched: DateTime<Utc>,
    pub(super) positive: bool,
    pub(super) single: bool,
    pub(super) ended: bool,
    pub(super) event: bool,
    pub(super) corrects: bool,
    /// Since when it holds was told.
    pub(super) since_told: bool,
    /// Its subject tells it.
    pub(super) own: bool,
    /// Stems of the value, sorted; empty: any.
    pub(super) value: Box<[String]>,
    pub(super) slot: Slot,
    /// Slots in which it ends what stands.
    pub(super) ends: Vec<Slot>,
}

/// Whom a statement is about, as far as that is known.
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
    /// Puts a subject into words: the name of the entity, else as told: "Ann's sister".
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

/// Makes the claims of a statement: as it was told, then one for every correction by hand.
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

/// Returns an object that can be read without knowing who told it: "me" and "my" become the teller's name. An instruction
/// stays in the words of who gave it.
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

/// Since when and until when it holds. What is over without a beginning held at no time that is known.
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
        // "In March" it was, and at which day of it nobody knows: at its end it surely was so. Told ahead of time, it is known
        // from the telling on.
        (false, true) => from.end.max(from.start).min(recorded),
        (false, false) => recorded,
    }
}

/// Whose claims these are.
impl Claim {
    /// Returns its source.
    pub(super) fn unit(&self) -> UnitId {
        self.fact.source
    }

    /// Returns since when it holds, or when it ended.
    pub(super) fn moment(&self) -> DateTime<Utc> {
        match (self.ended, self.fact.valid_until) {
            (true, Some(until)) => until,
            (true, None) | (false, _) => self.fact.valid_from.start,
        }
    }

    /// Says whether nobody had corrected it to this before a moment; none: nobody has.
    pub(super) fn is_to_come(&self, before: Option<DateTime<Utc>>) -> bool {
        self.made.zip(before).is_some_and(|(made, before)| made >= before)
    }

    /// Says whether it had been taken back before a moment; none: whether it is.
    pub(super) fn is_taken_back(&self, before: Option<DateTime<Utc>>) -> bool {
        let gone = |it: DateTime<Utc>| before.is_none_or(|before| it < before);
        self.forgotten.is_some_and(gone) || self.undone_at(before).is_some()
    }

    /// Returns when it had been taken back or corrected by hand before a moment; none: whenever. To forget where it was told is
    /// not to say that it is not so.
    pub(super) fn undone_at(&self, before: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
        let undone = self.undone.map(|it| it.0);
        undone.filter(|it| before.is_none_or(|before| *it < before))
    }

    /// Returns when something was decided about it by hand.
    pub(super) fn decided(&self) -> impl Iterator<Item = DateTime<Utc>> {
        let undone = self.undone.map(|it| it.0);
        self.made.into_iter().chain(undone).chain(self.forgotten)
    }

    /// Says whether it is a plan, which may be put off.
    pub(super) fn is_plan(&self) -> bool {
        self.fact.aspect == Aspect::Plan
    }
}
