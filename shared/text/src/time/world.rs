//! Dates in other languages: names of months and weekdays, near days.

use std::collections::HashMap;

use super::calendar::{Found, add_days, add_months, first_of_month};
use super::lexicon::{Class, Part, Trust, Unit};
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
    (&["vorige", "week"], Unit::Week, -1),
    (&["afgelopen", "week"], Unit::Week, -1),
    (&["deze", "week"], Unit::Week, 0),
    (&["volgende", "week"], Unit::Week, 1),
    (&["komende", "week"], Unit::Week, 1),
    (&["vorig", "weekend"], Unit::Weekend, -1),
    (&["afgelopen", "weekend"], Unit::Weekend, -1),
    (&["dit", "weekend"], Unit::Weekend, 0),
    (&["volgend", "weekend"], Unit::Weekend, 1),
    (&["vorige", "maand"], Unit::Month, -1),
    (&["afgelopen", "maand"], Unit::Month, -1),
    (&["deze", "maand"], Unit::Month, 0),
    (&["volgende", "maand"], Unit::Month, 1),
    (&["vorig", "jaar"], Unit::Year, -1),
    (&["afgelopen", "jaar"], Unit::Year, -1),
    (&["dit", "jaar"], Unit::Year, 0),
    (&["volgend", "jaar"], Unit::Year, 1),
];

/// Parts of near days in one word of Dutch, and the days from the reference.
const DAY_PARTS: &[(&str, i64, Part)] = &[
    ("vanmorgen vanochtend", 0, Part::Morning),
    ("vanmiddag", 0, Part::Afternoon),
    ("vanavond", 0, Part::Evening),
    ("vannacht", 0, Part::Night),
    ("gisterochtend gistermorgen", -1, Part::Morning),
    ("gistermiddag", -1, Part::Afternoon),
    ("gisteravond", -1, Part::Evening),
    ("morgenochtend", 1, Part::Morning),
    ("morgenmiddag", 1, Part::Afternoon),
    ("morgenavond", 1, Part::Evening),
];

/// A weekday of Dutch and its part in one word.
const WEEKDAY_PARTS: &str = "maandagochtend maandagmiddag maandagavond dinsdagochtend dinsdagmiddag dinsdagavond woensdagochtend \
    woensdagmiddag woensdagavond donderdagochtend donderdagmiddag donderdagavond vrijdagochtend vrijdagmiddag vrijdagavond \
    zaterdagochtend zaterdagmiddag zaterdagavond zondagochtend zondagmiddag zondagavond";

/// Words that open a counted time or one of the clock: "hace dos días", "vor zwei Tagen", "il y a deux jours", "twee weken geleden".
const OPENERS: &str = "hace vor il há semana mes mês año ano próxima próximo letzte letzten letztes nächste nächsten nächstes \
                       semaine mois année settimana scorsa prossima mese prossimo anno aujourd avant après due tre \
                       quattro cinque un una dois duas três vorige vorig afgelopen deze dit volgende volgend komende een één twee drie vier vijf \
                       zes zeven acht negen tien elf twaalf enkele kwart viertel halb eins zwei fünf sechs sieben neun zehn zwölf";

const NUMBERS: &[&str] = &[
    "un una uno une um uma ein eine einem einer eins een één",
    "dos zwei deux dois duas due twee",
    "tres drei trois três tre drie",
    "cuatro vier quatre quatro quattro",
    "cinco fünf cinq cinque vijf",
    "seis sechs six sei zes",
    "siete sieben sept sete sette zeven",
    "ocho acht huit oito otto",
    "nueve neun neuf nove negen",
    "diez zehn dix dez dieci tien",
    "elf once onze undici",
    "doce zwölf douze doze dodici twaalf",
];

const UNITS: &[(&str, Unit)] = &[
    ("minuto minutos minute minuten minutes minuti minuut", Unit::Minute),
    ("hora horas stunde stunden heure heures ora ore uur uren", Unit::Hour),
    (
        "día días dia dias tag tage tagen jour jours giorno giorni dag dagen",
        Unit::Day,
    ),
    (
        "semana semanas woche wochen semaine semaines settimana settimane week weken",
        Unit::Week,
    ),
    (
        "mes meses mês monat monate monaten mois mese mesi maand maanden",
        Unit::Month,
    ),
    (
        "año años ano anos jahr jahre jahren an ans année années anno anni jaar jaren",
        Unit::Year,
    ),
];

