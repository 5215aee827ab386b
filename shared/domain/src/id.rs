//! Ids. Every id except the name of a space is a UUIDv5 of its inputs. Deduplication follows from this: a redelivered
//! message rewrites the objects that it wrote before.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Root of all derivations; changing it changes every id.
const ROOT: Uuid = Uuid::from_u128(0x6d6e_656d_6963_4000_8000_0000_0000_0001);

/// The name of a space: 1 to 64 of `a-z`, `0-9`, `.`, `_`, `-`, starting with a letter or digit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = String, pattern = "^[a-z0-9][a-z0-9._-]{0,63}$"))]
pub struct SpaceId(String);

/// The error for a string that is not the name of a space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the name of a space must have 1 to 64 characters from a-z, 0-9, '.', '_' and '-', and begin with a letter or digit"
)]
pub struct InvalidSpace;

impl SpaceId {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn namespace_uuid(&self) -> Uuid {
        Uuid::new_v5(&ROOT, self.0.as_bytes())
    }
}

impl FromStr for SpaceId {
    type Err = InvalidSpace;

    fn from_str(name: &str) -> Result<SpaceId, InvalidSpace> {
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let first = name.bytes().next().is_some_and(inner);
        let rest = name.bytes().all(|b| inner(b) || matches!(b, b'.' | b'_' | b'-'));
        if first && rest && name.len() <= 64 {
            Ok(SpaceId(name.to_owned()))
        } else {
            Err(InvalidSpace)
        }
    }
}

impl TryFrom<String> for SpaceId {
    type Error = InvalidSpace;

    fn try_from(name: String) -> Result<SpaceId, InvalidSpace> {
        name.parse()
    }
}

impl From<SpaceId> for String {
    fn from(space: SpaceId) -> String {
        space.0
    }
}

impl fmt::Display for SpaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = uuid::Uuid))]
        pub struct $name(Uuid);

        impl $name {
            /// Returns the id as a UUID, for stores.
            pub fn uuid(self) -> Uuid {
                self.0
            }

            /// Makes an id from the UUID that a store or a caller gave.
            pub fn from_uuid(uuid: Uuid) -> $name {
                $name(uuid)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<$name, uuid::Error> {
                Uuid::parse_str(text).map($name)
            }
        }
    };
}

uuid_id! {
    /// One session of a space, derived from the space and the caller's name for the session.
    SessionId
}
uuid_id! {
    /// One record, derived from the space and the caller's id for it.
    RecordId
}
uuid_id! {
    /// One unit, derived from its record or its segment.
    UnitId
}
uuid_id! {
    /// One fact, derived from its source unit, subject, predicate and object. A corrected fact is derived from the fact
    /// and the act.
    FactId
}
uuid_id! {
    /// One entity, derived from the space and its normalised name.
    EntityId
}

uuid_id! {
    /// One topic, derived from the space and its founding unit; it outlives re-clustering.
    TopicId
}
uuid_id! {
    /// One page, derived from the space, its dimension and its subject.
    PageId
}
uuid_id! {
    /// One merge of two entities or two units, derived from both.
    MergeId
}
uuid_id! {
    /// One stored webhook, derived from its name and its time of creation.
    WebhookId
}
uuid_id! {
    /// One act of curation, derived from the space and the caller's id for it.
    CurationId
}
uuid_id! {
    /// One erasure. For records, it is derived from the first of the acts that request it; for a space, from the space
    /// and its time of creation.
    ErasureId
}
uuid_id! {
    /// One reading, derived from the records it is about.
    ReadingId
}
uuid_id! {
    /// One hint, derived from its content: the same hint has the same id in every session.
    HintId
}

impl SessionId {
    /// Returns the id of the caller's session `name`.
    pub fn from_name(space: &SpaceId, name: &str) -> SessionId {
        SessionId(derive_uuid(space.namespace_uuid(), "session", &[name]))
    }
}

