//! English word order for questions whose words were translated to English.

use crate::is_stop;
use crate::lexicon::{Class, is_in_class};
use crate::lexicon::{kin, verbs};

/// Returns a question in English word order: "where lives Ann" becomes "where does Ann live", and "what is called the
/// sister of Ann" becomes "what is Ann's sister called".
pub(super) fn reorder_question(phrases: &[String]) -> Vec<String> {
    let mut words: Vec<String> = phrases.iter().flat_map(|it| it.split(' ')).map(str::to_owned).collect();
    if let [before @ .., what, is, called] = words.as_slice()
        && [what, is, called] == ["what", "is", "called"]
        && !before.is_empty()
    {
        // Chinese puts the interrogative at the end.
        words.rotate_right(3);
    }
    reorder_possession(&mut words);
    move_participle(&mut words);
    move_verb(&mut words);
    reorder_polar_question(&mut words);
    words
}

/// "Lives Ann in Graz", "Ann lives in Graz": a question without an interrogative is a yes-or-no question.
fn reorder_polar_question(words: &mut Vec<String>) {
    let asks = |it: &String| is_in_class(it, Class::Interrogative);
    let [first, second, ..] = words.as_mut_slice() else {
        return;
    };
    let is_capitalised = |it: &str| it.starts_with(char::is_uppercase);
    if is_capitalised(first) && is_in_class(second, Class::GlossAuxiliary) {
        words.swap(0, 1);
        return;
    }
    if is_capitalised(second) && base_of_phrase(first).is_some() {
        words.swap(0, 1);
    }
    if let (true, Some(base), false) = (
        is_capitalised(&words[0]),
        base_of_phrase(&words[1]),
        words.iter().any(asks),
    ) {
        words[1] = base;
        words.insert(0, "does".to_owned());
    }
}

/// "The sister of Ann" becomes "Ann's sister". German uses "von", which also means "from": "die Schwester von Jonas" is
/// his sister, but "der Zug von Graz" comes from there.
fn reorder_possession(words: &mut Vec<String>) {
    let owns = |it: usize| words[it] == "of" || words[it] == "from" && kin::find_relation(&words[it - 1]).is_some();
    let Some(of) = (1..words.len().saturating_sub(1)).find(|&it| owns(it)) else {
        return;
    };
    let owner = match words[of + 1].as_str() {
        "my" => "my".to_owned(),
        name if name.starts_with(char::is_uppercase) => format!("{name}'s"),
        _ => return,
    };
    let thing = words[of - 1].clone();
    if !is_stop(&thing) {
        let from = of - 1 - usize::from(of > 1 && words[of - 2] == "the");
        words.splice(from..of + 2, [owner, thing]);
    }
}

/// Moves a participle directly after "has": "Qui s'est cassé le bras", "Wer hat das Fenster gebrochen".
fn move_participle(words: &mut Vec<String>) {
    words.retain(|it| it != "itself");
    if words.first().is_none_or(|it| it != "who") || words.len() < 3 {
        return;
    }
    if words[1] == "is" && is_in_class(&words[2], Class::GlossPast) {
        words[1] = "has".to_owned();
    }
    let last = words.last().cloned().unwrap_or_default();
    if words[1] == "has" && words.len() > 3 && is_in_class(&last, Class::GlossPast) {
        words.pop();
        words.insert(2, last);
    }
}

/// Moves a verb that comes before its subject to the place after it.
fn move_verb(words: &mut Vec<String>) {
    let asks = |it: &String| is_in_class(it, Class::AsksOfSubject);
    let Some(at) = words.iter().position(asks).filter(|it| it + 2 < words.len()) else {
        return;
    };
    if words[at + 1] == "is" && words[at + 2] == "called" {
        let called = words.remove(at + 2);
        words.push(called);
    } else if let Some(base) = base_of_phrase(&words[at + 1]) {
        words[at + 1] = "does".to_owned();
        let tail = (words[at + 2] == "as").then(|| words.remove(at + 2));
        // The verb goes after the name and after the noun that the name owns.
        let subject = |it: usize| words[it].starts_with(char::is_uppercase) || words[it - 1].ends_with("'s");
        let place = (at + 2..words.len()).find(|&it| !subject(it)).filter(|it| *it > at + 2);
        words.insert(place.unwrap_or(words.len()), base);
        words.extend(tail);
    }
}

/// Returns the form of the first person for a third person: "live" for "lives", "work in" for "works in".
pub(super) fn base_of_phrase(english: &str) -> Option<String> {
    let (verb, rest) = english.split_once(' ').map_or((english, ""), |it| it);
    let base = verbs::glossed_base(verb)?;
    Some(format!("{base} {rest}").trim_end().to_owned())
}
