//! Verbs and their forms, and the third person of a verb.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::lexicon::verbs::{self, is_past};

/// The form of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// "live", "lives".
    Present,
    /// "lived".
    Past,
    /// "lived", "eaten"; if the past has the same form, the past comes first.
    Participle,
    /// "living".
    Ing,
}

/// Returns the verbs of the table that have the form `word`, each as its base and the form; there are several if forms
/// coincide.
pub(crate) fn verbs_with_form(word: &str) -> &'static [(&'static str, Form)] {
    FORMS.get(word).map_or(&[], Vec::as_slice)
}

/// Returns the base of `word` if it can be `form` of a verb in the table.
pub(crate) fn base_of(word: &str, form: Form) -> Option<&'static str> {
    verbs_with_form(word).iter().find(|it| it.1 == form).map(|it| it.0)
}

/// Returns true if a word can be the base of a verb that is not in the table: lower-case letters, and no ending of a
/// past form or a participle.
pub(crate) fn may_be_base(word: &str) -> bool {
    word.len() >= 2
        && word.chars().all(|it| it.is_ascii_lowercase() || it == '-')
        && (!word.ends_with("ed") || word.ends_with("eed"))
        && !is_ing(word)
        && !word.ends_with("ly")
        && !crate::is_stop(word)
        && !is_past(word)
}

/// Returns true for "going", but not for "ring".
fn is_ing(word: &str) -> bool {
    word.strip_suffix("ing")
        .is_some_and(|it| it.contains(|c: char| "aeiouy".contains(c)))
}

/// Returns the third person of a base: "goes" for "go".
pub(crate) fn third_person(base: &str) -> String {
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

/// Returns the base of a third person: "go" for "goes"; `None` for any other word.
pub(crate) fn base_of_third(word: &str) -> Option<String> {
    if let Some((base, _)) = verbs_with_form(word).iter().find(|it| it.1 == Form::Present) {
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
    for verb in verbs::all_verbs().iter().filter(|it| it.tags.fact) {
        let present = [verb.base, verb.third].map(|it| (it, Form::Present));
        let pasts = verb.pasts.iter().map(|it| (*it, Form::Past));
        let participles = verb.participles.iter().map(|it| (*it, Form::Participle));
        let rest = pasts.chain(participles).chain([(verb.ing, Form::Ing)]);
        for (word, form) in present.into_iter().chain(rest) {
            let known = forms.entry(word).or_default();
            if !known.contains(&(verb.base, form)) {
                known.push((verb.base, form));
            }
        }
    }
    forms
});
