//! Verbs and their forms, and how a verb reads in the third person.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::pasts::is_past;

/// Which form of a verb a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// "live", "lives".
    Present,
    /// "lived".
    Past,
    /// "lived", "eaten"; where it is the past too, the past comes first.
    Participle,
    /// "living".
    Ing,
}

/// Returns the base of a verb of the list and which of its forms `word` is; several where forms are alike.
pub(super) fn forms(word: &str) -> &'static [(&'static str, Form)] {
    FORMS.get(word).map_or(&[], Vec::as_slice)
}

/// Returns the base of `word` if it can be `form` of a verb in the list.
pub(super) fn base_of(word: &str, form: Form) -> Option<&'static str> {
    forms(word).iter().find(|it| it.1 == form).map(|it| it.0)
}

/// Says whether a word looks like the base of a verb that is not in the list: lower-case letters and no ending of a past
/// or of a participle.
pub(super) fn may_be_base(word: &str) -> bool {
    word.len() >= 2
        && word.chars().all(|it| it.is_ascii_lowercase() || it == '-')
        && (!word.ends_with("ed") || word.ends_with("eed"))
        && !is_ing(word)
        && !word.ends_with("ly")
        && !crate::is_stop(word)
        && !is_past(word)
}

/// Says whether `word` is the -ing of a base: "opening" of "open", "hosting", "skating" of "skate", "planning".
pub(super) fn is_ing_of(word: &str, base: &str) -> bool {
    let Some(stem) = word.strip_suffix("ing").filter(|_| word != base) else {
        return word == base;
    };
    let doubled = || {
        stem.strip_prefix(base)
            .is_some_and(|it| it.len() == 1 && base.ends_with(it))
    };
    stem == base || base.strip_suffix('e') == Some(stem) || doubled()
}

/// "going", and no "ring".
fn is_ing(word: &str) -> bool {
    word.strip_suffix("ing")
        .is_some_and(|it| it.contains(|c: char| "aeiouy".contains(c)))
}

/// Returns the third person of a base: "go" is "goes".
pub(super) fn third(base: &str) -> String {
    match base {
        "have" => return "has".to_owned(),
        "be" => return "is".to_owned(),
        _ => {}
    }
    let vowel = |it: Option<char>| it.is_some_and(|it| "aeiou".contains(it));
    if let Some(stem) = base.strip_suffix('y').filter(|it| !vowel(it.chars().next_back())) {
        return format!("{stem}ies");
    }
    let hiss = ["s", "x", "z", "ch", "sh", "o"].iter().any(|it| base.ends_with(it));
    format!("{base}{}", if hiss { "es" } else { "s" })
}

/// Returns the base of a third person: "goes" is "go"; none if the word is none.
pub(super) fn base_of_third(word: &str) -> Option<String> {
    if let Some((base, _)) = forms(word).iter().find(|it| it.1 == Form::Present) {
        return Some((*base).to_owned());
    }
    if word.len() < 4 || word.ends_with("ss") {
        return None;
    }
    let base = match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => match word
            .strip_suffix("es")
            .filter(|it| ["s", "x", "z", "ch", "sh", "o"].iter().any(|e| it.ends_with(e)))
        {
            Some(stem) => stem.to_owned(),
            None => word.strip_suffix('s')?.to_owned(),
        },
    };
    may_be_base(&base).then_some(base)
}

static FORMS: LazyLock<HashMap<&str, Vec<(&str, Form)>>> = LazyLock::new(|| {
    let mut forms: HashMap<&str, Vec<(&str, Form)>> = HashMap::new();
    for line in VERBS {
        let kinds = [Form::Present, Form::Present, Form::Past, Form::Participle, Form::Ing];
        let words: Vec<&str> = line.split_whitespace().collect();
        for (word, kind) in words.iter().zip(kinds) {
            let known = forms.entry(word).or_default();
            if !known.contains(&(words[0], kind)) {
                known.push((words[0], kind));
            }
        }
    }
    forms
});

