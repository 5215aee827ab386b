//! Whether two names are one person's, by a language model where the rules are unsure: what it is asked, and how much of its reply is
//! used. All of it is pure; `people_call` makes the calls.

use std::collections::BTreeSet;

use domain::id::{ReadingId, SpaceId, UnitId};
use domain::reading::{Reading, ReadingKind};
use sha2::{Digest, Sha256};

use crate::looked_up::{LookedUp, Place, Saying};

pub(crate) mod prompt;
pub(crate) mod reply;

use reply::Said;

/// Two names that may be one person's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamePair {
    /// The one that goes into the other: a nickname, or a first name. In lower case and without marks, as the other one.
    pub shorter: String,
    /// The one that stays.
    pub longer: String,
}

/// Two names with the reading in which a model judges them.
pub type PeoplePlace = Place<NamePair>;

/// Pairs of names of one space.
pub(crate) type NamePairs = LookedUp<NamePair, PeopleVerdict>;

/// A name and others, of each of which a language model is asked whether it is the same person's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeopleQuestion {
    /// The name.
    pub shorter: MentionedName,
    /// One to three others.
    pub others: Vec<AskedName>,
}

/// Another name, with where goes what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedName {
    /// Where.
    pub place: PeoplePlace,
    /// The name.
    pub named: MentionedName,
}

/// A name with the units that a model is shown of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionedName {
    /// The name as most often written.
    pub name: String,
    /// At most four turn units that mention it or in which whoever has it speaks, in order of time.
    pub units: Vec<UnitId>,
}

/// What the reading of two names says, as far as it can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeopleVerdict {
    reading: ReadingId,
    /// Whether both are one person's; false too if nothing came of the reading.
    is_same: bool,
    /// The first turn unit of each record that the model was shown.
    units: BTreeSet<UnitId>,
    /// Whether it was made with the prompt of now. Else it counts until there is one that was.
    is_current: bool,
}

impl PeopleVerdict {
    /// Returns what a reading says of two names; none if it is a reading of something else.
    pub fn of(reading: &Reading) -> Option<PeopleVerdict> {
        let said = match reading.failure {
            None => Said::read(&reading.output),
            Some(_) => None,
        };
        (reading.kind == ReadingKind::People).then(|| PeopleVerdict {
            reading: reading.id,
            is_same: said.is_some_and(|it| it.is_same()),
            units: reading.shown().map(UnitId::turn).collect(),
            is_current: reading.prompt == prompt::PROMPT,
        })
    }

    /// Returns true if it was made with the prompt of now.
    pub(crate) fn is_current(&self) -> bool {
        self.is_current
    }

    /// Returns true if both names are one person's, as long as each unit that the model was shown is there.
    pub(crate) fn joins(&self, is_there: impl Fn(UnitId) -> bool) -> bool {
        self.is_same && self.units.iter().all(|it| is_there(*it))
    }
}

impl Saying for PeopleVerdict {
    type Size = ();

    fn reading(&self) -> ReadingId {
        self.reading
    }

    fn shows(&self, unit: UnitId) -> bool {
        self.units.contains(&unit)
    }

    fn is_fresh(&self, (): &()) -> bool {
        self.is_current
    }
}

impl NamePair {
    /// Returns where a language model says whether both are one person's.
    pub(crate) fn place(self, space: &SpaceId) -> PeoplePlace {
        Place {
            reading: ReadingId::people(space, &self.digest()),
            of: self,
        }
    }

    /// Returns the SHA-256 of both names, in hexadecimal digits: the same in every space.
    pub(crate) fn digest(&self) -> String {
        let digest = Sha256::digest(format!("{}\n{}", self.longer, self.shorter).as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
