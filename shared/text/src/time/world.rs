//! Dates in other languages: names of months and weekdays, near days.

use std::collections::HashMap;

use super::calendar::{Found, add_days, add_months, first_of_month};
use super::lexicon::{Class, Trust, Unit};
use super::parser::{Amount, Parser, Read};
use super::relative::unit_around;
use super::token::Tense;

/// Months from January in Spanish, German, French, Portuguese, Italian and Dutch.
const MONTHS: &[&str] = &[
    "enero januar jänner janvier janeiro gennaio januari",
    "febrero februar février fevereiro febbraio februari",
    "marzo märz mars março maart",
    "abril avril aprile",
    "mayo mai maio maggio mei",
    "junio juni juin junho giugno",
    "julio juli juillet julho luglio",
    "agosto août augustus",
    "septiembre setiembre septembre setembro settembre",
    "octubre oktober octobre outubro ottobre",
    "noviembre novembre novembro",
    "diciembre dezember décembre dezembro dicembre",
];

/// Weekdays from Monday in the same languages.
const WEEKDAYS: &[&str] = &[
    "lunes montag lundi lunedì maandag",
    "martes dienstag mardi martedì dinsdag",
    "miércoles mittwoch mercredi mercoledì woensdag",
    "jueves donnerstag jeudi giovedì donderdag",
    "viernes freitag vendredi venerdì vrijdag",
    "sábado samstag sonnabend samedi sabato zaterdag",
    "domingo sonntag dimanche domenica zondag",
];

const NEAR: &[(&str, i64)] = &[
    ("anteayer antier vorgestern anteontem eergisteren", -2),
    ("ayer gestern hier ieri ontem gisteren", -1),
    ("hoy heute oggi hoje vandaag", 0),
    ("mañana morgen demain domani amanhã", 1),
    ("übermorgen dopodomani overmorgen", 2),
];

/// Phrases without their article, and the step in units.
const PHRASES: &[(&[&str], Unit, i64)] = &[
    (&["semana", "pasada"], Unit::Week, -1),
    (&["semana", "passada"], Unit::Week, -1),
    (&["próxima", "semana"], Unit::Week, 1),
    (&["mes", "pasado"], Unit::Month, -1),
    (&["mês", "passado"], Unit::Month, -1),
    (&["próximo", "mes"], Unit::Month, 1),
    (&["próximo", "mês"], Unit::Month, 1),
    (&["año", "pasado"], Unit::Year, -1),
    (&["ano", "passado"], Unit::Year, -1),
    (&["próximo", "año"], Unit::Year, 1),
    (&["próximo", "ano"], Unit::Year, 1),
    (&["letzte", "woche"], Unit::Week, -1),
    (&["letzten", "monat"], Unit::Month, -1),
    (&["letztes", "jahr"], Unit::Year, -1),
    (&["letztes", "wochenende"], Unit::Weekend, -1),
    (&["nächste", "woche"], Unit::Week, 1),
    (&["nächsten", "monat"], Unit::Month, 1),
    (&["nächstes", "jahr"], Unit::Year, 1),
    (&["semaine", "dernière"], Unit::Week, -1),
    (&["semaine", "prochaine"], Unit::Week, 1),
    (&["mois", "dernier"], Unit::Month, -1),
    (&["mois", "prochain"], Unit::Month, 1),
    (&["année", "dernière"], Unit::Year, -1),
    (&["an", "dernier"], Unit::Year, -1),
    (&["an", "prochain"], Unit::Year, 1),
    (&["settimana", "scorsa"], Unit::Week, -1),
    (&["scorsa", "settimana"], Unit::Week, -1),
    (&["prossima", "settimana"], Unit::Week, 1),
    (&["mese", "scorso"], Unit::Month, -1),
    (&["prossimo", "mese"], Unit::Month, 1),
    (&["anno", "scorso"], Unit::Year, -1),
    (&["prossimo", "anno"], Unit::Year, 1),
];

/// Words that open a counted time: "hace dos días", "vor zwei Tagen", "il y a deux jours", "há dois dias".
const OPENERS: &str = "hace vor il há semana mes mês año ano próxima próximo letzte letzten letztes nächste nächsten nächstes \
                       semaine mois année settimana scorsa prossima mese prossimo anno aujourd avant après due tre \
                       quattro cinque un una";

const NUMBERS: &[&str] = &[
    "un una uno une um uma ein eine einem einer",
    "dos zwei deux dois duas due",
    "tres drei trois três tre",
    "cuatro vier quatre quatro quattro",
    "cinco fünf cinq cinque",
    "seis sechs six sei",
    "siete sieben sept sete sette",
    "ocho acht huit oito otto",
    "nueve neun neuf nove",
    "diez zehn dix dez dieci",
];

const UNITS: &[(&str, Unit)] = &[
    ("día días dia dias tag tage tagen jour jours giorno giorni", Unit::Day),
    (
        "semana semanas woche wochen semaine semaines settimana settimane",
        Unit::Week,
    ),
    ("mes meses mês monat monate monaten mois mese mesi", Unit::Month),
    (
        "año años ano anos jahr jahre jahren an ans année années anno anni",
        Unit::Year,
    ),
];

