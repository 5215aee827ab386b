//! Rate limits: use of the quotas of each key within the minute and the day, in this process. It starts at zero with
//! the process.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Utc};
use domain::key::Quotas;

use crate::api::problem::Problem;

const MINUTE_SECS: i64 = 60;
const DAY_SECS: i64 = 24 * 60 * 60;
/// Number of counts at which counts of past windows are removed; more than the number of keys can be.
const COUNTS_MAX: usize = 16_384;

/// The counts of all keys.
pub(crate) struct Meters {
    requests: Meter,
    records: Meter,
}

/// Counts within consecutive windows of fixed length.
struct Meter {
    window_secs: i64,
    counts: Mutex<HashMap<String, Count>>,
}

/// Use of a key in a window.
struct Count {
    /// Number of the window since 1970.
    window: i64,
    used: u64,
}

/// The error that the request exceeds the rest of the quota.
#[derive(Debug, PartialEq, Eq)]
struct Over {
    left: u64,
    /// Seconds until the next window.
    retry_after_secs: u32,
}

impl Default for Meters {
    fn default() -> Meters {
        Meters {
            requests: Meter::new(MINUTE_SECS),
            records: Meter::new(DAY_SECS),
        }
    }
}

impl Meters {
    /// Counts a request of a key.
    ///
    /// # Errors
    /// `quota-exhausted` if the key has no request left in this minute; a refused request does not count.
    pub(crate) fn take_request(&self, key: &str, quotas: Quotas, now: DateTime<Utc>) -> Result<(), Problem> {
        let Some(most) = quotas.requests_per_minute else {
            return Ok(());
        };
        self.requests.count_within_quota(key, 1, most, now).map_err(|over| {
            let Over { retry_after_secs, .. } = over;
            let detail =
                format!("this key may send {most} requests a minute; the next one is taken in {retry_after_secs} s");
            Problem::quota_exhausted(detail, retry_after_secs)
        })
    }

    /// Counts new records of a key.
    ///
    /// # Errors
    /// `quota-exhausted` if the rest of the day's quota is too small for all of them; then none of them counts.
    pub(crate) fn take_records(
        &self,
        key: &str,
        quotas: Quotas,
        new: usize,
        now: DateTime<Utc>,
    ) -> Result<(), Problem> {
        let Some(most) = quotas.records_per_day else {
            return Ok(());
        };
        let counted = self.records.count_within_quota(key, record_count(new), most, now);
        counted.map_err(|over| records_over_quota(over, most, new))
    }

    /// Checks new records of a key like [`take_records`](Meters::take_records), but counts none of them.
    pub(crate) fn check_records(
        &self,
        key: &str,
        quotas: Quotas,
        new: usize,
        now: DateTime<Utc>,
    ) -> Result<(), Problem> {
        let Some(most) = quotas.records_per_day else {
            return Ok(());
        };
        let checked = self.records.check_within_quota(key, record_count(new), most, now);
        checked.map_err(|over| records_over_quota(over, most, new))
    }
}

fn record_count(new: usize) -> u64 {
    u64::try_from(new).unwrap_or(u64::MAX)
}

fn records_over_quota(over: Over, most: u32, new: usize) -> Problem {
    let Over { left, retry_after_secs } = over;
    let detail = format!(
        "this key may store {most} new records a day (UTC), of which {left} are left; this request has {new}. Nothing of it \
         was stored: send fewer, or send it again in {retry_after_secs} s"
    );
    Problem::quota_exhausted(detail, retry_after_secs)
}

impl Meter {
    fn new(window_secs: i64) -> Meter {
        Meter {
            window_secs,
            counts: Mutex::default(),
        }
    }

    /// Counts `new_records` for a key if the total in the window of `now` is then at most `most`.
    fn count_within_quota(&self, key: &str, new_records: u64, most: u32, now: DateTime<Utc>) -> Result<(), Over> {
        let window = self.window_at(now);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= COUNTS_MAX && !counts.contains_key(key) {
            counts.retain(|_, it| it.window == window);
        }
        let count = counts.entry(key.to_owned()).or_insert(Count { window, used: 0 });
        if count.window != window {
            *count = Count { window, used: 0 };
        }
        self.require_room(count.used, new_records, most, now)?;
        count.used += new_records;
        Ok(())
    }

