//! Descriptions of a person between commas: "my cousin Mara, a nurse,", "Daughter Ada, nine", "about me: 41, divorced".

use domain::fact::Aspect;

use crate::facts::clauses::clause::Draft;
use crate::facts::clauses::subject::is_name;
use crate::facts::clauses::token::{Gap, Word};
use crate::facts::lexicon::{AFTER_JOB, CHILDREN, JOBS, KIN, NEAREST_KIN, NO_JOB, TRAITS, is_number};

/// Reads the descriptions of a person from `from` on, one part between commas after the other, up to a part of another
/// kind. `own` is true for descriptions of the speaker, which may have more forms and no article.
pub(crate) fn read_descriptions(text: &str, words: &[Word], from: usize, own: bool) -> Vec<Draft> {
    let mut out = Vec::new();
    let mut at = from;
    while at < words.len() && out.len() < PARTS {
        let last = (at..words.len()).find(|it| words[*it].gap != Gap::None);
        let last = last.unwrap_or(words.len() - 1);
        // The part ends before "who": "two boys who live with me".
        let who = (at + 1..last).find(|it| own && words[*it].lower == "who");
        let last = who.map_or(last, |it| it - 1);
        let Some(draft) = read_description(text, &words[at..=last], own) else {
            break;
        };
        out.push(draft.with_confidence(0.8));
        if words[last].gap == Gap::Strong {
            break;
        }
        at = last + 1;
    }
    out
}

fn read_description(text: &str, words: &[Word], own: bool) -> Option<Draft> {
    let first = words.first().filter(|_| words.len() <= PART_WORDS)?;
    if words.iter().any(|it| it.quoted) {
        return None;
    }
    let lower: Vec<&str> = words.iter().map(|it| it.lower.as_str()).collect();
    if let Some(age) = read_age(&lower) {
        return Some(Draft::new(Aspect::Attribute, "is aged", age));
    }
    if lower.len() == 1 && first.is_in_list(&TRAITS) {
        return Some(Draft::new(Aspect::Attribute, "is", first.lower.clone()));
    }
    let written = |from: usize| {
        let range = words.get(from)?.range.start..words.last()?.range.end;
        text.get(range).map(str::to_owned)
    };
    if lower[0] == "from" && words.get(1).is_some_and(is_name) {
        return Some(Draft::new(Aspect::Place, "comes from", written(1)?));
    }
    if own
        && is_number(lower[0])
        && words
            .get(1)
            .is_some_and(|it| it.is_in_list(&KIN) || it.is_in_list(&CHILDREN))
    {
        let object = text.get(first.range.start..words[1].range.end)?;
        return Some(Draft::new(Aspect::Count, "has", object));
    }
    let article = matches!(lower[0], "a" | "an");
    let head = words.iter().position(|it| it.is_in_list(&JOBS))?;
    let near = head <= 4 && (article || own && head == 0);
    let ends = lower
        .get(head + 1)
        .is_none_or(|it| AFTER_JOB.contains(it) && *it != "and");
    let figure = words[..head]
        .iter()
        .any(|it| it.is_in_list(&NO_JOB) || it.lower == "of");
    (near && ends && !figure && !lower.contains(&"and"))
        .then(|| Some(Draft::new(Aspect::Work, "works as", written(0)?)))
        .flatten()
}

/// Returns the age in "nine", "aged nine", "ten years old".
fn read_age(words: &[&str]) -> Option<String> {
    let age = match words {
        [age] | ["aged" | "age", age] | [age, "years" | "year", "old"] | [age, "now"] => age,
        _ => return None,
    };
    let years = age.parse::<u32>().map_or(is_number(age), |it| (1..112).contains(&it));
    (years && *age != "one").then(|| (*age).to_owned())
}

/// Returns the role and the name that begin at `at` without "my" ("Daughter Ada"), and the index at which the
/// description begins.
pub(crate) fn bare_kin(words: &[Word], at: usize) -> Option<(&str, &Word, usize)> {
    let (role, name) = (&words[at], words.get(at + 1)?);
    let opens =
        at == 0 || words[at - 1].gap != Gap::None || words[at - 1].lower == "and" || is_number(&words[at - 1].lower);
    let closes = name.gap != Gap::None
        && words
            .get(at + 2)
            .is_some_and(|it| is_number(&it.lower) || it.is_any_of(&["a", "an"]));
    let kin = role.is_in_list(&NEAREST_KIN) && role.gap == Gap::None && !role.quoted;
    (opens && closes && kin && is_name(name)).then_some((role.lower.as_str(), name, at + 2))
}

/// Returns the index at which a description of the speaker begins: "about me: 41, ...", "I'm Iraci, forty-seven, ...".
pub(crate) fn find_self_description(words: &[Word]) -> Option<usize> {
    let is = |at: usize, list: &[&str]| words.get(at).is_some_and(|it| it.is_any_of(list) && !it.quoted);
    (0..words.len()).find_map(|at| {
        let about = is(at, &["about"]) && is(at + 1, &["me", "myself"]) && words[at + 1].gap == Gap::Strong;
        let names_speaker = is(at, &["i"])
            && is(at + 1, &["am"])
            && words
                .get(at + 2)
                .is_some_and(|it| (is_name(it) || is_number(&it.lower)) && it.gap == Gap::Comma);
        match (about, names_speaker) {
            (true, _) => Some(at + 2),
            (false, true) => Some(at + 3),
            (false, false) => None,
        }
    })
}

/// Largest number of parts that are read of one description.
const PARTS: usize = 5;
/// Number of words of the longest part.
const PART_WORDS: usize = 7;
