//! Readings, which are removed with their records, and sessions that are wanted for reading.

mod removed_costs;

use chrono::{DateTime, TimeDelta, Utc};
use domain::erasure::Erased;
use domain::id::{ReadingId, SessionId, SpaceId};
use domain::port::{ModelCost, Usage};
use domain::reading::{GistRef, LeftOut, Reading, ReadingOutcome, ReadingTally, ReadingVersion};
use domain::{Classify, ErrorKind};
use fixtures::sample_reading;

use super::Ports;
use super::sample::{noon, record, space};
pub use removed_costs::the_cost_of_removed_readings_counts_for_their_day;

/// Returns a reading of the named records; the model was also shown the records of `beside`.
fn reading_over(space: &SpaceId, records: &[&str], beside: &[&str]) -> Reading {
    let ids = |all: &[&str]| all.iter().map(|it| record(space, it).id).collect::<Vec<_>>();
    let records = ids(records);
    let first = records[0];
    Reading {
        session: record(space, "1").session,
        earlier: vec![GistRef { first, number: 3 }],
        records,
        beside: ids(beside),
        digest: "ab".repeat(32),
        prompt: "read/1".to_owned(),
        model: "model-1".to_owned(),
        at: noon(),
        output: "{\"gists\": [\"Zoë 文\"]}".to_owned(),
        outcome: ReadingOutcome {
            gists: 1,
            left_out: vec![LeftOut {
                what: "\"Zoë\"".to_owned(),
                why: "no line".to_owned(),
            }],
            ..ReadingOutcome::default()
        },
        spent: ModelCost {
            calls: 2,
            usage: Usage {
                prompt_tokens: 1_000,
                completion_tokens: 10,
            },
            ms: 1.5,
        },
        ..sample_reading(space, first)
    }
}

/// Creates a space with the records 1 to 4.
async fn put_readings(ports: &Ports, name: &str) -> SpaceId {
    let it = space(name);
    ports.records.create_space(&it, noon()).await.unwrap();
    let records = ["1", "2", "3", "4"].map(|id| record(&it, id));
    ports.records.put(&it, &records).await.unwrap();
    it
}

fn ids(readings: &[Reading]) -> Vec<ReadingId> {
    readings.iter().map(|it| it.id).collect()
}

/// Returns the version of a reading: its id and its time in whole milliseconds, by which it differs from a reading
/// that replaces it.
fn version_of(reading: &Reading) -> ReadingVersion {
    ReadingVersion {
        id: reading.id,
        at: DateTime::from_timestamp_millis(reading.at.timestamp_millis()).unwrap(),
    }
}

