//! Counts the cost of calls of a language model from which nothing was stored, so that the budget of a day covers them too.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, NaiveDate, Utc};
use domain::ErrorKind;
use domain::id::SpaceId;
use domain::port::ModelCost;

/// Spaces whose costs are kept; beyond, counting begins again.
const SPACES_MAX: usize = 10_000;

/// The cost, by space, of the calls of one day (UTC) whose replies could not be read, came too late, or were about a
/// record that was erased meanwhile. After a restart, the cost starts again at zero.
#[derive(Debug, Default)]
pub struct UnstoredCosts(Mutex<Day>);

#[derive(Debug, Default)]
struct Day {
    date: NaiveDate,
    costs: BTreeMap<SpaceId, ModelCost>,
}

impl UnstoredCosts {
    /// Adds the cost of a reply that is not stored.
    pub fn add_cost(&self, space: &SpaceId, cost: ModelCost, now: DateTime<Utc>) {
        if cost.calls == 0 {
            return;
        }
        let mut day = self.lock_day(now);
        if day.costs.len() >= SPACES_MAX {
            day.costs.clear();
        }
        day.costs.entry(space.clone()).or_default().add_cost(cost);
    }

    /// Adds the cost of calls that ended with a failure, after which the same is asked again later. An endpoint that refuses a
    /// call, or cannot be reached, did nothing that costs: such calls do not count, or an outage would use up the budget of the
    /// day.
    pub fn add_failed(&self, space: &SpaceId, cost: ModelCost, failure: ErrorKind, now: DateTime<Utc>) {
        if !cost.usage.is_none() || failure == ErrorKind::Timeout {
            self.add_cost(space, cost, now);
        }
    }

    /// Returns the cost for a space on the day of `now`.
    pub fn cost_of_today(&self, space: &SpaceId, now: DateTime<Utc>) -> ModelCost {
        self.lock_day(now).costs.get(space).copied().unwrap_or_default()
    }

    /// Returns the day of `now`, without costs if it is another one than before.
    fn lock_day(&self, now: DateTime<Utc>) -> MutexGuard<'_, Day> {
        let mut day = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let date = now.date_naive();
        if day.date != date {
            *day = Day {
                date,
                costs: BTreeMap::new(),
            };
        }
        day
    }
}

#[cfg(test)]
mod tests {
    use domain::port::Usage;

    use super::*;

    fn two_calls(prompt_tokens: u32) -> ModelCost {
        ModelCost {
            calls: 2,
            usage: Usage {
                prompt_tokens,
                completion_tokens: 0,
            },
            ms: 1.0,
        }
    }

    #[test]
    fn only_calls_that_may_have_cost_something_count_and_only_for_their_day() {
        let costs = UnstoredCosts::default();
        let (one, other): (SpaceId, SpaceId) = ("one".parse().unwrap(), "other".parse().unwrap());
        let now = "2026-03-02T18:00:00Z".parse().unwrap();
        costs.add_failed(&one, two_calls(0), ErrorKind::Unavailable, now);
        assert_eq!(costs.cost_of_today(&one, now), ModelCost::default(), "nobody answered");
        costs.add_failed(&one, two_calls(700), ErrorKind::Unavailable, now);
        costs.add_failed(&one, two_calls(0), ErrorKind::Timeout, now);
        let today = costs.cost_of_today(&one, now);
        assert_eq!((today.calls, today.usage.total_tokens()), (4, 700));
        assert_eq!(costs.cost_of_today(&other, now), ModelCost::default());
        assert_eq!(
            costs.cost_of_today(&one, now + chrono::TimeDelta::days(1)),
            ModelCost::default()
        );
    }
}
