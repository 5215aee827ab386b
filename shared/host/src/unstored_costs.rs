//! Counts the calls of a language model from which nothing was stored: their cost, so that the budget of a day covers
//! them too, and how often a question failed, so that it is not asked forever.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, NaiveDate, Utc};
use domain::ErrorKind;
use domain::id::{ReadingId, SpaceId};
use domain::port::ModelCost;
use domain::reading::Reading;

/// Maximum number of spaces whose costs are kept. With one more, counting begins again.
const SPACES_MAX: usize = 10_000;
/// Number of failed attempts after which a question is given up. The third failure of an endpoint in a row, without a
/// reply in between, opens its circuit breaker and is not counted. A question that makes its endpoint fail is therefore
/// given up only if the endpoint answers others meanwhile. A smaller number would give up the only question of a space
/// in every outage of half a minute.
const ATTEMPTS_MAX: u32 = 3;
/// Maximum number of questions whose failed attempts are counted. With one more, counting begins again.
const QUESTIONS_MAX: usize = 100_000;

/// The cost, by space, of the calls of one day (UTC) whose replies could not be read, came too late, or were about a
/// record that was erased meanwhile, and the failed attempts at each question. After a restart, both start again at
/// zero.
#[derive(Debug, Default)]
pub struct UnstoredCosts {
    day: Mutex<Day>,
    /// Number of failed attempts at each question since it was last answered or given up, by its reading.
    attempts: Mutex<BTreeMap<ReadingId, u32>>,
}

#[derive(Debug, Default)]
struct Day {
    date: NaiveDate,
    costs: BTreeMap<SpaceId, ModelCost>,
}

impl UnstoredCosts {
    /// Returns the cost of a former reading that the new one, made at `now`, has to include. If both were made on the
    /// same day (UTC), that is the whole cost, since the budget of the day would lose it otherwise. If not, it is zero,
    /// because the budget of the earlier day has covered it.
    pub fn cost_of_replaced_reading(former: Option<&Reading>, now: DateTime<Utc>) -> ModelCost {
        let of_same_day = former.filter(|it| it.at.date_naive() == now.date_naive());
        of_same_day.map(|it| it.spent).unwrap_or_default()
    }

    /// Adds the cost of a reply that is not stored.
    pub fn add_cost(&self, space: &SpaceId, cost: ModelCost, now: DateTime<Utc>) {
        if cost.calls == 0 {
            return;
        }
        let mut day = self.lock_day(now);
        if day.costs.len() >= SPACES_MAX && !day.costs.contains_key(space) {
            day.costs.clear();
        }
        day.costs.entry(space.clone()).or_default().add_cost(cost);
    }

    /// Adds the cost of calls that ended with a failure, after which the same is asked again later. If `is_down`, the
    /// endpoint cannot be reached or refuses every call, and did nothing that costs: calls without tokens do not count
    /// then, or an outage would use up the budget of the day.
    pub fn add_failed(&self, space: &SpaceId, cost: ModelCost, is_down: bool, now: DateTime<Utc>) {
        if !is_down || !cost.usage.is_none() {
            self.add_cost(space, cost, now);
        }
    }

    /// Counts a failed call about a question, and returns true if the question is given up: at its third counted failure,
    /// or at once if the kind of failure cannot pass. `is_down` is true if the endpoint cannot be reached or refuses every
    /// call. Such a failure says nothing about the question and is not counted, unless it is a timeout. A call that was
    /// not sent is not counted either.
    pub fn count_failed_call(&self, question: ReadingId, failure: ErrorKind, cost: ModelCost, is_down: bool) -> bool {
        match failure {
            ErrorKind::NotFound | ErrorKind::Conflict | ErrorKind::Damaged | ErrorKind::Internal => {
                self.forget_attempts(question);
                true
            }
            ErrorKind::Timeout => self.count_attempt(question),
            // An endpoint that answers 400 or 422 may have wrong settings, and accept the question once they are right.
            ErrorKind::Invalid | ErrorKind::Unavailable | ErrorKind::Exhausted => {
                cost.calls > 0 && !is_down && self.count_attempt(question)
            }
        }
    }

    /// Counts a failed attempt at a question, and returns true if the question is given up. Its attempts are forgotten
    /// then, so that it gets as many if it is ever asked again.
    pub fn count_attempt(&self, question: ReadingId) -> bool {
        let mut all = self.lock_attempts();
        if all.len() >= QUESTIONS_MAX && !all.contains_key(&question) {
            all.clear();
        }
        let attempts = all.entry(question).or_default();
        *attempts += 1;
        let is_given_up = *attempts >= ATTEMPTS_MAX;
        if is_given_up {
            all.remove(&question);
        }
        is_given_up
    }

    /// Forgets the failed attempts at a question, because it was answered or given up.
    pub fn forget_attempts(&self, question: ReadingId) {
        self.lock_attempts().remove(&question);
    }

    /// Returns the cost for a space on the day of `now`.
    pub fn cost_of_today(&self, space: &SpaceId, now: DateTime<Utc>) -> ModelCost {
        self.lock_day(now).costs.get(space).copied().unwrap_or_default()
    }

