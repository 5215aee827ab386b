//! How careful one should be with what is told: delicate matters by their words (MemCog, section 3.4).

use std::collections::HashMap;
use std::sync::LazyLock;

use domain::recall::Sensitivity;
use text::patterns as p;

/// Matters that are not to be brought up unasked, with the words that tell them.
const MATTERS: [(Domains, &str); 6] = [
    (
        Domains::HEALTH,
        "cancer tumour tumor chemo chemotherapy diagnosis diagnosed depression depressed anxiety therapist therapy psychiatrist \
         antidepressant antidepressants medication pills asthma diabetes diabetic insulin hiv pregnant pregnancy miscarriage abortion \
         infertility ivf surgery operation hospital clinic stroke seizure epilepsy dementia alzheimer alzheimer's disease illness \
         rehab addiction addicted alcoholic overdose suicide suicidal bulimia anorexia symptoms biopsy \
         stents malaria wheelchair burnout insomnia migraine migraines",
    ),
    (
        Domains::MONEY,
        "salary wage wages debt debts loan loans mortgage bankrupt bankruptcy overdraft savings pension inheritance bailiff \
         arrears eviction unemployed payday creditor creditors afford taxes owe owes owed income",
    ),
    (
        Domains::FAITH,
        "god jesus allah mosque synagogue temple prayer prayers pray prays praying baptism baptised confession bible quran \
         koran torah atheist muslim christian jewish hindu buddhist catholic religion religious faith imam rabbi priest vicar ramadan",
    ),
    (
        Domains::LOVE,
        "divorce divorced divorcing affair cheated cheating breakup ex dating girlfriend \
         boyfriend crush gay lesbian bisexual transgender queer sex sexual intimate custody separated jealous tinder",
    ),
    (
        Domains::LAW,
        "police arrested arrest court lawsuit sued suing lawyer attorney prison jail probation crime criminal convicted fined \
         bail immigration visa asylum deported stolen theft",
    ),
    (
        Domains::GRIEF,
        "funeral died dies death buried burial grave grief grieving mourning mourn widow widower widowed cremated \
         obituary",
    ),
];

/// Words of private life that may be told with care.
const PRIVATE: &str = "mum mom mother dad father wife husband sister brother son daughter baby kids child children grandma grandpa \
    grandmother grandfather partner fiance fiancee marriage married wedding birthday age address phone home neighbour neighbor argue \
    argued argument quarrel cried crying lonely secret embarrassed ashamed afraid scared";

/// Pairs of words that mislead alone: the second one behind the first says something harmless.
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
    for (domain, list) in MATTERS {
        for word in list.split_ascii_whitespace() {
            let entry: &mut Domains = lexicon.entry(word).or_default();
            *entry = entry.with(domain);
        }
    }
    lexicon
});

/// A set of delicate matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Domains(u8);

impl Domains {
    const HEALTH: Domains = Domains(1);
    const MONEY: Domains = Domains(2);
    const FAITH: Domains = Domains(4);
    const LOVE: Domains = Domains(8);
    const LAW: Domains = Domains(16);
    const GRIEF: Domains = Domains(32);

    /// Returns both together.
    pub fn with(self, other: Domains) -> Domains {
        Domains(self.0 | other.0)
    }

    /// Says whether all of these are among `others`.
    pub fn within(self, others: Domains) -> bool {
        self.0 & !others.0 == 0
    }

    /// Says whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Returns the delicate matters a text speaks of. English; a word that needs its context may be taken for more than
/// it says, which only makes recall more silent.
pub fn domains(text: &str) -> Domains {
    let lower: Vec<String> = text::words(text)
        .iter()
        .map(|it| it.to_lowercase().replace('\u{2019}', "'"))
        .collect();
    let mut found = Domains::default();
    for (at, word) in lower.iter().enumerate() {
        let bare = word.strip_suffix("'s").unwrap_or(word);
        let Some(&domain) = LEXICON.get(word.as_str()).or_else(|| LEXICON.get(bare)) else {
            continue;
        };
        let before = at.checked_sub(1).map_or("", |it| lower[it].as_str());
        if !HARMLESS.contains(&(before, bare)) {
            found = found.with(domain);
        }
    }
    found
}

/// Returns how careful one should be with a text of these matters.
pub fn class(text: &str, domains: Domains) -> Sensitivity {
    if !domains.is_empty() {
        return Sensitivity::Sensitive;
    }
    let private = text::words(text)
        .iter()
        .any(|it| super::heard::member(PRIVATE, &it.to_lowercase()));
    if private || text::patterns::count(text)[p::FEELING] > 0 {
        Sensitivity::Personal
    } else {
        Sensitivity::Open
    }
}
