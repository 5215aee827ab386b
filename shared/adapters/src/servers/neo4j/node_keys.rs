//! Keys of nodes: `namespace/space` for a space, `namespace/space/id` for everything that it owns.
//!
//! Neither a namespace nor the name of a space contains a `/`, so no key of one space begins with the
//! `namespace/space/` of another. The keys of a space are in the range from its name followed by `/` to its name
//! followed by the character after `/`.

use chrono::{DateTime, FixedOffset};
use domain::id::{RecordId, SessionId, SpaceId};
use domain::record::Record;
use uuid::Uuid;

/// The character after `/`; it ends the range of keys with a prefix.
const AFTER: char = '0';

/// The keys of one space.
pub(super) struct Keys {
    space: String,
}

impl Keys {
    pub(super) fn new(namespace: &str, space: &SpaceId) -> Keys {
        Keys {
            space: key_of_name(namespace, space.as_str()),
        }
    }

    /// Returns the key of the space itself.
    pub(super) fn space_key(&self) -> &str {
        &self.space
    }

    /// Returns the prefix of every key of the space; no key is equal to it.
    pub(super) fn key_prefix(&self) -> String {
        format!("{}/", self.space)
    }

    /// Returns the end of the range of the space's keys.
    pub(super) fn key_range_end(&self) -> String {
        format!("{}{AFTER}", self.space)
    }

    /// Returns the range of places of a session.
    pub(super) fn session_range(&self, session: SessionId) -> (String, String) {
        let start = format!("{}/{}", self.space, id_to_hex(session.uuid()));
        (format!("{start}/"), format!("{start}{AFTER}"))
    }

    /// Returns the range of places of a session between two times; without a time, the range is open on that side.
    pub(super) fn session_range_between(
        &self,
        session: SessionId,
        from: Option<DateTime<FixedOffset>>,
        until: Option<DateTime<FixedOffset>>,
    ) -> (String, String) {
        let (start, end) = self.session_range(session);
        // A place is longer than its time, so it sorts after its time and before every later time.
        let first = from.map_or_else(|| start.clone(), |it| format!("{start}{}", sortable_time(it)));
        (first, until.map_or(end, |it| format!("{start}{}", sortable_time(it))))
    }

    /// Returns the place of a record in its session: a fixed-width text that sorts like [`Record::session_order_key`].
    pub(super) fn record_place(&self, record: &Record) -> String {
        let (start, _) = self.session_range(record.session);
        format!(
            "{start}{}{:016x}{}",
            sortable_time(record.observed_at),
            record.ordinal,
            id_to_hex(record.id.uuid())
        )
    }
}

/// Returns a time as a fixed-width text that sorts in the same order.
fn sortable_time(at: DateTime<FixedOffset>) -> String {
    // Flipping the first bit maps the order of i64 to the order of u64.
    let seconds = at.timestamp().cast_unsigned() ^ (1 << 63);
    format!("{seconds:016x}{:08x}", at.timestamp_subsec_nanos())
}

/// Returns the range of the keys of all spaces in a namespace.
pub(super) fn key_range_of_namespace(namespace: &str) -> (String, String) {
    (format!("{namespace}/"), format!("{namespace}{AFTER}"))
}

/// Returns the key of an object that is identified by its name in the namespace: a space, or an object that belongs to
/// no space.
pub(super) fn key_of_name(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

/// Returns an id in the form used in keys: 32 hexadecimal digits, which sort like the id.
pub(super) fn id_to_hex(uuid: Uuid) -> String {
    uuid.simple().to_string()
}

/// Returns the id at the end of a key.
pub(super) fn id_of(key: &str) -> Result<Uuid, uuid::Error> {
    Uuid::parse_str(key.rsplit('/').next().unwrap_or_default())
}

/// Returns the ids of records in the form used in properties.
pub(super) fn record_ids_to_hex(records: &[RecordId]) -> Vec<String> {
    records.iter().map(|it| id_to_hex(it.uuid())).collect()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use proptest::prelude::*;

    use super::*;

    fn sample_record(name: &str, seconds: i64, nanos: u32, ordinal: u64) -> Record {
        let space: SpaceId = "a".parse().unwrap();
        Record {
            session: SessionId::from_name(&space, "s"),
            session_name: "s".to_owned(),
            ordinal,
            observed_at: DateTime::from_timestamp(seconds, nanos).unwrap().fixed_offset(),
            ..fixtures::sample_record(&space, name)
        }
    }

    proptest! {
        #[test]
        fn places_sort_in_the_order_of_records(
            a in ("[a-z]{1,3}", (-9_000_000_000i64..9_000_000_000, 0u32..1_000_000_000), any::<u64>()),
            b in ("[a-z]{1,3}", (-9_000_000_000i64..9_000_000_000, 0u32..1_000_000_000), any::<u64>()),
            same in any::<bool>(),
        ) {
            let keys = Keys::new("n", &"a".parse().unwrap());
            let (seconds, nanos) = if same { a.1 } else { b.1 };
            let x = sample_record(&a.0, a.1.0, a.1.1, a.2);
            let y = sample_record(&b.0, seconds, nanos, b.2);
            prop_assert_eq!(keys.record_place(&x).cmp(&keys.record_place(&y)), x.session_order_key().cmp(&y.session_order_key()));
            let (from, until) = keys.session_range(x.session);
            prop_assert!(from < keys.record_place(&x) && keys.record_place(&x) < until);
            let (from, until) = keys.session_range_between(x.session, Some(y.observed_at), None);
            prop_assert_eq!(from < keys.record_place(&x) && keys.record_place(&x) < until, x.observed_at >= y.observed_at);
            let (from, until) = keys.session_range_between(x.session, None, Some(y.observed_at));
            prop_assert_eq!(from < keys.record_place(&x) && keys.record_place(&x) < until, x.observed_at < y.observed_at);
        }
    }

    #[test]
    fn keys_of_a_space_stay_in_its_range() {
        for (inside, outside) in [("a", "a-b"), ("a", "a.b"), ("a", "a0"), ("a", "b"), ("a0", "a")] {
            let [inside, outside] = [inside, outside].map(|it| Keys::new("n", &it.parse().unwrap()));
            let own = format!("{}x", inside.key_prefix());
            assert!(inside.key_prefix() < own && own < inside.key_range_end());
            let other = format!("{}x", outside.key_prefix());
            assert!(
                other <= inside.key_prefix() || other >= inside.key_range_end(),
                "{other}"
            );
        }
    }
}
