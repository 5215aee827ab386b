//! Determines the sensitivity of a text: it finds sensitive subjects by their words (MemCog, section 3.4).

mod native_lexicon;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use domain::recall::Sensitivity;
use text::gloss;
use text::lexicon::word_lists::read_word_set;
use text::meaning::patterns as p;

use crate::word_lists::PRIVATE_WORDS;

/// English words of the sensitive subjects.
static WORDS: &str = include_str!("../../data/sensitive_words.txt");

/// Subjects that recall must not mention without a question, with the names of their lists of words.
const SUBJECTS: [(Domains, &str); 6] = [
    (Domains::HEALTH, "health"),
    (Domains::MONEY, "money"),
    (Domains::FAITH, "faith"),
    (Domains::LOVE, "love"),
    (Domains::LAW, "law"),
    (Domains::GRIEF, "grief"),
];

/// Pairs of words whose second word is misleading by itself: after the first word it is harmless.
const HARMLESS: [(&str, &str); 6] = [
    ("tennis", "court"),
    ("basketball", "court"),
    ("food", "court"),
    ("battery", "died"),
    ("phone", "died"),
    ("laptop", "died"),
];

static LEXICON: LazyLock<HashMap<&str, Domains>> = LazyLock::new(|| {
    let mut lexicon = HashMap::new();
    for (domain, name) in SUBJECTS {
        for word in read_word_set(WORDS, name) {
            let entry: &mut Domains = lexicon.entry(word).or_default();
            *entry = entry.union_with(domain);
        }
    }
    lexicon
});

/// A set of sensitive subjects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Domains(u8);

impl Domains {
    const HEALTH: Domains = Domains(1);
    const MONEY: Domains = Domains(2);
    const FAITH: Domains = Domains(4);
    const LOVE: Domains = Domains(8);
    const LAW: Domains = Domains(16);
    const GRIEF: Domains = Domains(32);

    /// Returns the union of both sets.
    pub fn union_with(self, other: Domains) -> Domains {
        Domains(self.0 | other.0)
    }

    /// Returns true if all subjects of this set are in `others`.
    pub fn is_subset_of(self, others: Domains) -> bool {
        self.0 & !others.0 == 0
    }

