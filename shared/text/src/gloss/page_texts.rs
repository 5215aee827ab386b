//! Localization of pages: headings, dates and other fixed texts in the language of the lines of a page.
//!
//! The texts are named by their English wording. The parts in braces are filled in: `{name}` and `{names}` of people and
//! things, `{count}`, `{first}` and `{last}` days, and `{day}`, `{month}` and `{year}` of a date.

use std::collections::HashMap;
use std::sync::LazyLock;

use chrono::Datelike;

use super::language::detect_language;
use super::{LANGUAGES, word_ranges};
use crate::lexicon::data_files::{self, File};

/// English names of the months.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

static ENGLISH: LazyLock<PageTexts> = LazyLock::new(PageTexts::default);
/// The texts of each language of `LANGUAGES`.
static TRANSLATED: LazyLock<Vec<PageTexts>> = LazyLock::new(|| {
    LANGUAGES
        .iter()
        .map(|it| data_files::expect_valid_table(PageTexts::from_file(it.page)))
        .collect()
});

/// The fixed texts of pages in one language.
#[derive(Debug, Default)]
pub struct PageTexts {
    /// Translations by the English text; empty for English.
    texts: HashMap<&'static str, &'static str>,
}

/// Returns the fixed texts of pages in the language of a text; in English if that language is not known.
pub fn page_texts(text: &str) -> &'static PageTexts {
    let column = detect_language(text, &word_ranges(text));
    column.and_then(|it| TRANSLATED.get(it)).unwrap_or(&ENGLISH)
}

impl PageTexts {
    fn from_file(file: File) -> Result<PageTexts, String> {
        let mut texts = HashMap::new();
        for row in data_files::read_rows(file, 2)? {
            data_files::insert_unique(&mut texts, row.cells[0], row.cells[1], &row)?;
        }
        Ok(PageTexts { texts })
    }

    /// Returns the translation of a text, or the English text if there is none.
    pub fn translate<'a>(&self, english: &'a str) -> &'a str
    where
        'static: 'a,
    {
        self.texts.get(english).copied().unwrap_or(english)
    }

    /// Returns the translation of a text with these values for its parts in braces, each as `("{name}", value)`. Values
    /// are not searched for parts.
    pub fn fill(&self, english: &str, parts: &[(&str, &str)]) -> String {
        let mut rest = self.translate(english);
        let mut out = String::with_capacity(rest.len());
        while let Some(open) = rest.find('{') {
            out.push_str(&rest[..open]);
            rest = &rest[open..];
            let end = rest.find('}').map_or(rest.len(), |it| it + 1);
            let value = parts.iter().find(|it| it.0 == &rest[..end]);
            out.push_str(value.map_or(&rest[..end], |it| it.1));
            rest = &rest[end..];
        }
        out + rest
    }

    /// Returns a day such as "3 May 2024" or "3 de mayo de 2024".
    pub fn format_day(&self, date: &impl Datelike) -> String {
        let (day, year) = (date.day().to_string(), date.year().to_string());
        let month = self.month_name(date.month());
        let parts = [("{day}", day.as_str()), ("{month}", month), ("{year}", year.as_str())];
        self.fill("{day} {month} {year}", &parts)
    }

    /// Returns a month such as "May 2024" or "mayo de 2024".
    pub fn format_month(&self, date: &impl Datelike) -> String {
        let year = date.year().to_string();
        let parts = [("{month}", self.month_name(date.month())), ("{year}", year.as_str())];
        self.fill("{month} {year}", &parts)
    }

    /// Returns the name of a month from 1 to 12.
    fn month_name(&self, month: u32) -> &'static str {
        let at = usize::try_from(month).unwrap_or_default().saturating_sub(1);
        self.translate(MONTHS.get(at).copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chrono::NaiveDate;

    use super::*;

    fn parts_of(text: &str) -> BTreeSet<&str> {
        let pieces = text.split('{').skip(1);
        pieces.filter_map(|it| it.split_once('}')).map(|it| it.0).collect()
    }

    #[test]
    fn every_language_has_the_same_texts_with_the_same_parts() {
        let all: BTreeSet<&str> = TRANSLATED[0].texts.keys().copied().collect();
        assert!(MONTHS.iter().all(|it| all.contains(it)) && all.contains("What happened"));
        assert_eq!(TRANSLATED.len(), LANGUAGES.len());
        for texts in TRANSLATED.iter() {
            assert_eq!(texts.texts.keys().copied().collect::<BTreeSet<&str>>(), all);
            for (english, other) in &texts.texts {
                let (parts, others) = (parts_of(english), parts_of(other));
                // "Once" has no count.
                assert_eq!(parts, others, "{other}");
            }
        }
    }

    #[test]
    fn texts_are_in_the_language_of_the_lines() {
        let day = NaiveDate::from_ymd_opt(2024, 3, 5).unwrap();
        for (line, heading, date, month) in [
            (
                "Ana lives in Porto and has two cats.",
                "What happened",
                "5 March 2024",
                "March 2024",
            ),
            (
                "Carmen vive en Lisboa y tiene dos gatos.",
                "Qué pasó",
                "5 de marzo de 2024",
                "marzo de 2024",
            ),
            (
                "Lena wohnt jetzt in Graz und hat einen Hund.",
                "Was geschah",
                "5. März 2024",
                "März 2024",
            ),
            (
                "Nous habitons à Lyon et ma sœur travaille ici.",
                "Ce qui s'est passé",
                "5 mars 2024",
                "mars 2024",
            ),
            (
                "Mia sorella abita a Trieste e non lavora.",
                "Che cosa è successo",
                "5 marzo 2024",
                "marzo 2024",
            ),
            (
                "A minha irmã mora em Coimbra e não trabalha.",
                "O que aconteceu",
                "5 de março de 2024",
                "março de 2024",
            ),
            (
                "Mijn zus woont in Gent en zij heeft een hond.",
                "Wat er gebeurde",
                "5 maart 2024",
                "maart 2024",
            ),
            ("我妹妹住在上海。", "发生的事", "2024年3月5日", "2024年3月"),
            ("Привет, как дела?", "What happened", "5 March 2024", "March 2024"),
        ] {
            let texts = page_texts(line);
            assert_eq!(texts.translate("What happened"), heading, "{line}");
            assert_eq!(
                [texts.format_day(&day), texts.format_month(&day)],
                [date, month],
                "{line}"
            );
        }
    }

    #[test]
    fn parts_are_filled_in_once_and_unknown_ones_stay() {
        let filled = ENGLISH.fill("{name} and {other}: {name}", &[("{name}", "{other}"), ("{year}", "1")]);
        assert_eq!(filled, "{other} and {other}: {other}");
        assert_eq!(ENGLISH.fill("open {", &[]), "open {");
    }
}