/// A reading is found by id, by record, by session and in the list. Another space has nothing of it.
pub async fn a_reading_comes_back_as_it_was(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let readings = &ports.readings;
    let (a, b) = (put_readings(&ports, "a").await, put_readings(&ports, "b").await);
    let mut all = [reading_over(&a, &["1", "2"], &[]), reading_over(&a, &["3"], &["2"])];
    assert_eq!(readings.put(&a, &all).await.unwrap(), ids(&all));
    assert_eq!(
        readings.get(&a, &[all[1].id, all[0].id]).await.unwrap(),
        [all[1].clone(), all[0].clone()]
    );
    all.sort_by_key(|it| it.id);
    let of = async |names: &[&str]| {
        let records: Vec<_> = names.iter().map(|it| record(&a, it).id).collect();
        readings.of_records(&a, &records).await.unwrap()
    };
    assert_eq!(of(&["2"]).await, all);
    assert_eq!(of(&["1", "2", "3"]).await, all, "each once");
    assert_eq!(of(&["3"]).await, [reading_over(&a, &["3"], &["2"])]);
    assert_eq!(of(&["4"]).await, []);
    assert_eq!(readings.of_session(&a, all[0].session).await.unwrap(), all);
    assert_eq!(
        readings
            .of_session(&a, SessionId::from_name(&a, "other"))
            .await
            .unwrap(),
        []
    );
    let versions = all.each_ref().map(version_of);
    assert_eq!(readings.versions(&a, all[0].session).await.unwrap(), versions);
    for (space, session) in [(&a, SessionId::from_name(&a, "other")), (&b, all[0].session)] {
        assert_eq!(readings.versions(space, session).await.unwrap(), []);
    }
    assert_eq!(readings.list(&a, None, 9).await.unwrap(), all);
    assert_eq!(readings.list(&a, Some(all[0].id), 9).await.unwrap(), all[1..]);
    assert_eq!(readings.list(&a, None, 1).await.unwrap(), all[..1]);
    assert_eq!(readings.get(&b, &ids(&all)).await.unwrap(), []);
    assert_eq!(readings.list(&b, None, 9).await.unwrap(), []);
    let error = readings.put(&space("never"), &all).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

/// A passage has one reading. The records that the model was shown for the former reading do not belong to the new
/// one.
pub async fn a_reading_takes_the_place_of_the_one_before(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let readings = &ports.readings;
    let a = put_readings(&ports, "a").await;
    readings
        .put(&a, &[reading_over(&a, &["1", "2"], &["3"])])
        .await
        .unwrap();
    let longer = Reading {
        at: noon() + TimeDelta::milliseconds(1),
        ..reading_over(&a, &["1", "4"], &[])
    };
    readings.put(&a, std::slice::from_ref(&longer)).await.unwrap();
    assert_eq!(readings.list(&a, None, 9).await.unwrap(), std::slice::from_ref(&longer));
    let versions = readings.versions(&a, longer.session).await.unwrap();
    assert_eq!(versions, [version_of(&longer)]);
    for (name, found) in [("2", 0), ("3", 0), ("4", 1)] {
        let of = readings.of_records(&a, &[record(&a, name).id]).await.unwrap();
        assert_eq!(of.len(), found, "{name}");
    }
    readings
        .remove(&a, &[longer.id, ReadingId::of_passage(record(&a, "3").id)])
        .await
        .unwrap();
    assert_eq!(readings.list(&a, None, 9).await.unwrap(), []);
    assert_eq!(readings.of_records(&a, &[record(&a, "1").id]).await.unwrap(), []);
}

/// If any record that the model was shown is erased, the reading is removed and cannot be stored again.
pub async fn a_reading_goes_with_any_record_that_was_shown(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let readings = &ports.readings;
    let a = put_readings(&ports, "a").await;
    let (first, second) = (reading_over(&a, &["1", "2"], &[]), reading_over(&a, &["3"], &["2"]));
    let third = reading_over(&a, &["4"], &[]);
    let all = [first.clone(), second.clone(), third.clone()];
    readings.put(&a, &all).await.unwrap();
    ports.records.erase(&a, &[record(&a, "2").id]).await.unwrap();
    assert_eq!(readings.list(&a, None, 9).await.unwrap(), std::slice::from_ref(&third));
    assert_eq!(readings.put(&a, &all).await.unwrap(), [third.id]);
    assert_eq!(readings.get(&a, &ids(&all)).await.unwrap(), [third]);
}

/// Readings are counted with their cost; failed readings are counted separately.
pub async fn readings_are_counted_since_a_moment(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let readings = &ports.readings;
    let a = put_readings(&ports, "a").await;
    let tally = async |since: Option<DateTime<Utc>>| readings.tally(&a, since).await.unwrap();
    assert_eq!(tally(None).await, ReadingTally::default());
    let failed = Reading {
        at: noon() + TimeDelta::hours(1),
        output: String::new(),
        failure: Some("no reply".to_owned()),
        ..reading_over(&a, &["3"], &[])
    };
    readings
        .put(&a, &[reading_over(&a, &["1"], &[]), failed])
        .await
        .unwrap();
    let all = tally(None).await;
    assert_eq!((all.done, all.failed, all.spent.calls), (1, 1, 4));
    assert_eq!(
        (all.spent.usage.prompt_tokens, all.spent.usage.completion_tokens),
        (2_000, 20)
    );
    assert!((all.spent.ms - 3.0).abs() < 0.001);
    let later = tally(Some(noon() + TimeDelta::minutes(1))).await;
    assert_eq!((later.done, later.failed, later.spent.calls), (0, 1, 2));
    assert_eq!(
        readings.tally(&space("never"), None).await.unwrap(),
        ReadingTally::default()
    );
}

/// A taken session cannot be taken again until its lease ends. A settled session can be taken again when it is due.
pub async fn a_wanted_session_is_taken_once(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let readings = &ports.readings;
    let a = put_readings(&ports, "a").await;
    let (session, later) = (record(&a, "1").session, |minutes| noon() + TimeDelta::minutes(minutes));
    readings
        .schedule_sessions(&a, &[session], later(0), later(5))
        .await
        .unwrap();
    assert_eq!(readings.count_scheduled_sessions(&a).await.unwrap(), 1);
    assert_eq!(
        readings.lease_session(later(4), later(9), None).await.unwrap(),
        None,
        "not due"
    );
    let taken = readings.lease_session(later(5), later(9), None).await.unwrap().unwrap();
    assert_eq!((&taken.space, taken.session), (&a, session));
    assert_eq!(
        readings.lease_session(later(6), later(9), None).await.unwrap(),
        None,
        "taken"
    );
    let again = readings
        .lease_session(later(10), later(20), None)
        .await
        .unwrap()
        .unwrap();
    readings.settle(&taken, None).await.unwrap();
    assert_eq!(
        readings.count_scheduled_sessions(&a).await.unwrap(),
        1,
        "the first lease has ended"
    );
    readings.settle(&again, Some(later(30))).await.unwrap();
    assert_eq!(readings.lease_session(later(29), later(40), None).await.unwrap(), None);
    let third = readings
        .lease_session(later(30), later(40), None)
        .await
        .unwrap()
        .unwrap();
    let whole = DateTime::from_timestamp_millis(noon().timestamp_millis()).unwrap();
    assert_eq!(third.wanted_at, whole, "when it was wanted stays");
    readings.settle(&third, None).await.unwrap();
    assert_eq!(readings.count_scheduled_sessions(&a).await.unwrap(), 0);
    assert_eq!(readings.lease_session(later(60), later(61), None).await.unwrap(), None);
}

/// A clock that was ahead for a while left a reading, a due time and a lease that lie months in the future. The budget of
/// the day does not count the reading, and the session can be taken.
pub async fn times_of_a_clock_that_was_ahead_block_nothing(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let readings = &ports.readings;
    let a = put_readings(&ports, "a").await;
    let later = |minutes| noon() + TimeDelta::minutes(minutes);
    let ahead = noon() + TimeDelta::days(90);
    let of_ahead = Reading {
        at: ahead,
        ..reading_over(&a, &["3"], &[])
    };
    readings
        .put(&a, &[reading_over(&a, &["1"], &[]), of_ahead])
        .await
        .unwrap();
    let done_since = async |since: Option<DateTime<Utc>>| readings.tally(&a, since).await.unwrap().done;
    assert_eq!(done_since(Some(noon())).await, 1, "the day has one reading");
    assert_eq!(done_since(None).await, 2);

    let session = record(&a, "1").session;
    readings.schedule_sessions(&a, &[session], ahead, ahead).await.unwrap();
    let lease = async |minutes: i64| {
        let leased = readings.lease_session(later(minutes), later(minutes + 30), None).await;
        leased.unwrap()
    };
    assert!(lease(0).await.is_some(), "due in three months");
    assert_eq!(lease(1).await, None, "the lease holds");
    let of_killed = readings
        .lease_session(ahead, ahead + TimeDelta::minutes(30), None)
        .await
        .unwrap();
    assert!(of_killed.is_some());
    let taken = lease(2).await.unwrap();
    readings.settle(&of_killed.unwrap(), None).await.unwrap();
    assert_eq!(
        readings.count_scheduled_sessions(&a).await.unwrap(),
        1,
        "it is another's"
    );
    readings.settle(&taken, None).await.unwrap();
    assert_eq!(readings.count_scheduled_sessions(&a).await.unwrap(), 0);
}

/// A session that was wanted again while it was taken can be taken once more.
pub async fn what_is_wanted_meanwhile_stands(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let readings = &ports.readings;
    let a = put_readings(&ports, "a").await;
    let later = |minutes| noon() + TimeDelta::minutes(minutes);
    let session = record(&a, "1").session;
    for next in [None, Some(later(50))] {
        readings
            .schedule_sessions(&a, &[session], later(0), later(1))
            .await
            .unwrap();
        let taken = readings.lease_session(later(1), later(9), None).await.unwrap().unwrap();
        readings
            .schedule_sessions(&a, &[session], later(2), later(2))
            .await
            .unwrap();
        assert_eq!(
            readings.lease_session(later(3), later(9), None).await.unwrap(),
            None,
            "still taken"
        );
        readings.settle(&taken, next).await.unwrap();
        let again = readings.lease_session(later(3), later(9), None).await.unwrap().unwrap();
        assert!(again.wanted_at > taken.wanted_at);
        readings.settle(&again, None).await.unwrap();
    }
    let error = readings
        .schedule_sessions(&space("never"), &[session], noon(), noon())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

/// A space with many sessions does not delay other spaces.
pub async fn spaces_take_turns(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let readings = &ports.readings;
    let (a, b) = (put_readings(&ports, "a").await, put_readings(&ports, "b").await);
    let sessions = |of: &SpaceId| ["x", "y"].map(|it| SessionId::from_name(of, it));
    readings
        .schedule_sessions(&a, &sessions(&a), noon(), noon())
        .await
        .unwrap();
    readings
        .schedule_sessions(&b, &sessions(&b), noon(), noon() + TimeDelta::minutes(1))
        .await
        .unwrap();
    let now = noon() + TimeDelta::minutes(2);
    let mut last: Option<SpaceId> = None;
    let mut order = Vec::new();
    while let Some(it) = readings
        .lease_session(now, now + TimeDelta::hours(1), last.as_ref())
        .await
        .unwrap()
    {
        order.push(it.space.to_string());
        last = Some(it.space);
    }
    assert_eq!(order, ["a", "b", "a", "b"]);
}

/// Nothing remains of a deleted space, and another space keeps everything.
pub async fn readings_go_with_their_space(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let readings = &ports.readings;
    for name in ["a", "b"] {
        let it = put_readings(&ports, name).await;
        readings.put(&it, &[reading_over(&it, &["1"], &["2"])]).await.unwrap();
        readings
            .schedule_sessions(&it, &[record(&it, "1").session], noon(), noon())
            .await
            .unwrap();
    }
    let (a, b) = (space("a"), space("b"));
    let erased = Erased::Space { created_at: noon() };
    let before = ports.receipts.count_remaining_data(&a, &erased).await.unwrap();
    assert_eq!((before["readings"], before["wanted_sessions"]), (1, 1));
    assert!(ports.records.delete_space(&a).await.unwrap());
    ports
        .records
        .create_space(&a, noon() + TimeDelta::hours(1))
        .await
        .unwrap();
    assert_eq!(readings.list(&a, None, 9).await.unwrap(), []);
    assert_eq!(readings.count_scheduled_sessions(&a).await.unwrap(), 0);
    let left = ports.receipts.count_remaining_data(&a, &erased).await.unwrap();
    assert_eq!((left["readings"], left["wanted_sessions"]), (0, 0));
    assert_eq!(readings.list(&b, None, 9).await.unwrap().len(), 1);
    assert_eq!(readings.count_scheduled_sessions(&b).await.unwrap(), 1);
}

/// Stored readings and wanted sessions survive a restart.
pub async fn readings_survive(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let a = put_readings(&ports, "a").await;
    let stored = reading_over(&a, &["1"], &[]);
    ports.readings.put(&a, std::slice::from_ref(&stored)).await.unwrap();
    ports
        .readings
        .schedule_sessions(&a, &[stored.session], noon(), noon())
        .await
        .unwrap();
    drop(ports);
    let readings = open().await.readings;
    assert_eq!(readings.get(&a, &[stored.id]).await.unwrap(), [stored]);
    assert!(readings.lease_session(noon(), noon(), None).await.unwrap().is_some());
}