    /// Returns the day of `now`, without costs if it is another one than before.
    fn lock_day(&self, now: DateTime<Utc>) -> MutexGuard<'_, Day> {
        let mut day = self.day.lock().unwrap_or_else(PoisonError::into_inner);
        let date = now.date_naive();
        if day.date != date {
            *day = Day {
                date,
                costs: BTreeMap::new(),
            };
        }
        day
    }

    fn lock_attempts(&self) -> MutexGuard<'_, BTreeMap<ReadingId, u32>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use domain::id::RecordId;
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

    fn home() -> SpaceId {
        "home".parse().unwrap()
    }

    fn sample_question() -> ReadingId {
        ReadingId::of_people(&home(), "names")
    }

    #[test]
    fn only_calls_that_may_have_cost_something_count_and_only_for_their_day() {
        let costs = UnstoredCosts::default();
        let (one, other): (SpaceId, SpaceId) = ("one".parse().unwrap(), "other".parse().unwrap());
        let now = "2026-03-02T18:00:00Z".parse().unwrap();
        costs.add_failed(&one, two_calls(0), true, now);
        assert_eq!(costs.cost_of_today(&one, now), ModelCost::default(), "nobody answered");
        costs.add_failed(&one, two_calls(700), true, now);
        costs.add_failed(&one, two_calls(0), false, now);
        let today = costs.cost_of_today(&one, now);
        assert_eq!((today.calls, today.usage.total_tokens()), (4, 700));
        assert_eq!(costs.cost_of_today(&other, now), ModelCost::default());
        assert_eq!(
            costs.cost_of_today(&one, now + chrono::TimeDelta::days(1)),
            ModelCost::default()
        );
    }

    #[test]
    fn a_question_is_given_up_at_its_third_failure() {
        let (costs, question) = (UnstoredCosts::default(), sample_question());
        let fail = |kind: ErrorKind| costs.count_failed_call(question, kind, two_calls(0), false);
        let kinds = [ErrorKind::Unavailable, ErrorKind::Timeout, ErrorKind::Invalid];
        assert_eq!(kinds.map(fail), [false, false, true]);
        assert_eq!(kinds.map(fail), [false, false, true], "the attempts were forgotten");
        assert!(!fail(ErrorKind::Unavailable) && !fail(ErrorKind::Unavailable));
        costs.forget_attempts(question);
        assert!(!fail(ErrorKind::Unavailable), "it was answered meanwhile");
        assert!(fail(ErrorKind::Internal), "another attempt would fail too");
    }

    #[test]
    fn failures_that_say_nothing_about_the_question_are_not_counted() {
        let (costs, question) = (UnstoredCosts::default(), sample_question());
        let unsent = ModelCost::default();
        for _ in 0..2 * ATTEMPTS_MAX {
            assert!(!costs.count_failed_call(question, ErrorKind::Unavailable, two_calls(0), true));
            assert!(!costs.count_failed_call(question, ErrorKind::Unavailable, unsent, false));
        }
        let timeouts = [(); 3].map(|()| costs.count_failed_call(question, ErrorKind::Timeout, two_calls(0), true));
        assert_eq!(timeouts, [false, false, true]);
    }

    #[test]
    fn only_a_further_space_or_question_makes_counting_begin_again() {
        let costs = UnstoredCosts::default();
        let now = "2026-03-02T18:00:00Z".parse().unwrap();
        let space = |number: usize| -> SpaceId { format!("s{number}").parse().unwrap() };
        (0..SPACES_MAX).for_each(|it| costs.add_cost(&space(it), two_calls(0), now));
        costs.add_cost(&space(7), two_calls(0), now);
        let calls = |number: usize| costs.cost_of_today(&space(number), now).calls;
        assert_eq!((calls(7), calls(8)), (4, 2), "space 7 was known");
        costs.add_cost(&space(SPACES_MAX), two_calls(0), now);
        assert_eq!((calls(7), calls(8), calls(SPACES_MAX)), (0, 0, 2));

        let question = |number: usize| ReadingId::of_people(&home(), &number.to_string());
        (0..QUESTIONS_MAX).for_each(|it| assert!(!costs.count_attempt(question(it))));
        assert!(!costs.count_attempt(question(7)));
        assert!(costs.count_attempt(question(7)), "its earlier attempts count");
    }

    #[test]
    fn a_reading_includes_the_cost_of_the_replaced_one_of_the_same_day_only() {
        let at: DateTime<Utc> = "2026-03-02T18:00:00Z".parse().unwrap();
        let former = Reading {
            at,
            spent: two_calls(700),
            ..fixtures::sample_reading(&home(), RecordId::from_external_id(&home(), "1"))
        };
        let cost = |hours: i64| {
            let now = at + chrono::TimeDelta::hours(hours);
            UnstoredCosts::cost_of_replaced_reading(Some(&former), now)
        };
        assert_eq!((cost(5), cost(6)), (two_calls(700), ModelCost::default()));
        let none = UnstoredCosts::cost_of_replaced_reading(None, at);
        assert_eq!(none, ModelCost::default());
    }
}
