//! Names that are told one sentence after who they belong to: "I have a girlfriend. Her name is Ana."

use text::facts::Slot;
use text::{is_stop, sentences, words};

/// Returns the name that the sentence behind one with a word for who is asked for gives, and in lower case the word that says
/// whose that is: "my" also for "a girlfriend" that somebody has.
pub(super) fn after_role<'a>(text: &'a str, slot: &Slot) -> Option<(String, &'a str)> {
    let all = sentences(text);
    all.windows(2).find_map(|it| Some((owner(it[0], slot)?, name(it[1])?)))
}

fn owner(sentence: &str, slot: &Slot) -> Option<String> {
    let words: Vec<String> = words(sentence)
        .into_iter()
        .map(|it| it.to_lowercase().replace('’', "'"))
        .collect();
    let at = words.iter().position(|it| slot.is_told_by(&format!("has {it}")))?;
    let mut before = words[..at].iter().rev().map(String::as_str);
    let owner = before
        .clone()
        .find(|it| matches!(*it, "my" | "our" | "his" | "her" | "their") || it.ends_with("'s"));
    let own = || {
        before
            .any(|it| matches!(it, "i" | "i've" | "we" | "we've"))
            .then_some("my")
    };
    owner.or_else(own).map(str::to_owned)
}

/// The name in "her name is Ana", "she's called Ana", "it is called Rex".
fn name(sentence: &str) -> Option<&str> {
    let written = words(sentence);
    let lower: Vec<String> = written.iter().map(|it| it.to_lowercase().replace('’', "'")).collect();
    let at = match lower.iter().map(String::as_str).collect::<Vec<&str>>().as_slice() {
        ["her" | "his" | "its", "name's", ..] | ["she's" | "he's" | "it's", "called" | "named", ..] => 2,
        ["her" | "his" | "its", "name", "is", ..] | ["she" | "he" | "it", "is", "called" | "named", ..] => 3,
        _ => return None,
    };
    let name = written.get(at)?;
    (name.starts_with(char::is_uppercase) && !is_stop(name)).then_some(name)
}
