//! Claims: statements with their subject, their times and their place among others.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset, Utc};
use domain::fact::{Aspect, Fact};
use domain::id::{FactId, SessionId, UnitId};
use domain::time::{Precision, TimeSpan};
use serde::{Deserialize, Serialize};
use text::facts::{Statement, Subject};

use super::slot::{Slot, SlotKind, SlotSubject, TimelessStatement, ValueStems, sort_of_statement};
use super::unit_statements::RecordStatements;
use crate::{Acts, NamedEntity};

/// A statement in comparable form.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Claim {
    /// The fact that the claim becomes if no other claim closes it.
    pub(super) fact: Arc<Fact>,
    /// The subject as the speaker names it; shared by all claims with the same speaker and phrase.
    pub(super) subject: Arc<TellerPhrase>,
    pub(super) session: SessionId,
    /// Time of the statement, and the id of the fact as stated, before any correction.
    pub(super) statement_key: (DateTime<Utc>, FactId),
    /// Present only if users decided something about the claim, which is rare.
    decided: Option<Box<ClaimDecisions>>,
    /// A moment at which the claim surely held, or at which it ended.
    pub(super) vouched: DateTime<Utc>,
    pub(super) positive: bool,
    pub(super) single: bool,
    pub(super) ended: bool,
    pub(super) event: bool,
    pub(super) corrects: bool,
    /// True if the statement says since when it holds.
    pub(super) has_start: bool,
    /// True if the subject itself makes the statement.
    pub(super) own: bool,
    /// Stems of the value; if empty, every value matches.
    pub(super) value: ValueStems,
    /// Shared with the key of the slot.
    pub(super) slot: Arc<Slot>,
    /// Slots in which the claim ends the current values.
    pub(super) ends: Box<[Arc<Slot>]>,
}

/// The speaker, and the phrase by which the speaker means the subject.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct TellerPhrase {
    pub(super) teller: Box<str>,
    pub(super) phrase: Box<str>,
}

/// The decisions of users about a claim.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct ClaimDecisions {
    /// Time at which a user corrected the fact to this value.
    correction_time: Option<DateTime<Utc>>,
    /// Time at which a user retired or corrected it, and the fact that replaces it, if any.
    undone: Option<(DateTime<Utc>, Option<FactId>)>,
    /// Time at which a user forgot the unit of the claim.
    forgotten: Option<DateTime<Utc>>,
}

/// The subject of a statement, if it is known.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) subject: Arc<TellerPhrase>,
    pub(super) whose: SlotSubject,
    pub(super) named: Option<NamedEntity>,
    /// The subject in words.
    pub(super) shown: String,
}

/// Returns the phrase by which the speaker means the subject; "I" for the speaker.
pub(super) fn subject_phrase(subject: &Subject) -> &str {
    match subject {
        Subject::Speaker => "I",
        Subject::Phrase(phrase) | Subject::Name(phrase) => phrase,
    }
}

impl About {
    /// Describes a subject: by the name of its entity, otherwise in the speaker's words, such as "Ann's sister".
    pub(super) fn from_subject(
        subject: &Subject,
        teller_phrase: &Arc<TellerPhrase>,
        named: Option<NamedEntity>,
    ) -> About {
        let actor = &*teller_phrase.teller;
        let teller = if actor.is_empty() { "user" } else { actor };
        let named_by_teller = |phrase: &str| SlotSubject::Told {
            teller: teller.to_lowercase().into(),
            phrase: phrase.to_lowercase().into(),
        };
        let (whose, shown) = match (&named, subject) {
            (Some(NamedEntity { id: Some(id), name }), _) => (SlotSubject::Entity(*id), name.clone()),
            (Some(NamedEntity { id: None, name }), _) => {
                (SlotSubject::OfSeveral(name.to_lowercase().into()), name.clone())
            }
            (None, Subject::Speaker) => (named_by_teller(""), teller.to_owned()),
            (None, Subject::Phrase(it)) => {
                let role = it.strip_prefix("my ").unwrap_or(it);
                (named_by_teller(it), format!("{teller}'s {role}"))
            }
            (None, Subject::Name(it)) => (named_by_teller(it), it.clone()),
        };
        About {
            subject: Arc::clone(teller_phrase),
            whose,
            named,
            shown,
        }
    }
}