impl RecordId {
    /// Returns the id of the caller's record `external_id`.
    pub fn from_external_id(space: &SpaceId, external_id: &str) -> RecordId {
        RecordId(derive_uuid(space.namespace_uuid(), "record", &[external_id]))
    }
}

impl UnitId {
    /// Returns the id of the turn unit of `record`.
    pub fn of_turn(record: RecordId) -> UnitId {
        UnitId(derive_uuid(record.0, "turn", &[]))
    }

    /// Returns the id of the turn unit of part `number` of `record`. Part 0 has the id of [`UnitId::of_turn`]. The ids of
    /// a record are consecutive, so its parts are in order wherever ties break by id.
    pub fn of_part(record: RecordId, number: u16) -> UnitId {
        let first = UnitId::of_turn(record).0.as_u128();
        UnitId(Uuid::from_u128(first.wrapping_add(number.into())))
    }

    /// Returns the greatest id that a turn unit of the same record may have. `self` must be the first turn unit of the
    /// record.
    #[must_use]
    pub fn last_part(self) -> UnitId {
        UnitId(Uuid::from_u128(self.0.as_u128().saturating_add(u16::MAX.into())))
    }

    /// Returns the id of the event unit whose segment starts with `first`.
    pub fn of_event(first: RecordId) -> UnitId {
        UnitId(derive_uuid(first.0, "event", &[]))
    }

    /// Returns the id of the gist `number` of a reading.
    pub fn of_gist(reading: ReadingId, number: u16) -> UnitId {
        UnitId(derive_uuid(reading.0, "gist", &[&number.to_string()]))
    }
}

impl ReadingId {
    /// Returns the id of the reading of the passage that starts with `first`.
    pub fn of_passage(first: RecordId) -> ReadingId {
        ReadingId(derive_uuid(first.0, "reading", &[]))
    }

    /// Returns the id of the reading of the picture of `record`.
    pub fn of_picture(record: RecordId) -> ReadingId {
        ReadingId(derive_uuid(record.0, "picture", &[]))
    }

    /// Returns the id of the reading that relates two events, by the first record of each.
    pub fn of_events(earlier: RecordId, later: RecordId) -> ReadingId {
        ReadingId(derive_uuid(later.0, "events", &[&earlier.to_string()]))
    }

    /// Returns the id of the reading that labels a topic; `first` is the first record of the topic's founding event.
    pub fn of_topic_label(first: RecordId) -> ReadingId {
        ReadingId(derive_uuid(first.0, "label", &[]))
    }

    /// Returns the id of the reading that summarises a page; `digest` is the digest of the page's dimension and
    /// subject.
    pub fn of_page(space: &SpaceId, digest: &str) -> ReadingId {
        ReadingId(derive_uuid(space.namespace_uuid(), "page reading", &[digest]))
    }

    /// Returns the id of the reading that judges whether two names mean the same person; `digest` is the digest of the
    /// two names.
    pub fn of_people(space: &SpaceId, digest: &str) -> ReadingId {
        ReadingId(derive_uuid(space.namespace_uuid(), "people reading", &[digest]))
    }
}

impl FactId {
    /// Returns the id of the fact `subject predicate object` that `unit` states.
    pub fn from_statement(unit: UnitId, subject: &str, predicate: &str, object: &str) -> FactId {
        FactId(derive_uuid(unit.0, "fact", &[subject, predicate, object]))
    }

    /// Returns the id of the fact that the act `by` puts in the place of `fact`.
    pub fn of_correction(fact: FactId, by: CurationId) -> FactId {
        FactId(derive_uuid(fact.0, "corrected", &[&by.to_string()]))
    }
}

impl EntityId {
    /// Returns the id of the entity with this normalised name.
    pub fn from_name(space: &SpaceId, normalised: &str) -> EntityId {
        EntityId(derive_uuid(space.namespace_uuid(), "entity", &[normalised]))
    }
}