/// Base, third person, past, participle, -ing.
const VERBS: &[&str] = &[
    "adopt adopts adopted adopted adopting",
    "adore adores adored adored adoring",
    "avoid avoids avoided avoided avoiding",
    "become becomes became become becoming",
    "book books booked booked booking",
    "break breaks broke broken breaking",
    "bring brings brought brought bringing",
    "build builds built built building",
    "buy buys bought bought buying",
    "call calls called called calling",
    "catch catches caught caught catching",
    "collect collects collected collected collecting",
    "come comes came come coming",
    "cook cooks cooked cooked cooking",
    "cycle cycles cycled cycled cycling",
    "date dates dated dated dating",
    "decide decides decided decided deciding",
    "detest detests detested detested detesting",
    "dislike dislikes disliked disliked disliking",
    "do does did done doing",
    "drink drinks drank drunk drinking",
    "drive drives drove driven driving",
    "eat eats ate eaten eating",
    "enjoy enjoys enjoyed enjoyed enjoying",
    "enrol enrols enrolled enrolled enrolling",
    "enroll enrolls enrolled enrolled enrolling",
    "expect expects expected expected expecting",
    "fly flies flew flown flying",
    "follow follows followed followed following",
    "get gets got got getting",
    "get gets got gotten getting",
    "give gives gave given giving",
    "go goes went gone going",
    "graduate graduates graduated graduated graduating",
    "grow grows grew grown growing",
    "hate hates hated hated hating",
    "have has had had having",
    "hope hopes hoped hoped hoping",
    "inherit inherits inherited inherited inheriting",
    "intend intends intended intended intending",
    "join joins joined joined joining",
    "keep keeps kept kept keeping",
    "lead leads led led leading",
    "learn learns learned learned learning",
    "learn learns learnt learnt learning",
    "leave leaves left left leaving",
    "like likes liked liked liking",
    "live lives lived lived living",
    "loathe loathes loathed loathed loathing",
    "lose loses lost lost losing",
    "love loves loved loved loving",
    "make makes made made making",
    "manage manages managed managed managing",
    "marry marries married married marrying",
    "meet meets met met meeting",
    "move moves moved moved moving",
    "need needs needed needed needing",
    "order orders ordered ordered ordering",
    "own owns owned owned owning",
    "plan plans planned planned planning",
    "play plays played played playing",
    "prefer prefers preferred preferred preferring",
    "promise promises promised promised promising",
    "quit quits quit quit quitting",
    "quit quits quitted quitted quitting",
    "read reads read read reading",
    "register registers registered registered registering",
    "relocate relocates relocated relocated relocating",
    "rent rents rented rented renting",
    "resign resigns resigned resigned resigning",
    "retire retires retired retired retiring",
    "run runs ran run running",
    "say says said said saying",
    "see sees saw seen seeing",
    "sell sells sold sold selling",
    "settle settles settled settled settling",
    "sign signs signed signed signing",
    "sing sings sang sung singing",
    "sleep sleeps slept slept sleeping",
    "smoke smokes smoked smoked smoking",
    "speak speaks spoke spoken speaking",
    "specialise specialises specialised specialised specialising",
    "stand stands stood stood standing",
    "start starts started started starting",
    "stay stays stayed stayed staying",
    "stop stops stopped stopped stopping",
    "study studies studied studied studying",
    "suffer suffers suffered suffered suffering",
    "swim swims swam swum swimming",
    "take takes took taken taking",
    "teach teaches taught taught teaching",
    "think thinks thought thought thinking",
    "train trains trained trained training",
    "try tries tried tried trying",
    "turn turns turned turned turning",
    "visit visits visited visited visiting",
    "volunteer volunteers volunteered volunteered volunteering",
    "walk walks walked walked walking",
    "want wants wanted wanted wanting",
    "watch watches watched watched watching",
    "wear wears wore worn wearing",
    "work works worked worked working",
    "write writes wrote written writing",
];