/// Returns the claims of a statement: one as stated, then one for each correction by a user.
pub(super) fn build_claims(record: &RecordStatements, statement: &Statement, about: &About, acts: &Acts) -> Vec<Claim> {
    let id = FactId::from_statement(
        record.place.2,
        subject_phrase(&statement.subject),
        &statement.predicate,
        &statement.object,
    );
    let decided = acts.decisions_about_fact(id);
    let undone = |at: usize| {
        let next = decided.get(at)?;
        Some((next.at, next.instead.as_ref().map(|it| it.0)))
    };
    let mut first = build_claim(record, statement, about, id, id, None);
    first.decide(|it| it.undone = undone(0));
    let mut claims = vec![first];
    for (number, decision) in (1..).zip(decided) {
        let Some((corrected, object)) = &decision.instead else {
            continue;
        };
        let statement = Statement {
            object: object.clone(),
            ..statement.clone()
        };
        let mut claim = build_claim(record, &statement, about, *corrected, id, Some(decision.at));
        claim.decide(|it| it.undone = undone(number));
        claims.push(claim);
    }
    claims
}

fn build_claim(
    record: &RecordStatements,
    statement: &Statement,
    about: &About,
    id: FactId,
    first: FactId,
    correction_time: Option<DateTime<Utc>>,
) -> Claim {
    let observed = record.place.0.to_utc();
    let SlotKind {
        family,
        stem,
        value,
        single,
        ends,
    } = sort_of_statement(&statement_without_times(statement, record.place.0));
    let slot = |family: &str, stem: &str| {
        Arc::new(Slot {
            whose: about.whose.clone(),
            family: family.into(),
            stem: stem.into(),
        })
    };
    let (valid_from, valid_until) = statement_validity(statement, observed);
    let recorded = correction_time.map_or(observed, |it| it.max(observed));
    let mut claim = Claim {
        subject: Arc::clone(&about.subject),
        session: record.session,
        statement_key: (observed, first),
        decided: None,
        vouched: certain_moment(statement, &valid_from, valid_until, observed),
        positive: statement.positive,
        single,
        ended: statement.ended,
        event: statement.event,
        corrects: statement.corrects,
        has_start: statement.since.is_some(),
        own: statement.subject == Subject::Speaker && *about.subject.teller == *record.actor,
        value: ValueStems::from_set(&value),
        slot: slot(&family, &stem),
        ends: ends.iter().map(|it| slot(it, "")).collect(),
        fact: Arc::new(Fact {
            id,
            subject: about.shown.clone(),
            entity: about.named.as_ref().and_then(|it| it.id),
            predicate: statement.predicate.clone(),
            object: replace_first_person(&statement.object, statement, &record.actor),
            aspect: statement.aspect,
            valid_from,
            valid_until,
            closed_at: valid_until.map(|_| recorded),
            recorded_at: recorded,
            source: record.source,
            origin: record.origin,
            told_by: record.actor.clone(),
            confidence: statement.confidence,
            retired_by: None,
            former_ends: Vec::new(),
            withdrawn: false,
            former: Vec::new(),
        }),
    };
    claim.decide(|it| it.correction_time = correction_time);
    claim
}

/// Returns an object that can be understood without knowing the speaker: "me" and "my" become the speaker's name. An
/// instruction keeps the words of its author.
fn replace_first_person(object: &str, statement: &Statement, teller: &str) -> String {
    if teller.is_empty() || statement.aspect == Aspect::Instruction {
        return object.to_owned();
    }
    let to_third_person = |word: &str| {
        let bare = word.trim_matches(|it: char| !it.is_alphanumeric());
        match bare {
            "me" | "myself" => word.replacen(bare, teller, 1),
            "my" | "mine" => word.replacen(bare, &format!("{teller}'s"), 1),
            _ => word.to_owned(),
        }
    };
    object
        .split(' ')
        .map(to_third_person)
        .collect::<Vec<String>>()
        .join(" ")
}