/// Adds the words of this table; English words come later and win.
pub(super) fn words(words: &mut HashMap<&'static str, Class>) {
    words.extend(OPENERS.split(' ').map(|word| (word, Class::World)));
    for (month, names) in (1..).zip(MONTHS) {
        words.extend(names.split(' ').map(|name| (name, Class::Month(month, Trust::Name))));
    }
    for (day, names) in (0..).zip(WEEKDAYS) {
        words.extend(names.split(' ').map(|name| (name, Class::Weekday(day, Trust::Plain))));
    }
    words.extend(
        NEAR.iter()
            .flat_map(|(names, days)| names.split(' ').map(|name| (name, Class::Relative(*days)))),
    );
}

impl Parser<'_> {
    /// Reads what this table knows beyond single words.
    pub(super) fn world(&self, i: usize) -> Read {
        match self.class(i) {
            Class::World => self
                .phrased(i)
                .or_else(|| self.world_ago(i))
                .or_else(|| self.french_day(i)),
            Class::Digits(..) => self.signed_date(i).or_else(|| self.world_ago(i)),
            Class::Mark(mark) if !mark.is_ascii() => self.close(i),
            _ => None,
        }
    }

    /// "Letzten Montag", "el lunes pasado", "lundi prochain": which weekday is meant.
    pub(super) fn world_step(&self, i: usize) -> Option<Tense> {
        const PAST: &[&str] = &[
            "letzten",
            "letzter",
            "vergangenen",
            "vorigen",
            "afgelopen",
            "vorige",
            "pasado",
            "passado",
            "passada",
            "dernier",
            "scorso",
            "scorsa",
        ];
        const NEXT: &[&str] = &[
            "nächsten",
            "nächster",
            "kommenden",
            "volgende",
            "komende",
            "próximo",
            "próxima",
            "prochain",
            "prossimo",
            "prossima",
        ];
        let beside = |words: &[&str]| self.is(i.wrapping_sub(1), words) || self.is(i + 1, words);
        if beside(PAST) {
            Some(Tense::Past)
        } else {
            beside(NEXT).then_some(Tense::Future)
        }
    }

    fn phrased(&self, i: usize) -> Read {
        let (end, unit, step) = PHRASES
            .iter()
            .find_map(|(words, unit, step)| self.phrase(i, words).map(|end| (end, *unit, *step)))?;
        self.stepped(unit, step).map(|found| (end, found))
    }

    pub(super) fn stepped(&self, unit: Unit, step: i64) -> Option<Found> {
        let day = match unit {
            Unit::Day => add_days(self.today, step),
            Unit::Week | Unit::Weekend => add_days(self.today, 7 * step),
            Unit::Month => add_months(first_of_month(self.today), step),
            _ => add_months(first_of_month(self.today), 12 * step),
        };
        unit_around(day, unit)
    }

    /// "hace dos días", "vor 3 Wochen", "il y a un an", "due giorni fa".
    fn world_ago(&self, i: usize) -> Read {
        let ahead = match (self.word(i), self.word(i + 1), self.word(i + 2)) {
            ("hace" | "vor" | "há", ..) => Some(i + 1),
            ("il", "y", "a") => Some(i + 3),
            _ => None,
        };
        let start = ahead.unwrap_or(i);
        let count = match self.class(start) {
            Class::Digits(..) => self.digits(start)?.0,
            _ => {
                u32::try_from(
                    NUMBERS
                        .iter()
                        .position(|names| names.split(' ').any(|n| n == self.word(start)))?,
                )
                .ok()?
                    + 1
            }
        };
        let (_, unit) = UNITS
            .iter()
            .find(|(names, _)| names.split(' ').any(|name| name == self.word(start + 1)))?;
        let end = match ahead {
            Some(_) => start + 2,
            None if self.is(start + 2, &["fa", "atrás"]) => start + 3,
            None => return None,
        };
        Some((end, self.offset(Amount::exact(count), *unit, -1, self.now)))
    }

    /// "aujourd'hui", "avant-hier", "après-demain".
    fn french_day(&self, i: usize) -> Read {
        let step = match (self.word(i), self.word(i + 1), self.word(i + 2)) {
            ("aujourd", "'hui" | "’hui", _) => return Some((i + 2, Found::day(self.today))),
            ("avant", "-", "hier") => -2,
            ("après", "-", "demain") => 2,
            _ => return None,
        };
        Some((i + 3, Found::day(add_days(self.today, step))))
    }

    /// Says whether a near day of another language is one here: "hier" is "here" in German, "la mañana" the morning.
    pub(super) fn near_in_language(&self, i: usize) -> bool {
        match self.word(i) {
            "hier" => !self.german(),
            "morgen" => self.german() && !self.is(i.wrapping_sub(1), &["guten", "heute", "gestern", "am", "jeden"]),
            "mañana" => !self.is(i.wrapping_sub(1), &["la", "esta", "una"]),
            _ => true,
        }
    }

    fn german(&self) -> bool {
        const GERMAN: &[&str] = &[
            "ich", "ist", "und", "das", "der", "nicht", "wir", "mit", "ein", "eine", "habe", "zum", "zur", "gehen",
        ];
        self.tokens
            .iter()
            .take(400)
            .any(|token| GERMAN.contains(&&*token.lower))
    }
}
