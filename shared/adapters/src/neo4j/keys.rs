//! How nodes are named: `namespace/space` a space, `namespace/space/id` all it owns.
//!
//! Neither a namespace nor the name of a space holds a `/`, so no key of a space starts like one of another space, and
//! the keys of a space are those between its name followed by `/` and by the character after `/`.

use chrono::{DateTime, FixedOffset};
use domain::id::{RecordId, SessionId, SpaceId};
use domain::record::Record;
use uuid::Uuid;

/// The character after `/`: ends the range of keys that start with a prefix.
const AFTER: char = '0';

/// The keys of one space.
pub(super) struct Keys {
    space: String,
}

impl Keys {
    pub(super) fn new(namespace: &str, space: &SpaceId) -> Keys {
        Keys {
            space: named(namespace, space.as_str()),
        }
    }

    /// Key of the space itself.
    pub(super) fn space(&self) -> &str {
        &self.space
    }

    /// What every key of the space starts with; no key is equal to it.
    pub(super) fn prefix(&self) -> String {
        format!("{}/", self.space)
    }

    /// What every key of the space is less than.
    pub(super) fn until(&self) -> String {
        format!("{}{AFTER}", self.space)
    }

    /// The range of places of a session.
    pub(super) fn session(&self, session: SessionId) -> (String, String) {
        let start = format!("{}/{}", self.space, id(session.uuid()));
        (format!("{start}/"), format!("{start}{AFTER}"))
    }

    /// The range of places of a session from one moment until another; open where there is none.
    pub(super) fn within(
        &self,
        session: SessionId,
        from: Option<DateTime<FixedOffset>>,
        until: Option<DateTime<FixedOffset>>,
    ) -> (String, String) {
        let (start, end) = self.session(session);
        // A place is longer than its moment: it stands behind it, and before every later one.
        let first = from.map_or_else(|| start.clone(), |it| format!("{start}{}", moment(it)));
        (first, until.map_or(end, |it| format!("{start}{}", moment(it))))
    }

    /// The place of a record in its session: sorts like [`Record::order`], of which it is a fixed-width text.
    pub(super) fn place(&self, record: &Record) -> String {
        let (start, _) = self.session(record.session);
        format!(
            "{start}{}{:016x}{}",
            moment(record.observed_at),
            record.ordinal,
            id(record.id.uuid())
        )
    }
}

/// A moment as a text of fixed width that sorts like it.
fn moment(at: DateTime<FixedOffset>) -> String {
    // Flipping the first bit maps the order of i64 to the order of u64.
    let seconds = at.timestamp().cast_unsigned() ^ (1 << 63);
    format!("{seconds:016x}{:08x}", at.timestamp_subsec_nanos())
}

/// The range of the keys of all spaces of a namespace.
pub(super) fn spaces(namespace: &str) -> (String, String) {
    (format!("{namespace}/"), format!("{namespace}{AFTER}"))
}

/// The key of something of the namespace by its name alone: of a space, or of what belongs to none.
pub(super) fn named(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

/// An id as it stands in keys: 32 hexadecimal digits, which sort like the id.
pub(super) fn id(uuid: Uuid) -> String {
    uuid.simple().to_string()
}

/// The id that a key ends with.
pub(super) fn id_of(key: &str) -> Result<Uuid, uuid::Error> {
    Uuid::parse_str(key.rsplit('/').next().unwrap_or_default())
}

/// The ids of records, as kept in properties.
pub(super) fn evidence(records: &[RecordId]) -> Vec<String> {
    records.iter().map(|it| id(it.uuid())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use chrono::DateTime;
    use domain::record::Modality;
    use proptest::prelude::*;

    use super::*;

    fn record(name: &str, (seconds, nanos): (i64, u32), ordinal: u64) -> Record {
        let space: SpaceId = "a".parse().unwrap();
        Record {
            id: RecordId::derive(&space, name),
            session: SessionId::derive(&space, "s"),
            session_name: "s".to_owned(),
            external_id: name.to_owned(),
            space,
            ordinal,
            modality: Modality::Text,
            actor: String::new(),
            text: String::new(),
            image_caption: None,
            image_uri: None,
            version: None,
            tool: None,
            observed_at: DateTime::from_timestamp(seconds, nanos).unwrap().fixed_offset(),
            tags: Vec::new(),
            metadata: BTreeMap::new(),
        }
    }

    proptest! {
        #[test]
        fn places_sort_like_records(
            a in ("[a-z]{1,3}", (-9_000_000_000i64..9_000_000_000, 0u32..1_000_000_000), any::<u64>()),
            b in ("[a-z]{1,3}", (-9_000_000_000i64..9_000_000_000, 0u32..1_000_000_000), any::<u64>()),
            same in any::<bool>(),
        ) {
            let keys = Keys::new("n", &"a".parse().unwrap());
            let (x, y) = (record(&a.0, a.1, a.2), record(&b.0, if same { a.1 } else { b.1 }, b.2));
            prop_assert_eq!(keys.place(&x).cmp(&keys.place(&y)), x.order().cmp(&y.order()));
            let (from, until) = keys.session(x.session);
            prop_assert!(from < keys.place(&x) && keys.place(&x) < until);
            let (from, until) = keys.within(x.session, Some(y.observed_at), None);
            prop_assert_eq!(from < keys.place(&x) && keys.place(&x) < until, x.observed_at >= y.observed_at);
            let (from, until) = keys.within(x.session, None, Some(y.observed_at));
            prop_assert_eq!(from < keys.place(&x) && keys.place(&x) < until, x.observed_at < y.observed_at);
        }
    }

    #[test]
    fn keys_of_a_space_stay_in_its_range() {
        for (inside, outside) in [("a", "a-b"), ("a", "a.b"), ("a", "a0"), ("a", "b"), ("a0", "a")] {
            let [inside, outside] = [inside, outside].map(|it| Keys::new("n", &it.parse().unwrap()));
            let own = format!("{}x", inside.prefix());
            assert!(inside.prefix() < own && own < inside.until());
            let other = format!("{}x", outside.prefix());
            assert!(other <= inside.prefix() || other >= inside.until(), "{other}");
        }
    }
}