    /// Checks like [`count_within_quota`](Meter::count_within_quota), but counts nothing.
    fn check_within_quota(&self, key: &str, new_records: u64, most: u32, now: DateTime<Utc>) -> Result<(), Over> {
        let window = self.window_at(now);
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.get(key).filter(|it| it.window == window);
        self.require_room(count.map_or(0, |it| it.used), new_records, most, now)
    }

    /// Returns the number of the window of `now` since 1970.
    fn window_at(&self, now: DateTime<Utc>) -> i64 {
        now.timestamp().div_euclid(self.window_secs)
    }

    fn require_room(&self, used: u64, new_records: u64, most: u32, now: DateTime<Utc>) -> Result<(), Over> {
        let left = u64::from(most).saturating_sub(used);
        if new_records <= left {
            return Ok(());
        }
        let secs = self.window_secs - now.timestamp().rem_euclid(self.window_secs);
        Err(Over {
            left,
            retry_after_secs: u32::try_from(secs).unwrap_or(u32::MAX),
        })
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn time_at_second(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::seconds(seconds)
    }

    #[test]
    fn a_window_ends_with_the_clock() {
        let meter = Meter::new(MINUTE_SECS);
        assert_eq!(meter.count_within_quota("a", 1, 2, time_at_second(10)), Ok(()));
        assert_eq!(meter.count_within_quota("a", 1, 2, time_at_second(50)), Ok(()));
        let over = |left, retry_after_secs| Err(Over { left, retry_after_secs });
        assert_eq!(meter.count_within_quota("a", 1, 2, time_at_second(50)), over(0, 10));
        assert_eq!(meter.count_within_quota("a", 1, 2, time_at_second(59)), over(0, 1));
        assert_eq!(
            meter.count_within_quota("b", 2, 2, time_at_second(59)),
            Ok(()),
            "another key"
        );
        assert_eq!(meter.count_within_quota("a", 1, 2, time_at_second(60)), Ok(()));
        assert_eq!(
            meter.count_within_quota("a", 2, 2, time_at_second(61)),
            over(1, 59),
            "all or nothing"
        );
        assert_eq!(
            meter.count_within_quota("a", 1, 2, time_at_second(62)),
            Ok(()),
            "what was refused does not count"
        );
    }

    #[test]
    fn a_check_counts_nothing() {
        let meter = Meter::new(MINUTE_SECS);
        assert_eq!(meter.check_within_quota("a", 2, 2, time_at_second(10)), Ok(()));
        assert_eq!(meter.count_within_quota("a", 2, 2, time_at_second(10)), Ok(()));
        let over = Over {
            left: 0,
            retry_after_secs: 50,
        };
        assert_eq!(meter.check_within_quota("a", 1, 2, time_at_second(10)), Err(over));
        assert_eq!(meter.check_within_quota("b", 2, 2, time_at_second(10)), Ok(()));
        assert_eq!(meter.check_within_quota("a", 2, 2, time_at_second(60)), Ok(()));
    }

    #[test]
    fn a_quota_below_the_current_use_is_used_up() {
        let meter = Meter::new(DAY_SECS);
        assert_eq!(meter.count_within_quota("a", 9, 10, time_at_second(0)), Ok(()));
        let over = Over {
            left: 0,
            retry_after_secs: 86_400,
        };
        assert_eq!(meter.count_within_quota("a", 1, 5, time_at_second(0)), Err(over));
        assert_eq!(
            meter.count_within_quota("a", 0, 5, time_at_second(0)),
            Ok(()),
            "nothing is always there"
        );
    }

    #[test]
    fn without_a_quota_nothing_is_counted() {
        let meters = Meters::default();
        for _ in 0..3 {
            assert!(meters.take_request("a", Quotas::default(), time_at_second(0)).is_ok());
            assert!(
                meters
                    .take_records("a", Quotas::default(), 1_000, time_at_second(0))
                    .is_ok()
            );
        }
        let quotas = Quotas {
            requests_per_minute: Some(1),
            records_per_day: Some(5),
        };
        assert!(meters.take_request("a", quotas, time_at_second(0)).is_ok());
        let refused = meters.take_request("a", quotas, time_at_second(0)).unwrap_err();
        assert_eq!((refused.status, refused.retry_after_secs), (429, Some(60)));
        let refused = meters.take_records("a", quotas, 6, time_at_second(0)).unwrap_err();
        assert!(
            refused.detail.contains("of which 5 are left; this request has 6"),
            "{}",
            refused.detail
        );
    }
}
