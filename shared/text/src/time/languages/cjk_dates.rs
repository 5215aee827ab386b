//! Dates in Chinese, Japanese and Korean.

use chrono::NaiveDate;

use crate::time::calendar::{FoundTime, add_days, checked_date, monday_of_week};
use crate::time::parser::{Parser, ReadResult};
use crate::time_words::foreign_words::WORLD;
use crate::time_words::lexicon::{Class, Unit};

impl Parser<'_> {
    /// Reads "2023年5月7日", "2023年5月", "5月7日", "2023년 5월 7일".
    pub(crate) fn signed_date(&self, i: usize) -> ReadResult {
        let figure = |at: usize, unit: Unit| {
            let begins_next = |sign: &str| self.word_at(at + 1).starts_with(sign);
            match self.class_at(at) {
                Class::Digits(value, _) if WORLD.date_signs.iter().any(|it| it.1 == unit && begins_next(it.0)) => {
                    Some((at + 2, value))
                }
                _ => None,
            }
        };
        let year = figure(i, Unit::Year).filter(|(_, year)| (1000..3000).contains(year));
        let month = figure(year.map_or(i, |(at, _)| at), Unit::Month);
        let day = month.and_then(|(at, _)| figure(at, Unit::Day));
        match (year, month, day) {
            (Some((_, year)), Some((_, month)), Some((end, day))) => Some((
                end,
                FoundTime::from_day(checked_date(i32::try_from(year).ok()?, month, day)?).to_absolute(),
            )),
            (Some((_, year)), Some((end, month)), None) => Some((
                end,
                FoundTime::month_of(checked_date(i32::try_from(year).ok()?, month, 1)?).to_absolute(),
            )),
            (Some((end, year)), None, _) => Some((end, FoundTime::from_year(i32::try_from(year).ok()?).to_absolute())),
            (None, Some((_, month)), Some((end, day))) => {
                Some((end, FoundTime::from_day(self.day_of_year(i, month, day)?)))
            }
            _ => None,
        }
    }

    /// Reads a relative time such as "today", or a weekday.
    pub(crate) fn read_cjk_time(&self, i: usize) -> ReadResult {
        let token = self.tokens.get(i)?;
        let rest = self.text.get(token.start..)?;
        if let Some((length, day)) = self.signed_weekday(i, rest) {
            return self
                .token_ending_at(i, token.start + length)
                .map(|end| (end, FoundTime::from_day(day)));
        }
        let (name, step) = WORLD.close.iter().find(|(name, _)| rest.starts_with(name))?;
        let end = self.token_ending_at(i, token.start + name.len())?;
        self.span_of_step(step.unit, step.count).map(|found| (end, found))
    }

    /// Reads "周一", "上周五", "下个星期天", "月曜日"; returns the length in bytes and the day. "一周一次" means once a week.
    fn signed_weekday(&self, i: usize, rest: &str) -> Option<(usize, NaiveDate)> {
        let (week, rest_of_word) = WORLD
            .weeks
            .iter()
            .find_map(|(name, week)| rest.strip_prefix(name).map(|rest| (Some(*week), rest)))
            .unwrap_or((None, rest));
        let counted = self.is_glued(i) && "一二两三四五六七八九十几每毎".contains(self.word_before(i));
        if counted && week.is_none() {
            return None;
        }
        let of = |signs: &str, sign: char| (0..).zip(signs.chars()).find(|it| it.1 == sign).map(|it| it.0);
        let mut nouns = WORLD.weekday_nouns.iter();
        let chinese = nouns.find_map(|it| rest_of_word.strip_prefix(it));
        let mut signs = chinese.unwrap_or(rest_of_word).chars();
        let sign = signs.next()?;
        let (day, left) = if chinese.is_some() {
            (
                of("一二三四五六日", sign).or((sign == '天').then_some(6))?,
                signs.as_str(),
            )
        } else {
            let left = signs.as_str().strip_prefix('曜')?;
            (of("月火水木金土日", sign)?, left.strip_prefix('日').unwrap_or(left))
        };
        let date = match week {
            Some(week) => add_days(monday_of_week(self.today), 7 * week + i64::from(day)),
            None => self.weekday_near(i, day),
        };
        Some((rest.len() - left.len(), date))
    }

    /// Returns the index of the first token at or after the byte `after`, if the token before it ends exactly at
    /// `after`. Tokens before `i` are ignored.
    fn token_ending_at(&self, i: usize, after: usize) -> Option<usize> {
        let taken = self
            .tokens
            .get(i..)?
            .iter()
            .take_while(|token| token.start < after)
            .count();
        (self.tokens.get((i + taken).checked_sub(1)?)?.end == after).then_some(i + taken)
    }
}