/// Adds the words of this table; English words come later and win.
pub(super) fn words(words: &mut HashMap<&'static str, Class>) {
    let compounds = DAY_PARTS.iter().flat_map(|(names, ..)| names.split(' '));
    words.extend(
        compounds
            .chain(WEEKDAY_PARTS.split_whitespace())
            .map(|word| (word, Class::World)),
    );
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
                .or_else(|| self.french_day(i))
                .or_else(|| self.day_part(i)),
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
            "aanstaande",
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
        let few = self
            .phrase(start, &["een", "paar"])
            .or_else(|| self.phrase(start, &["enkele"]));
        let (unit_at, amount) = match few {
            Some(end) => (end, Amount::rough(2, 5)),
            None => self
                .world_number(start)
                .map(|(end, count)| (end, Amount::exact(count)))?,
        };
        let (_, unit) = UNITS
            .iter()
            .find(|(names, _)| names.split(' ').any(|name| name == self.word(unit_at)))?;
        let (end, side) = match ahead {
            Some(_) => (unit_at + 1, -1),
            None if self.is(unit_at + 1, &["fa", "atrás", "geleden"]) => (unit_at + 2, -1),
            // "Over twee weken" is "in two weeks"; "over two weeks" is not.
            None if self.before(i) == "over" && self.speaks_dutch() => (unit_at + 1, 1),
            None => return None,
        };
        Some((end, self.offset(amount, *unit, side, self.now)))
    }

    /// Reads a number up to twelve in a word of another language, or one in digits.
    pub(super) fn world_number(&self, i: usize) -> Option<(usize, u32)> {
        if let Class::Digits(..) = self.class(i) {
            // "19.30 uur" is a time, though digits go on behind the point.
            let clock = self.is(i + 1, &["."]) && self.is(i + 3, &["uur", "uhr"]);
            return match self.class(i) {
                Class::Digits(value, _) if clock => Some((i + 1, value)),
                _ => self.digits(i).map(|(value, _)| (i + 1, value)),
            };
        }
        let at = NUMBERS
            .iter()
            .position(|names| names.split(' ').any(|name| name == self.word(i)))?;
        Some((i + 1, u32::try_from(at).ok()? + 1))
    }

    /// "vanavond", "gisteravond", "vrijdagavond".
    fn day_part(&self, i: usize) -> Read {
        let word = self.word(i);
        let near = DAY_PARTS
            .iter()
            .find(|(names, ..)| names.split(' ').any(|it| it == word));
        if let Some((_, days, part)) = near {
            return Some((i + 1, Found::part(add_days(self.today, *days), *part)));
        }
        let (name, part) = [
            ("ochtend", Part::Morning),
            ("middag", Part::Afternoon),
            ("avond", Part::Evening),
        ]
        .into_iter()
        .find_map(|(end, part)| word.strip_suffix(end).map(|name| (name, part)))?;
        let day = WEEKDAYS.iter().position(|it| it.split(' ').any(|it| it == name))?;
        let day = self.weekday_near(i, u32::try_from(day).ok()?);
        Some((i + 1, Found::part(day, part)))
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
            "hier" => !self.speaks_german() && !self.speaks_dutch(),
            "morgen" => {
                let part_of_day = [
                    "guten", "heute", "gestern", "am", "jeden", "goede", "goeie", "elke", "iedere", "de", "deze",
                ];
                !self.is(i.wrapping_sub(1), &part_of_day) && (self.speaks_german() || self.speaks_dutch())
            }
            "mañana" => !self.is(i.wrapping_sub(1), &["la", "esta", "una"]),
            _ => true,
        }
    }

    pub(super) fn speaks_german(&self) -> bool {
        const GERMAN: &[&str] = &[
            "ich", "ist", "und", "das", "der", "nicht", "wir", "mit", "ein", "eine", "habe", "zum", "zur", "gehen",
            "uhr", "uns", "auf",
        ];
        self.has_any(GERMAN)
    }

    pub(super) fn speaks_dutch(&self) -> bool {
        const DUTCH: &[&str] = &[
            "ik", "het", "een", "niet", "wij", "heb", "heeft", "hebben", "naar", "voor", "zijn", "mijn", "ga", "gaat",
            "gaan", "bij", "jij", "hij", "zij", "uur", "dat", "deze", "ook", "nog", "moet", "om", "zie", "komt",
        ];
        self.has_any(DUTCH)
    }

    fn has_any(&self, words: &[&str]) -> bool {
        self.tokens.iter().take(400).any(|token| words.contains(&&*token.lower))
    }
}
