//! Dates in Chinese, Japanese and Korean.

use chrono::NaiveDate;

use super::calendar::{Found, add_days, date, monday};
use super::lexicon::{Class, Unit};
use super::parser::{Parser, Read};

/// Near times of Chinese, Japanese and Korean: days, weeks, months or years from now; longer forms first.
const CLOSE: &[(&str, Unit, i64)] = &[
    ("一昨日", Unit::Day, -2),
    ("おととい", Unit::Day, -2),
    ("前天", Unit::Day, -2),
    ("昨天", Unit::Day, -1),
    ("昨日", Unit::Day, -1),
    ("昨晚", Unit::Day, -1),
    ("今天", Unit::Day, 0),
    ("今日", Unit::Day, 0),
    ("明後日", Unit::Day, 2),
    ("明天", Unit::Day, 1),
    ("明日", Unit::Day, 1),
    ("后天", Unit::Day, 2),
    ("後天", Unit::Day, 2),
    ("上周末", Unit::Weekend, -1),
    ("先週末", Unit::Weekend, -1),
    ("今週末", Unit::Weekend, 0),
    ("上周", Unit::Week, -1),
    ("上週", Unit::Week, -1),
    ("上个星期", Unit::Week, -1),
    ("先週", Unit::Week, -1),
    ("这周", Unit::Week, 0),
    ("今週", Unit::Week, 0),
    ("下周", Unit::Week, 1),
    ("下週", Unit::Week, 1),
    ("来週", Unit::Week, 1),
    ("上个月", Unit::Month, -1),
    ("上個月", Unit::Month, -1),
    ("先月", Unit::Month, -1),
    ("今月", Unit::Month, 0),
    ("下个月", Unit::Month, 1),
    ("下個月", Unit::Month, 1),
    ("来月", Unit::Month, 1),
    ("去年", Unit::Year, -1),
    ("昨年", Unit::Year, -1),
    ("今年", Unit::Year, 0),
    ("明年", Unit::Year, 1),
    ("来年", Unit::Year, 1),
    ("그저께", Unit::Day, -2),
    ("어제", Unit::Day, -1),
    ("오늘", Unit::Day, 0),
    ("내일", Unit::Day, 1),
    ("지난주", Unit::Week, -1),
    ("다음주", Unit::Week, 1),
    ("작년", Unit::Year, -1),
    ("내년", Unit::Year, 1),
];

/// Words before a weekday in Chinese and Japanese, and the week that they mean; longer forms first.
const WEEKS: &[(&str, i64)] = &[
    ("上个", -1),
    ("上個", -1),
    ("上", -1),
    ("先週の", -1),
    ("这个", 0),
    ("這個", 0),
    ("这", 0),
    ("今週の", 0),
    ("下个", 1),
    ("下個", 1),
    ("下", 1),
    ("来週の", 1),
];

impl Parser<'_> {
    /// "2023年5月7日", "2023年5月", "5月7日", "2023년 5월 7일".
    pub(super) fn signed_date(&self, i: usize) -> Read {
        let figure = |at: usize, signs: &[&str]| match self.class(at) {
            Class::Digits(value, _) if signs.iter().any(|sign| self.word(at + 1).starts_with(sign)) => {
                Some((at + 2, value))
            }
            _ => None,
        };
        let year = figure(i, &["年", "년"]).filter(|(_, year)| (1000..3000).contains(year));
        let month = figure(year.map_or(i, |(at, _)| at), &["月", "월"]);
        let day = month.and_then(|(at, _)| figure(at, &["日", "号", "일"]));
        match (year, month, day) {
            (Some((_, year)), Some((_, month)), Some((end, day))) => {
                Some((end, Found::day(date(i32::try_from(year).ok()?, month, day)?).absolute()))
            }
            (Some((_, year)), Some((end, month)), None) => {
                Some((end, Found::month(date(i32::try_from(year).ok()?, month, 1)?).absolute()))
            }
            (Some((end, year)), None, _) => Some((end, Found::year(i32::try_from(year).ok()?).absolute())),
            (None, Some((_, month)), Some((end, day))) => Some((end, Found::day(self.day_of_year(i, month, day)?))),
            _ => None,
        }
    }

    /// A near time or a weekday.
    pub(super) fn close(&self, i: usize) -> Read {
        let token = self.tokens.get(i)?;
        let rest = self.text.get(token.start..)?;
        if let Some((length, day)) = self.signed_weekday(i, rest) {
            return self.until(i, token.start + length).map(|end| (end, Found::day(day)));
        }
        let (name, unit, step) = CLOSE.iter().find(|(name, ..)| rest.starts_with(name))?;
        let end = self.until(i, token.start + name.len())?;
        self.stepped(*unit, *step).map(|found| (end, found))
    }

    /// "周一", "上周五", "下个星期天", "月曜日": the bytes it takes, and the day. "一周一次" is once a week.
    fn signed_weekday(&self, i: usize, rest: &str) -> Option<(usize, NaiveDate)> {
        let (week, named) = WEEKS
            .iter()
            .find_map(|(name, week)| rest.strip_prefix(name).map(|rest| (Some(*week), rest)))
            .unwrap_or((None, rest));
        let counted = self.glued(i) && "一二两三四五六七八九十几每毎".contains(self.before(i));
        if counted && week.is_none() {
            return None;
        }
        let of = |signs: &str, sign: char| (0..).zip(signs.chars()).find(|it| it.1 == sign).map(|it| it.0);
        let chinese = ["星期", "礼拜", "禮拜", "周", "週"]
            .iter()
            .find_map(|it| named.strip_prefix(it));
        let mut signs = chinese.unwrap_or(named).chars();
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
            Some(week) => add_days(monday(self.today), 7 * week + i64::from(day)),
            None => self.weekday_near(i, day),
        };
        Some((rest.len() - left.len(), date))
    }

    /// The token that follows those before a byte, if one ends there.
    fn until(&self, i: usize, after: usize) -> Option<usize> {
        let taken = self
            .tokens
            .get(i..)?
            .iter()
            .take_while(|token| token.start < after)
            .count();
        (self.tokens.get((i + taken).checked_sub(1)?)?.end == after).then_some(i + taken)
    }
}