fn statement_without_times(statement: &Statement, at: DateTime<FixedOffset>) -> TimelessStatement<'_> {
    TimelessStatement {
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
fn statement_validity(statement: &Statement, recorded: DateTime<Utc>) -> (TimeSpan, Option<DateTime<Utc>>) {
    let until = match (statement.until, statement.ended) {
        (Some(it), _) => Some(it),
        (None, true) => Some(recorded),
        (None, false) => None,
    };
    let from = match (&statement.since, statement.ended) {
        (Some(it), _) => it.clone(),
        (None, true) => TimeSpan {
            precision: Precision::Unknown,
            ..TimeSpan::from_instant(until.unwrap_or(recorded))
        },
        (None, false) => TimeSpan::from_instant(recorded),
    };
    let until = until.map(|it| it.max(from.start));
    (from, until)
}

fn certain_moment(
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
    pub(super) fn source_unit(&self) -> UnitId {
        self.fact.source
    }

    /// Returns the moment at which it began or, if it ended, the moment at which it ended.
    pub(super) fn start_or_end(&self) -> DateTime<Utc> {
        match (self.ended, self.fact.valid_until) {
            (true, Some(until)) => until,
            (true, None) | (false, _) => self.fact.valid_from.start,
        }
    }

    /// Applies a decision of a user.
    fn decide(&mut self, decide: impl FnOnce(&mut ClaimDecisions)) {
        let mut decided = self.decisions();
        decide(&mut decided);
        let any = decided.correction_time.is_some() || decided.undone.is_some() || decided.forgotten.is_some();
        self.decided = any.then(|| Box::new(decided));
    }

    fn decisions(&self) -> ClaimDecisions {
        self.decided.as_deref().copied().unwrap_or_default()
    }

    /// Notes the time at which a user forgot its unit, or that none did.
    pub(super) fn set_forgotten(&mut self, at: Option<DateTime<Utc>>) {
        self.decide(|it| it.forgotten = at);
    }

    /// Returns the time at which a user corrected the fact to this value.
    pub(super) fn corrected_at(&self) -> Option<DateTime<Utc>> {
        self.decisions().correction_time
    }

    /// Returns the fact by which a user replaced it, if any did.
    pub(super) fn replacement(&self) -> Option<FactId> {
        self.decisions().undone?.1
    }

    /// Returns true if it is a correction that a user made at or after this moment; false if `before` is none.
    pub(super) fn is_later_correction(&self, before: Option<DateTime<Utc>>) -> bool {
        self.corrected_at()
            .zip(before)
            .is_some_and(|(correction_time, before)| correction_time >= before)
    }

    /// Returns true if it was withdrawn before this moment, or at any time if `before` is `None`.
    pub(super) fn is_taken_back(&self, before: Option<DateTime<Utc>>) -> bool {
        let took_effect = |it: DateTime<Utc>| before.is_none_or(|before| it < before);
        self.decisions().forgotten.is_some_and(took_effect) || self.undone_at(before).is_some()
    }

    /// Returns the time at which a user retired or corrected the claim, if that was before this moment (at any time if
    /// `before` is none). Forgetting its unit does not count, because that does not say that the fact is wrong.
    pub(super) fn undone_at(&self, before: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
        let undone = self.decisions().undone.map(|it| it.0);
        undone.filter(|it| before.is_none_or(|before| *it < before))
    }

    /// Returns the times of all decisions about it.
    pub(super) fn decision_times(&self) -> impl Iterator<Item = DateTime<Utc>> {
        let ClaimDecisions {
            correction_time,
            undone,
            forgotten,
        } = self.decisions();
        correction_time
            .into_iter()
            .chain(undone.map(|it| it.0))
            .chain(forgotten)
    }

    /// Returns true if it is a plan; plans can be postponed.
    pub(super) fn is_plan(&self) -> bool {
        self.fact.aspect == Aspect::Plan
    }
}

/// The role of a claim in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Role {
    /// It states a value of the slot.
    States,
    /// It ends the values of the slot: someone who retires no longer has an employer.
    Ends,
}
