//! Counts the calls of a language model from which nothing was stored: their cost, so that the budget of a day covers
//! them too, and how often a question failed, so that it is given up or asked at growing intervals.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use domain::ErrorKind;
use domain::id::{ReadingId, SpaceId};
use domain::port::ModelCost;
use domain::reading::Reading;

use crate::clock;

/// Maximum number of spaces whose costs are kept. With one more, counting begins again.
const SPACES_MAX: usize = 10_000;
/// Number of failed attempts after which a question is given up. The third failure of an endpoint in a row, without a
/// reply in between, opens its circuit breaker and is not counted. A question that makes its endpoint fail is therefore
/// given up only if the endpoint answers others meanwhile. A smaller number would give up the only question of a space
/// in every outage of half a minute.
const ATTEMPTS_MAX: u32 = 3;
/// Maximum number of questions whose failed attempts are counted. With one more, counting begins again.
const QUESTIONS_MAX: usize = 100_000;
/// First and longest wait of a question after a failed call. The longest one limits how late a question is asked after
/// an outage has ended.
const WAIT_MIN: TimeDelta = TimeDelta::seconds(30);
const WAIT_MAX: TimeDelta = TimeDelta::minutes(15);

/// The cost, by space, of the calls of one day (UTC) whose replies could not be read, came too late, or were about a
/// record that was erased meanwhile, and the failed attempts at each question. After a restart, all of it starts again
/// at zero.
#[derive(Debug, Default)]
pub struct UnstoredCosts {
    day: Mutex<Day>,
    /// Number of failed attempts at each question since it was last answered or given up, by its reading.
    attempts: Mutex<BTreeMap<ReadingId, u32>>,
    /// The waits of questions whose failures are not counted as attempts, by their readings.
    waits: Mutex<BTreeMap<ReadingId, Wait>>,
}

/// The cost of calls whose reply is not stored yet. If it is dropped before that, the calls count as calls from which
/// nothing was stored.
#[derive(Debug)]
pub struct PendingCost<'a> {
    costs: &'a UnstoredCosts,
    space: &'a SpaceId,
    cost: ModelCost,
}

/// The wait of a question.
#[derive(Debug)]
struct Wait {
    until: DateTime<Utc>,
    length: TimeDelta,
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

    /// Adds the cost of a reply that is not stored. A share of a call may have tokens and no call.
    pub fn add_cost(&self, space: &SpaceId, cost: ModelCost, now: DateTime<Utc>) {
        if cost.calls == 0 && cost.usage.is_none() {
            return;
        }
        let mut day = self.lock_day(now);
        if day.costs.len() >= SPACES_MAX && !day.costs.contains_key(space) {
            day.costs.clear();
        }
        day.costs.entry(space.clone()).or_default().add_cost(cost);
    }

    /// Returns an account of calls for a space whose reply is still to be stored. It has no cost yet.
    pub fn open_pending<'a>(&'a self, space: &'a SpaceId) -> PendingCost<'a> {
        PendingCost {
            costs: self,
            space,
            cost: ModelCost::default(),
        }
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

    /// Forgets the failed attempts at a question and its wait, because it was answered or given up.
    pub fn forget_attempts(&self, question: ReadingId) {
        self.lock_attempts().remove(&question);
        self.lock_waits().remove(&question);
    }

    /// Makes a question wait after a failed call after which it is not given up, and returns the end of the wait. If
    /// `is_down`, the question itself may be what its endpoint fails at, and such failures are not counted as attempts:
    /// each of them doubles the wait, up to 15 minutes. Otherwise the wait has its first length, as after a call that
    /// was not sent.
    pub fn postpone_question(
        &self,
        question: ReadingId,
        cost: ModelCost,
        is_down: bool,
        now: DateTime<Utc>,
    ) -> DateTime<Utc> {
        if !is_down || cost.calls == 0 {
            return now + WAIT_MIN;
        }
        let mut all = self.lock_waits();
        if all.len() >= QUESTIONS_MAX && !all.contains_key(&question) {
            all.clear();
        }
        let length = all.get(&question).map_or(WAIT_MIN, |it| (it.length * 2).min(WAIT_MAX));
        let until = now + length;
        all.insert(question, Wait { until, length });
        until
    }

    /// Returns the end of the wait of a question; none if it may be asked at `now`.
    pub fn end_of_wait(&self, question: ReadingId, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let until = self.lock_waits().get(&question)?.until;
        // A later end was set while the clock was ahead.
        (now < until && until <= now + WAIT_MAX).then_some(until)
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

    fn lock_waits(&self) -> MutexGuard<'_, BTreeMap<ReadingId, Wait>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_attempts(&self) -> MutexGuard<'_, BTreeMap<ReadingId, u32>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingCost<'_> {
    /// Adds the cost of calls.
    pub fn add_cost(&mut self, cost: ModelCost) {
        self.cost.add_cost(cost);
    }

    /// Forgets the cost so far, because it is stored with a reading or counted elsewhere.
    pub fn settle(&mut self) {
        self.cost = ModelCost::default();
    }
}

impl Drop for PendingCost<'_> {
    fn drop(&mut self) {
        self.costs.add_cost(self.space, self.cost, clock::now());
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
    fn calls_whose_reply_is_not_stored_count_and_others_do_not() {
        let costs = UnstoredCosts::default();
        for (is_stored, expected) in [(true, 0), (false, 2)] {
            let home = home();
            let mut pending = costs.open_pending(&home);
            pending.add_cost(two_calls(700));
            if is_stored {
                pending.settle();
            }
            drop(pending);
            assert_eq!(costs.cost_of_today(&home, clock::now()).calls, expected);
        }
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
    fn a_question_that_fails_while_its_endpoint_is_down_waits_longer_each_time() {
        let (costs, question) = (UnstoredCosts::default(), sample_question());
        let start: DateTime<Utc> = "2026-03-02T18:00:00Z".parse().unwrap();
        let mut now = start;
        let mut fail = || {
            let until = costs.postpone_question(question, two_calls(0), true, now);
            let (just_before, wait) = (until - TimeDelta::seconds(1), until - now);
            assert_eq!(costs.end_of_wait(question, just_before), Some(until));
            assert_eq!(costs.end_of_wait(question, until), None);
            now = until;
            wait.num_seconds()
        };
        let waits = [(); 8].map(|()| fail());
        assert_eq!(waits, [30, 60, 120, 240, 480, 900, 900, 900]);
        let year_before = start - TimeDelta::days(365);
        assert_eq!(costs.end_of_wait(question, year_before), None, "the clock was ahead");
        costs.forget_attempts(question);
        assert_eq!(fail(), 30, "it was answered meanwhile");
    }

    #[test]
    fn failures_that_are_counted_and_calls_that_are_not_sent_lengthen_no_wait() {
        let (costs, question) = (UnstoredCosts::default(), sample_question());
        let now = "2026-03-02T18:00:00Z".parse().unwrap();
        for (cost, is_down) in [(two_calls(0), false), (ModelCost::default(), true)] {
            for _ in 0..3 {
                let until = costs.postpone_question(question, cost, is_down, now);
                assert_eq!(until - now, WAIT_MIN);
                assert_eq!(costs.end_of_wait(question, now), None);
            }
        }
        costs.postpone_question(question, two_calls(0), true, now);
        assert_eq!(costs.end_of_wait(question, now), Some(now + WAIT_MIN));
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
