//! Facts: subject, predicate, object with valid time and recorded time (REMem, section 3; MRAgent's semantic layer).

use chrono::{DateTime, FixedOffset, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{EntityId, FactId, RecordId, UnitId};
use crate::time::{Precision, TimeSpan};

/// The group of predicates a fact belongs to (MRAgent's aspect).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// What somebody likes, loves, hates, prefers, does not eat.
    Preference,
    /// What somebody or something is or has by nature: age, name, diet, allergy, mood that lasts.
    Attribute,
    /// Who somebody is to somebody else.
    Relation,
    /// Where somebody lives, comes from, is.
    Place,
    /// What somebody works as, where, what they study.
    Work,
    /// What somebody means to do.
    Plan,
    /// What somebody owns, bought, got.
    Possession,
    /// How many.
    Count,
    /// What somebody does again and again.
    Habit,
    /// What the memory's user wants done from now on: a standing instruction.
    Instruction,
}

impl Aspect {
    /// All of them.
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

    /// Returns its name, as it is written in JSON.
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

/// Who read a fact in what was told.
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
    /// Says whether it is the rules.
    pub fn is_rule(&self) -> bool {
        *self == Origin::Rule
    }
}

/// A statement that a language model read in one record, checked against it, before it is folded into a [`Fact`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Stated {
    /// The record that states it.
    pub record: RecordId,
    /// When that was observed.
    pub observed_at: DateTime<FixedOffset>,
    /// Who states it there; empty if not known.
    #[serde(default)]
    pub told_by: String,
    /// Who or what it is about, by name.
    pub subject: String,
    /// Verb phrase in the third person.
    pub predicate: String,
    /// The value.
    pub object: String,
    /// What kind of statement it is.
    pub aspect: Aspect,
    /// False: it says what is not so.
    pub positive: bool,
    /// Since when it holds, if that was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<TimeSpan>,
    /// When it ceases or ceased to hold, if that was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
    /// It does not hold any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// 0 to 1.
    pub confidence: f32,
}

/// One statement. Never overwritten: a newer one closes the valid time of an older one, a correction takes its place; all stay.
///
/// It holds in `[valid_from.start, valid_until)`; it was known from `recorded_at` on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Fact {
    /// Derived from unit, subject, predicate and object as they were told; of a correction, from the fact and the act.
    pub id: FactId,
    /// Who or what it is about, by the name of the entity if there is one.
    pub subject: String,
    /// The entity of the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityId>,
    /// What is said of it: a verb phrase of one to three words in the third person (`likes`, `lives in`, `does not eat`).
    pub predicate: String,
    /// The value, as told.
    pub object: String,
    /// What kind of statement it is.
    pub aspect: Aspect,
    /// When it began to hold, as exactly as it was told; the time of telling if it was not.
    pub valid_from: TimeSpan,
    /// When it ceased to hold; none: it holds as far as is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<DateTime<Utc>>,
    /// When that was told, which may be long after: told in June, somebody moved in March.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<DateTime<Utc>>,
    /// When it was told: the time its source was observed; of a correction, when that was made.
    pub recorded_at: DateTime<Utc>,
    /// The unit that states it.
    pub source: UnitId,
    /// Who read it there.
    #[serde(default, skip_serializing_if = "Origin::is_rule")]
    pub origin: Origin,
    /// Who told it; empty if not known.
    #[serde(default)]
    pub told_by: String,
    /// 0 to 1; lower for what is told of others and for guesses.
    pub confidence: f32,
    /// The fact that closed this one, or that corrects it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_by: Option<FactId>,
    /// Ends that were told before and gave way to an earlier one, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_ends: Vec<End>,
    /// Whether a curation took it back: it stays, and is not told any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
    /// How it was known before somebody decided something that bears on it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<Former>,
}

/// An end of a fact that was told before an earlier one: a plan for September that is put off in July.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct End {
    /// When it was to cease to hold.
    pub valid_until: DateTime<Utc>,
    /// When that was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<DateTime<Utc>>,
    /// The fact that was to close it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_by: Option<FactId>,
}

/// How a fact was known until something was decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Former {
    /// When that was decided.
    pub until: DateTime<Utc>,
    /// The fact as it was; none if it was no fact of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(no_recursion))]
    pub fact: Option<Fact>,
}

impl Fact {
    /// Returns the fact as it was known at `as_of`, none if it was not known: what was told later had not closed it, what was
    /// decided later had not changed it.
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

    /// Takes back the end that was told last: the one that was told before it holds again, if there was one.
    pub fn take_back_end(&mut self) {
        let before = self.former_ends.pop();
        self.valid_until = before.as_ref().map(|it| it.valid_until);
        self.closed_at = before.as_ref().and_then(|it| it.closed_at);
        self.retired_by = before.and_then(|it| it.retired_by);
    }

    /// Says whether it holds at `moment`, as far as is known.
    pub fn holds_at(&self, moment: DateTime<Utc>) -> bool {
        !self.withdrawn && self.valid_from.start <= moment && self.valid_until.is_none_or(|it| moment < it)
    }

    /// Returns since when it holds; none if only its end was told: "I quit smoking".
    pub fn since(&self) -> Option<DateTime<Utc>> {
        (self.valid_from.precision != Precision::Unknown).then_some(self.valid_from.start)
    }
}
