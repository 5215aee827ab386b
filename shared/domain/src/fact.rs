//! Facts: subject, predicate, object with valid time and recorded time (REMem, section 3; MRAgent's semantic layer).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{EntityId, FactId, UnitId};
use crate::time::TimeSpan;

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

/// One statement. Never overwritten: a newer one closes the valid time of an older one, both stay.
///
/// It holds in `[valid_from.start, valid_until)`; it was known from `recorded_at` on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Fact {
    /// Derived from unit, subject, predicate and object as they were told.
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
    /// When it was told: the time its source was observed.
    pub recorded_at: DateTime<Utc>,
    /// The unit that states it.
    pub source: UnitId,
    /// Who told it; empty if not known.
    #[serde(default)]
    pub told_by: String,
    /// 0 to 1; lower for what is told of others and for guesses.
    pub confidence: f32,
    /// The fact that closed this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_by: Option<FactId>,
    /// Whether a curation took it back: it stays, and is not told any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}

impl Fact {
    /// Returns the fact as it was known at `as_of`, none if it was not known: what was told later had not closed it.
    pub fn known_at(&self, as_of: DateTime<Utc>) -> Option<Fact> {
        (self.recorded_at <= as_of).then(|| {
            let mut fact = self.clone();
            if fact.closed_at.or(fact.valid_until).is_some_and(|it| it > as_of) {
                (fact.valid_until, fact.closed_at, fact.retired_by) = (None, None, None);
            }
            fact
        })
    }

    /// Says whether it holds at `moment`, as far as is known.
    pub fn holds_at(&self, moment: DateTime<Utc>) -> bool {
        !self.withdrawn && self.valid_from.start <= moment && self.valid_until.is_none_or(|it| moment < it)
    }
}
