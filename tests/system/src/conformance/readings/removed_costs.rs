//! The cost of readings that were removed.

use chrono::{DateTime, NaiveTime, TimeDelta, Utc};
use domain::reading::{Reading, ReadingTally};

use super::super::Ports;
use super::super::sample::noon;
use super::{put_readings, reading_over};

/// The cost of a day includes that of its removed readings, also of those removed with a record, and counts each once.
pub async fn the_cost_of_removed_readings_counts_for_their_day(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let readings = &ports.readings;
    let (a, b) = (put_readings(&ports, "a").await, put_readings(&ports, "b").await);
    let midnight = noon().date_naive().and_time(NaiveTime::MIN).and_utc();
    let next_day = midnight + TimeDelta::days(1);
    let calls_since = async |since: DateTime<Utc>| readings.tally(&a, Some(since)).await.unwrap().spent.calls;
    let made_on_day = |days: i64, record: &str| Reading {
        at: noon() + TimeDelta::days(days),
        ..reading_over(&a, &[record], &[])
    };
    let all = [
        made_on_day(0, "1"),
        made_on_day(0, "2"),
        made_on_day(0, "3"),
        made_on_day(-1, "4"),
    ];
    readings.put(&a, &all).await.unwrap();
    assert_eq!(calls_since(midnight).await, 6);
    readings.remove(&a, &[all[0].id, all[3].id]).await.unwrap();
    assert_eq!(calls_since(midnight).await, 6);
    ports.records.erase(&a, &all[1].records).await.unwrap();
    readings.remove(&a, &[all[0].id]).await.unwrap();
    readings.put(&a, &all[2..3]).await.unwrap();
    let today = readings.tally(&a, Some(midnight)).await.unwrap();
    assert_eq!((today.done, today.spent.calls), (1, 6));
    assert_eq!(today.spent.usage.total_tokens(), 3 * 1_010);
    assert_eq!(calls_since(next_day).await, 0);
    assert_eq!(
        readings.tally(&b, Some(midnight)).await.unwrap(),
        ReadingTally::default()
    );

    let later = made_on_day(1, "1");
    readings.put(&a, std::slice::from_ref(&later)).await.unwrap();
    readings.remove(&a, &[later.id]).await.unwrap();
    assert_eq!(calls_since(next_day).await, 2);
    // Only the cost of the latest day is kept.
    assert_eq!(calls_since(midnight).await, 2);
}