    /// Returns true if the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Returns the sensitive subjects of a text in English or in a language of the gloss. A word without its context may
/// count as sensitive when it is not; this only reduces the number of hints.
pub fn find_domains(text: &str) -> Domains {
    let written = lowercase_words(text);
    let found = find_english_domains(&written).union_with(native_lexicon::find_native_domains(text, &written));
    words_in_english(text).map_or(found, |it| found.union_with(find_english_domains(&it)))
}

/// Returns true if a text is about the health of a person.
pub(super) fn concerns_health(text: &str) -> bool {
    Domains::HEALTH.is_subset_of(find_domains(text))
}

/// Returns how careful a caller should be with texts of these subjects.
pub fn classify_sensitivity(texts: &[&str], domains: Domains) -> Sensitivity {
    if !domains.is_empty() {
        return Sensitivity::Sensitive;
    }
    let private = |words: &[String]| words.iter().any(|it| PRIVATE_WORDS.contains(it.as_str()));
    let personal = |text: &&str| {
        private(&lowercase_words(text))
            || words_in_english(text).is_some_and(|it| private(&it))
            || text::meaning::patterns::count_patterns(text)[p::FEELING] > 0
    };
    if texts.iter().any(personal) {
        Sensitivity::Personal
    } else {
        Sensitivity::Open
    }
}

/// Returns the words of a text in lower case with straight apostrophes.
fn lowercase_words(text: &str) -> Vec<String> {
    let words = text::split_words(text).into_iter();
    words.map(|it| it.to_lowercase().replace('\u{2019}', "'")).collect()
}

/// Returns the words of a text after its function words were translated to English; `None` for an English text.
fn words_in_english(text: &str) -> Option<Vec<String>> {
    match gloss::to_english(text) {
        Cow::Owned(english) => Some(lowercase_words(&english)),
        Cow::Borrowed(_) => None,
    }
}

fn find_english_domains(lower: &[String]) -> Domains {
    let mut found = Domains::default();
    for (at, word) in lower.iter().enumerate() {
        let bare = word.strip_suffix("'s").unwrap_or(word);
        let Some(&domain) = LEXICON.get(word.as_str()).or_else(|| LEXICON.get(bare)) else {
            continue;
        };
        let before = at.checked_sub(1).map_or("", |it| lower[it].as_str());
        if !HARMLESS.contains(&(before, bare)) {
            found = found.union_with(domain);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use text::lexicon::word_lists::find_word_list_errors;

    use super::*;

    /// Sentences in German, Spanish, French, Italian, Portuguese, Dutch and Chinese.
    const DELICATE: [(Domains, [&str; 7]); 6] = [
        (
            Domains::HEALTH,
            [
                "Ich habe Krebs",
                "Tengo cáncer de piel",
                "Il sort de l’hôpital",
                "Mia sorella è incinta",
                "Ela sofre de depressão",
                "Ik heb borstkanker",
                "我妈妈得了癌症",
            ],
        ),
        (
            Domains::MONEY,
            [
                "Wir haben Schulden",
                "Tenemos muchas deudas",
                "J'ai perdu mon emploi, je suis au chômage",
                "Non riesco a pagare l'ipoteca",
                "Pedi um empréstimo",
                "Mijn salaris is te laag",
                "我失业了",
            ],
        ),
        (
            Domains::FAITH,
            [
                "Freitags gehe ich in die Moschee",
                "Mi padre es católico",
                "Elle est musulmane",
                "È di famiglia ebraica",
                "O meu tio é muçulmano",
                "Hij bidt elke dag",
                "她信仰佛教",
            ],
        ),
        (
            Domains::LOVE,
            [
                "Meine Scheidung ist durch",
                "Se divorciaron en mayo",
                "Il m'a été infidèle",
                "Mio marito mi ha tradito",
                "Estou apaixonada",
                "Ze is vreemdgegaan",
                "他们离婚了",
            ],
        ),
        (
            Domains::LAW,
            [
                "Meine Anwältin rät ab",
                "Mi abogada dice que no",
                "Mon avocate dit que non",
                "Mio fratello è in prigione",
                "A polícia veio",
                "Hij zit in de gevangenis",
                "他被警察逮捕",
            ],
        ),
        (
            Domains::GRIEF,
            [
                "Mein Vater ist gestorben",
                "Mi abuela murió",
                "L'enterrement est lundi",
                "Mia nonna è morta",
                "O velório foi ontem",
                "Mijn oma is overleden",
                "奶奶去世了",
            ],
        ),
    ];

    #[test]
    fn every_sensitive_subject_has_lists_without_repeated_words() {
        let names = SUBJECTS.map(|it| it.1);
        for file in [WORDS, native_lexicon::WORDS, native_lexicon::SIGNS] {
            assert_eq!(find_word_list_errors(file, &names), [""; 0]);
        }
    }

    #[test]
    fn sensitive_subjects_are_recognised_in_every_supported_language() {
        for (matter, texts) in DELICATE {
            for text in texts {
                let found = find_domains(text);
                assert!(matter.is_subset_of(found), "{text}: {found:?}");
                assert_eq!(classify_sensitivity(&[text], found), Sensitivity::Sensitive);
            }
        }
    }

    #[test]
    fn everyday_words_of_every_language_are_not_sensitive() {
        for text in [
            "Eine Tasse Tee, bitte; der Rabbit-Test hat gehalten",
            "The rabbits tote a bag of traditions, demanded separately, amended by an operator",
            "He told us to put the diagnostics of hospitality and depressing weather aside",
            "Ho preso il treno e vado all'asilo con i bambini",
            "J'ai arrêté de jouer, c'est la fin de la demande",
            "El padre de Ana cura un perro azul",
            "De dominostenen liggen op tafel, geloof ik",
            "我喜欢吃饺子",
            "手机没电了",
        ] {
            assert!(find_domains(text).is_empty(), "{text}: {:?}", find_domains(text));
        }
    }

    #[test]
    fn texts_about_private_life_are_personal_in_other_languages() {
        for (text, expected) in [
            ("Meine Schwester kocht heute", Sensitivity::Personal),
            ("Mi hermano vive en Lima", Sensitivity::Personal),
            ("My sister cooks", Sensitivity::Personal),
            ("Der Zug fährt um acht", Sensitivity::Open),
        ] {
            assert_eq!(classify_sensitivity(&[text], Domains::default()), expected, "{text}");
        }
    }
}
