//! Facts: subject, predicate and object. They are bi-temporal: each has a valid time and a recorded time (REMem,
//! section 3; MRAgent's semantic layer).

use chrono::{DateTime, FixedOffset, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{EntityId, FactId, RecordId, UnitId};
use crate::time::{Precision, TimeSpan};

/// The group of predicates a fact belongs to (MRAgent's aspect).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// Likes, dislikes and preferences of a person, including food that the person does not eat.
    Preference,
    /// Permanent or lasting properties of a person or thing: age, name, diet, allergy, lasting mood.
    Attribute,
    /// The relation of one person to another.
    Relation,
    /// Where a person or thing lives, comes from or is.
    Place,
    /// Job, employer or field of study of a person.
    Work,
    /// What a person intends to do.
    Plan,
    /// What a person owns, bought or received.
    Possession,
    /// A number of things.
    Count,
    /// What a person does regularly.
    Habit,
    /// A standing instruction of the memory's user.
    Instruction,
}

impl Aspect {
    /// All aspects.
    pub const ALL: [Aspect; 10] = [
        Aspect::Preference,
        Aspect::Attribute,
        Aspect::Relation,
        Aspect::Place,
        Aspect::Work,
        Aspect::Plan,
        Aspect::Possession,
        Aspect::Count,
        Aspect::Habit,
        Aspect::Instruction,
    ];

    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Aspect::Preference => "preference",
            Aspect::Attribute => "attribute",
            Aspect::Relation => "relation",
            Aspect::Place => "place",
            Aspect::Work => "work",
            Aspect::Plan => "plan",
            Aspect::Possession => "possession",
            Aspect::Count => "count",
            Aspect::Habit => "habit",
            Aspect::Instruction => "instruction",
        }
    }
}

/// The extractor that found a fact in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The rules.
    #[default]
    Rule,
    /// A language model.
    Model,
}

impl Origin {
    /// Returns true if the rules found the fact.
    pub fn is_rule(&self) -> bool {
        *self == Origin::Rule
    }
}

/// A statement that a language model read in one record. It was checked against the record and is not yet folded into a
/// [`Fact`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Stated {
    /// The record that states the fact.
    pub record: RecordId,
    /// Time at which the record was observed.
    pub observed_at: DateTime<FixedOffset>,
    /// The speaker; empty if unknown.
    #[serde(default)]
    pub told_by: String,
    /// The person or thing that the statement is about, by name.
    pub subject: String,
    /// Verb phrase in the third person.
    pub predicate: String,
    /// The value.
    pub object: String,
    /// The group of the predicate.
    pub aspect: Aspect,
    /// False for a negated statement.
    pub positive: bool,
    /// Time at which the fact began to hold, if the record says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<TimeSpan>,
    /// Time at which the fact stops or stopped holding, if the record says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
    /// Whether it no longer holds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// Confidence, 0 to 1.
    pub confidence: f32,
}

/// One statement. It is never overwritten: a newer fact closes the valid time of an older one, and a correction takes
/// its place. All of them are kept.
///
/// It holds in `[valid_from.start, valid_until)`. It is known from `recorded_at` on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Fact {
    /// Derived from unit, subject, predicate and object as they were stated; for a correction, from the corrected fact
    /// and the act.
    pub id: FactId,
    /// The person or thing that the fact is about, by the name of its entity if there is one.
    pub subject: String,
    /// The entity of the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityId>,
    /// A verb phrase of one to three words in the third person (`likes`, `lives in`, `does not eat`).
    pub predicate: String,
    /// The value, as stated.
    pub object: String,
    /// The group of the predicate.
    pub aspect: Aspect,
    /// Time at which the fact began to hold, as precisely as stated; if not stated, the time of the statement.
    pub valid_from: TimeSpan,
    /// Time at which the fact stopped holding. Absent if it still holds, as far as is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<DateTime<Utc>>,
    /// Time at which the end was stated, which may be long after the end: in June, Ann says that she moved in March.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<DateTime<Utc>>,
    /// Time at which the fact was stated: the time its source was observed. For a correction: when the correction was
    /// made.
    pub recorded_at: DateTime<Utc>,
    /// The unit that states the fact.
    pub source: UnitId,
    /// The extractor that found it there.
    #[serde(default, skip_serializing_if = "Origin::is_rule")]
    pub origin: Origin,
    /// The speaker; empty if unknown.
    #[serde(default)]
    pub told_by: String,
    /// Confidence, 0 to 1; lower for guesses and for statements about other people.
    pub confidence: f32,
    /// The fact that closed this one, or that corrects it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_by: Option<FactId>,
    /// Former ends of the fact, each replaced when an earlier end was stated; oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_ends: Vec<End>,
    /// Whether a curation retracted the fact. It is kept but no longer reported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
    /// Earlier states of the fact, one for each curation that changed it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<Former>,
}