impl TopicId {
    /// Returns the id of the topic whose founding unit is `first`.
    pub fn from_founding_unit(first: UnitId) -> TopicId {
        TopicId(derive_uuid(first.0, "topic", &[]))
    }
}

impl PageId {
    /// Returns the id of the page about `subject` (an id or a normalised name) in `dimension`.
    pub fn from_subject(space: &SpaceId, dimension: &str, subject: &str) -> PageId {
        PageId(derive_uuid(space.namespace_uuid(), "page", &[dimension, subject]))
    }
}

impl MergeId {
    /// Returns the id of the merge of `merged` into `remaining`.
    pub fn from_pair(remaining: Uuid, merged: Uuid) -> MergeId {
        MergeId(derive_uuid(remaining, "merge", &[&merged.to_string()]))
    }
}

impl CurationId {
    /// Returns the id of the caller's act `external_id`.
    pub fn from_external_id(space: &SpaceId, external_id: &str) -> CurationId {
        CurationId(derive_uuid(space.namespace_uuid(), "curation", &[external_id]))
    }
}

impl ErasureId {
    /// Returns the id of an erasure of records; `first` is the first of the acts in the batch that requests it.
    pub fn of_records(first: CurationId) -> ErasureId {
        ErasureId(derive_uuid(first.0, "erasure", &[]))
    }

    /// Returns the id of the erasure of a whole space that was created at `created` (RFC 3339).
    pub fn of_space(space: &SpaceId, created: &str) -> ErasureId {
        ErasureId(derive_uuid(space.namespace_uuid(), "erasure", &[created]))
    }
}

impl WebhookId {
    /// Returns the id of the webhook that was created under this name at `created` (RFC 3339).
    pub fn from_name_and_time(name: &str, created: &str) -> WebhookId {
        WebhookId(derive_uuid(ROOT, "webhook", &[name, created]))
    }
}

impl HintId {
    /// Returns the id of the hint that `trigger` gives about `subject` (a fact or a unit).
    pub fn from_subject_and_trigger(subject: Uuid, trigger: &str) -> HintId {
        HintId(derive_uuid(subject, "hint", &[trigger]))
    }
}

/// Returns a UUIDv5. Lengths are part of the input, so `["ab", "c"]` and `["a", "bc"]` give different ids.
fn derive_uuid(parent: Uuid, kind: &str, parts: &[&str]) -> Uuid {
    let mut name = Vec::with_capacity(kind.len() + 8 + parts.iter().map(|it| it.len() + 8).sum::<usize>());
    for part in std::iter::once(&kind).chain(parts) {
        name.extend_from_slice(&(part.len() as u64).to_be_bytes());
        name.extend_from_slice(part.as_bytes());
    }
    Uuid::new_v5(&parent, &name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_spaces_are_checked() {
        for good in ["a", "0", "user-1", "team.a_b", &"x".repeat(64)] {
            assert!(good.parse::<SpaceId>().is_ok(), "{good}");
        }
        for bad in ["", "-a", ".a", "A", "a b", "a/b", "ä", &"x".repeat(65), "a\0"] {
            assert!(bad.parse::<SpaceId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn ids_depend_on_all_inputs_and_on_where_one_input_ends() {
        let (a, b) = ("a".parse::<SpaceId>().unwrap(), "b".parse::<SpaceId>().unwrap());
        assert_ne!(RecordId::from_external_id(&a, "1"), RecordId::from_external_id(&b, "1"));
        assert_ne!(
            RecordId::from_external_id(&a, "1").uuid(),
            SessionId::from_name(&a, "1").uuid()
        );
        let unit = UnitId::of_turn(RecordId::from_external_id(&a, "1"));
        let part = |number| UnitId::of_part(RecordId::from_external_id(&a, "1"), number);
        assert_eq!(part(0), unit);
        assert!(part(0) < part(1) && part(1) < part(700));
        assert_ne!(
            FactId::from_statement(unit, "ab", "c", ""),
            FactId::from_statement(unit, "a", "bc", "")
        );
    }
}
