//! Judges by a language model whether two names belong to one person, if the rules cannot decide it: what the model
//! is asked, and how much of its reply is used. Everything here is pure; `people_call` makes the calls.

use std::collections::BTreeSet;

use domain::id::{ReadingId, SpaceId, UnitId};
use domain::reading::{Reading, ReadingKind};
use sha2::{Digest, Sha256};

use crate::judgements::reading_lookup::{ReadingContent, ReadingLookups, ReadingSubject};

pub(crate) mod prompt;
pub(crate) mod reply;

use reply::StoredJudgement;

/// Two names that may belong to one person.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamePair {
    /// The name to be merged into the other one: a nickname, or a first name. Both names are folded: lower case, no
    /// accents, no punctuation.
    pub shorter: String,
    /// The name to be kept.
    pub longer: String,
}

/// A pair of names and the reading in which a model judges it.
pub type PeopleSubject = ReadingSubject<NamePair>;

/// The pairs of names of one space.
pub(crate) type NamePairs = ReadingLookups<NamePair, PeopleJudgement>;

/// A name, and other names. A language model is asked for each of these whether it belongs to the same person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeopleQuestion {
    /// The name.
    pub shorter: MentionedName,
    /// One to three others.
    pub others: Vec<AskedName>,
}

/// One of the other names, with the reading that stores the judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedName {
    /// The pair, and its reading.
    pub place: PeopleSubject,
    /// The name.
    pub named: MentionedName,
}

/// A name and the units that a model is shown about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionedName {
    /// The most frequent spelling of the name.
    pub name: String,
    /// At most four turn units that mention the name or are spoken by its bearer, in order of time.
    pub units: Vec<UnitId>,
}

/// The usable content of the reading of two names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeopleJudgement {
    reading: ReadingId,
    /// Whether both belong to one person; also false if the reading has no usable content.
    is_same: bool,
    /// The first turn unit of each record that the model was shown.
    units: BTreeSet<UnitId>,
    /// True if the reading was made with the current prompt. An older one counts until a current one exists.
    is_current: bool,
}

impl PeopleJudgement {
    /// Returns the content of the reading of two names, or none for a reading of another kind.
    pub fn from_reading(reading: &Reading) -> Option<PeopleJudgement> {
        let stored_judgement = match reading.failure {
            None => StoredJudgement::parse_entry(&reading.output),
            Some(_) => None,
        };
        (reading.kind == ReadingKind::People).then(|| PeopleJudgement {
            reading: reading.id,
            is_same: stored_judgement.is_some_and(|it| it.is_same()),
            units: reading.records_seen_by_model().map(UnitId::of_turn).collect(),
            is_current: reading.prompt == prompt::PROMPT,
        })
    }

    /// Returns true if the reading was made with the current prompt.
    pub(crate) fn is_current(&self) -> bool {
        self.is_current
    }

    /// Returns true if the model judged that both names belong to one person and each unit that it was shown still
    /// exists.
    pub(crate) fn is_same_person(&self, is_there: impl Fn(UnitId) -> bool) -> bool {
        self.is_same && self.units.iter().all(|it| is_there(*it))
    }
}

impl ReadingContent for PeopleJudgement {
    type Size = ();

    fn reading_id(&self) -> ReadingId {
        self.reading
    }

    fn has_shown_unit(&self, unit: UnitId) -> bool {
        self.units.contains(&unit)
    }

    fn is_fresh(&self, (): &()) -> bool {
        self.is_current
    }
}

impl NamePair {
    /// Returns the pair together with the id of its reading in a space.
    pub(crate) fn into_place(self, space: &SpaceId) -> PeopleSubject {
        ReadingSubject {
            reading: ReadingId::of_people(space, &self.names_digest()),
            of: self,
        }
    }

    /// Returns the SHA-256 of both names, in hexadecimal; it is the same in every space.
    pub(crate) fn names_digest(&self) -> String {
        let digest = Sha256::digest(format!("{}\n{}", self.longer, self.shorter).as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