/// A former end of a fact, replaced when an earlier end was stated: a plan for September that is put off in July.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct End {
    /// Time at which the fact was to stop holding.
    pub valid_until: DateTime<Utc>,
    /// Time at which that end was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<DateTime<Utc>>,
    /// The fact that was to close it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_by: Option<FactId>,
}

/// The state of a fact before a curation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Former {
    /// Time at which the curation was made.
    pub until: DateTime<Utc>,
    /// The fact as it was; absent if the fact did not exist before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(no_recursion))]
    pub fact: Option<Fact>,
}

impl Fact {
    /// Returns the fact as it was known at `as_of`, or `None` if it was not known then. Ends and curations after
    /// `as_of` are ignored.
    pub fn known_at(&self, as_of: DateTime<Utc>) -> Option<Fact> {
        let known = match self.former.iter().find(|it| as_of < it.until) {
            Some(former) => former.fact.as_ref()?,
            None => self,
        };
        (known.recorded_at <= as_of).then(|| {
            let mut fact = known.clone();
            fact.former = self.former.iter().filter(|it| it.until <= as_of).cloned().collect();
            while fact.closed_at.or(fact.valid_until).is_some_and(|it| it > as_of) {
                fact.take_back_end();
            }
            fact
        })
    }

    /// Removes the end that was stated last. The end stated before it, if any, applies again.
    pub fn take_back_end(&mut self) {
        let before = self.former_ends.pop();
        self.valid_until = before.as_ref().map(|it| it.valid_until);
        self.closed_at = before.as_ref().and_then(|it| it.closed_at);
        self.retired_by = before.and_then(|it| it.retired_by);
    }

    /// Returns true if the fact holds at `moment`, as far as is known.
    pub fn holds_at(&self, moment: DateTime<Utc>) -> bool {
        !self.withdrawn && self.valid_from.start <= moment && self.valid_until.is_none_or(|it| moment < it)
    }

    /// Returns true if it is only known that the fact no longer held when that was stated, and not since when: "I have
    /// left the choir". `valid_until` is then the time of that statement.
    pub fn ended_at_unknown_time(&self) -> bool {
        self.valid_until.is_some() && self.valid_until == self.closed_at
    }

    /// Returns the time at which the fact began to hold. Returns `None` if only its end was stated: "I quit smoking".
    pub fn known_start(&self) -> Option<DateTime<Utc>> {
        (self.valid_from.precision != Precision::Unknown).then_some(self.valid_from.start)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use uuid::Uuid;

    use super::*;

    fn day(number: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(number)
    }

    /// Returns a fact that was stated on day 10. On day 30, its end on day 20 was stated.
    fn ended_fact() -> Fact {
        Fact {
            id: FactId::from_uuid(Uuid::nil()),
            subject: "Ann".to_owned(),
            entity: None,
            predicate: "lives in".to_owned(),
            object: "Graz".to_owned(),
            aspect: Aspect::Place,
            valid_from: TimeSpan::from_instant(day(10)),
            valid_until: Some(day(20)),
            closed_at: Some(day(30)),
            recorded_at: day(10),
            source: UnitId::from_uuid(Uuid::nil()),
            origin: Origin::Rule,
            told_by: "Ann".to_owned(),
            confidence: 0.9,
            retired_by: None,
            former_ends: Vec::new(),
            withdrawn: false,
            former: Vec::new(),
        }
    }

    #[test]
    fn a_fact_is_unknown_before_it_was_stated() {
        let fact = ended_fact();
        assert_eq!(fact.known_at(day(10) - TimeDelta::seconds(1)), None);
        assert!(fact.known_at(day(10)).is_some());
    }

    #[test]
    fn the_end_of_a_fact_is_unknown_before_it_was_stated() {
        let fact = ended_fact();
        let end_known_at = |number: i64| fact.known_at(day(number)).unwrap().valid_until;
        assert_eq!((end_known_at(29), end_known_at(30)), (None, Some(day(20))));
    }

    #[test]
    fn a_decision_about_a_fact_is_unknown_before_it_was_made() {
        let before = ended_fact();
        let retired = Fact {
            withdrawn: true,
            former: vec![Former {
                until: day(40),
                fact: Some(before.clone()),
            }],
            ..before
        };
        let is_withdrawn_at = |number: i64| retired.known_at(day(number)).unwrap().withdrawn;
        assert_eq!((is_withdrawn_at(39), is_withdrawn_at(40)), (false, true));
    }
}
