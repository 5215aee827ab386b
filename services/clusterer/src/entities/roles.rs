//! Finds roles of people in a text, such as "my sister Ana".

pub(super) mod role_counts;

use serde::{Deserialize, Serialize};
use text::lexicon::kin::{self, Kin};

use crate::word_lists::{
    ANSWERS_WITHOUT_NAME, CALLED_CONTRACTIONS, CALLED_PRONOUNS, HAVING_SUBJECTS, HAVING_VERBS, NAME_POSSESSIVES,
    NAME_QUESTION_WORDS,
};

/// A statement that one person has a role in relation to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Role {
    /// The owner of the role, as written.
    pub(super) owner: String,
    /// The role, such as `older sister`.
    pub(super) role: String,
    /// The person who has the role, as written.
    pub(super) name: String,
    pub(super) person: bool,
}

/// A text with the properties that roles need.
pub(super) struct RoleContext<'a> {
    pub(super) text: &'a str,
    /// The speaker and the addressee; either may be empty.
    pub(super) actor: &'a str,
    pub(super) addressee: &'a str,
    /// The names in the text.
    pub(super) names: &'a [String],
    /// The names by which someone is addressed.
    pub(super) called: &'a [String],
}

struct Word<'a> {
    start: usize,
    end: usize,
    lower: String,
    text: &'a str,
}

/// A word for kin with its modifiers, and the index of the next word.
struct KinWord {
    kin: Kin,
    role: String,
    next: usize,
    /// True for "sister's".
    owns: bool,
}

/// Returns the roles of people that a text states.
pub(super) fn find_roles(scene: &RoleContext<'_>) -> Vec<Role> {
    let words = split_words(scene.text);
    let mut out: Vec<Role> = Vec::new();
    // "I have a sister. Her name is Ana": the last role for which no name was found yet.
    let mut open: Option<(String, KinWord)> = None;
    for i in 0..words.len() {
        if let Some((owner, found)) = open.as_ref()
            && let Some(name) = own_name(scene, &words, i)
        {
            out.push(build_role(owner, found, name));
            open = None;
            continue;
        }
        let Some((owner, found)) = read_owner_and_kin(scene, &words, i) else {
            continue;
        };
        let name =
            find_name_after_kin(scene, &words, &found).or_else(|| find_name_before_kin(scene, &words, i, &found));
        match name.filter(|it| *it != owner) {
            Some(name) => out.push(build_role(&owner, &found, name)),
            None if !found.owns => open = Some((owner, found)),
            None => {}
        }
    }
    out
}

/// Returns the role stated by an answer to a question such as "what is your sister called?".
pub(super) fn find_role_in_answer(question: &str, answer: &str, actor: &str) -> Option<Role> {
    let words = split_words(question);
    let asks = words.iter().any(|it| NAME_QUESTION_WORDS.contains(it.lower.as_str()));
    let at = words
        .iter()
        .position(|it| it.lower == "your")
        .filter(|_| asks && !actor.is_empty())?;
    let found = kin_at(&words, at + 1)?;
    let first = text::split_sentences(answer).into_iter().next()?;
    let bare = first.trim_matches(|it: char| !it.is_alphanumeric());
    let name = bare.rsplit(", ").next().unwrap_or(bare);
    let is_name = name
        .split_whitespace()
        .all(|it| it.chars().next().is_some_and(char::is_uppercase));
    let short = name.split_whitespace().count() <= 2 && (2..=40).contains(&name.chars().count());
    let known = text::is_stop(name) || ANSWERS_WITHOUT_NAME.contains(name.to_lowercase().as_str());
    (is_name && short && !known).then(|| build_role(actor, &found, name))
}

/// Returns the owner as written, the role and the kin that a phrase such as "my older sister" or "Tom's boss" names.
pub(super) fn parse_role_phrase(phrase: &str, actor: &str) -> Option<(String, String, Kin)> {
    let words = split_words(phrase);
    // In "Melanie Brown's sister", the owner begins before the word with the "'s".
    let owns = |it: &Word<'_>| it.lower.ends_with("'s") && kin_word(&it.lower).is_none();
    let at = words.iter().position(owns).unwrap_or_default();
    let names = [words.get(at).map(|it| {
        phrase[..it.end]
            .trim_end_matches("'s")
            .trim_end_matches("\u{2019}s")
            .to_owned()
    })];
    let names: Vec<String> = names.into_iter().flatten().collect();
    let scene = RoleContext {
        text: phrase,
        actor,
        addressee: "",
        names: &names,
        called: &[],
    };
    let (owner, found) = words.get(at).and_then(|_| read_owner_and_kin(&scene, &words, at))?;
    (found.next == words.len() && !found.owns).then_some((owner, found.role, found.kin))
}

/// Returns the kin that a role such as `older sister` ends with.
pub(super) fn kin_of_role(role: &str) -> Option<Kin> {
    kin_word(role.rsplit(' ').next()?).map(|it| it.0)
}

fn build_role(owner: &str, found: &KinWord, name: &str) -> Role {
    Role {
        owner: owner.to_owned(),
        role: found.role.clone(),
        name: name.to_owned(),
        person: found.kin.person,
    }
}

/// Returns the owner and the kin of "my sister", "your sister", "Tom's sister" or "a sister of mine" at `i`.
fn read_owner_and_kin(scene: &RoleContext<'_>, words: &[Word<'_>], i: usize) -> Option<(String, KinWord)> {
    let lower = words[i].lower.as_str();
    let owner = match lower {
        "my" | "our" => scene.actor.to_owned(),
        "your" => scene.addressee.to_owned(),
        "a" | "an" | "one" => {
            let mut found = kin_at(words, i + 1)?;
            let mine = words.get(found.next).is_some_and(|it| it.lower == "of")
                && words
                    .get(found.next + 1)
                    .is_some_and(|it| matches!(it.lower.as_str(), "mine" | "ours"));
            let has = i > 1
                && HAVING_VERBS.contains(words[i - 1].lower.as_str())
                && HAVING_SUBJECTS.contains(words[i - 2].lower.as_str());
            found.next += if mine { 2 } else { 0 };
            return (mine || has && !scene.actor.is_empty()).then(|| (scene.actor.to_owned(), found));
        }
        _ => {
            let bare = ["'s", "\u{2019}s"]
                .iter()
                .find_map(|it| words[i].text.strip_suffix(it))?;
            let capital = bare.chars().next().is_some_and(char::is_uppercase) && !text::is_stop(bare);
            let end = words[i].start + bare.len();
            let full_name = find_name_ending_at(scene, end).filter(|_| capital);
            full_name.unwrap_or(if capital { bare } else { "" }).to_owned()
        }
    };
    let found = kin_at(words, i + 1).filter(|_| !owner.is_empty())?;
    Some((owner, found))
}

fn kin_at(words: &[Word<'_>], from: usize) -> Option<KinWord> {
    let mut added = "";
    for at in from..words.len().min(from + 4) {
        let lower = words[at].lower.as_str();
        let next = words.get(at + 1).map(|it| it.lower.as_str()).unwrap_or_default();
        let more = kin::word_added_by_modifier(lower);
        if more.is_none() || kin_word(next).is_none() && kin::word_added_by_modifier(next).is_none() {
            let (kin, role, owns) = kin_word(lower)?;
            let gap = if added.is_empty() { "" } else { " " };
            return Some(KinWord {
                kin,
                role: format!("{added}{gap}{role}"),
                next: at + 1,
                owns,
            });
        }
        added = more.filter(|it| !it.is_empty()).unwrap_or(added);
    }
    None
}

/// Returns the kin that a word stands for, the role with "-in-law" or "step", and whether the word is a possessive.
fn kin_word(word: &str) -> Option<(Kin, String, bool)> {
    let bare = ["'s", "\u{2019}s"].iter().find_map(|it| word.strip_suffix(it));
    let (word, owns) = bare.map_or((word, false), |it| (it, true));
    let (base, law) = word.strip_suffix("-in-law").map_or((word, ""), |it| (it, "-in-law"));
    let prefixes = [
        ("step-", "step"),
        ("ex-", "former "),
        ("step", "step"),
        ("half-", "half "),
    ];
    let prefixed = || {
        prefixes
            .iter()
            .find_map(|(short, long)| Some((kin::find_relation(base.strip_prefix(short)?)?, *long)))
    };
    let (kin, before) = kin::find_relation(base).map(|it| (it, "")).or_else(prefixed)?;
    Some((kin, format!("{before}{}{law}", kin.word), owns))
}

/// Returns the name after the word for kin: "my sister Ana", "my sister is called Ana", "my sister's name is Ana",
/// "my sister, Ana,".
fn find_name_after_kin<'a>(scene: &RoleContext<'a>, words: &[Word<'_>], found: &KinWord) -> Option<&'a str> {
    let says = |skip: usize, list: &[&str]| {
        words
            .get(found.next + skip)
            .is_some_and(|it| list.contains(&it.lower.as_str()))
    };
    let called = &["called", "named"];
    let skip = if found.owns {
        if says(0, &["name"]) && says(1, &["is", "was"]) {
            2
        } else if says(0, called) {
            1
        } else {
            return None;
        }
    } else if says(0, called) {
        1
    } else if says(0, &["is", "was"]) && says(1, called) {
        2
    } else if says(0, &["whose"]) && says(1, &["name"]) && says(2, &["is", "was"]) {
        3
    } else {
        0
    };
    let at = found.next + skip;
    let start = words.get(at)?.start;
    let gap = scene.text[words[at - 1].end..start].trim();
    let name = find_name_starting_at(scene, start)?;
    let rest = scene.text[start + name.len()..].trim_start();
    match gap {
        "" => Some(name),
        "," | "(" | "-" | "\u{2014}" | "\u{2013}" if skip == 0 => ends_apposition(rest).then_some(name),
        _ => None,
    }
}

/// Returns the name before it: "Ana is my sister", "Ana, my sister, came".
fn find_name_before_kin<'a>(scene: &RoleContext<'a>, words: &[Word<'_>], i: usize, found: &KinWord) -> Option<&'a str> {
    let previous = words.get(i.checked_sub(1)?)?;
    let gap = scene.text[previous.end..words[i].start].trim();
    if found.owns || words[i].lower == "a" {
        return None;
    }
    if gap == "," {
        let rest = scene.text[words[found.next - 1].end..].trim_start();
        let name = find_name_ending_at(scene, previous.end)?;
        let called = scene.called.iter().any(|it| it == name);
        return (ends_apposition(rest) && !called).then_some(name);
    }
    if !gap.is_empty() {
        return None;
    }
    if matches!(previous.lower.as_str(), "is" | "was") {
        return find_name_ending_at(scene, words.get(i.checked_sub(2)?)?.end);
    }
    let bare = ["'s", "\u{2019}s"]
        .iter()
        .find_map(|it| previous.text.strip_suffix(it))?;
    find_name_ending_at(scene, previous.start + bare.len())
}

/// Returns the name in "Her name is Ana" or "she's called Ana".
fn own_name<'a>(scene: &RoleContext<'a>, words: &[Word<'_>], i: usize) -> Option<&'a str> {
    let lower = |at: usize| words.get(at).map(|it| it.lower.as_str()).unwrap_or_default();
    let skip = match (lower(i), lower(i + 1), lower(i + 2)) {
        (owner, "name", "is" | "was") if NAME_POSSESSIVES.contains(owner) => 3,
        (pronoun, "is" | "was", "called" | "named") if CALLED_PRONOUNS.contains(pronoun) => 3,
        (owner, "name's", _) if NAME_POSSESSIVES.contains(owner) => 2,
        (pronoun, "called" | "named", _) if CALLED_CONTRACTIONS.contains(pronoun) => 2,
        _ => return None,
    };
    find_name_starting_at(scene, words.get(i + skip)?.start)
}

/// Returns true if the following text ends an apposition and does not continue a list.
fn ends_apposition(rest: &str) -> bool {
    let Some(mark) = rest.chars().next() else { return true };
    let next = rest[mark.len_utf8()..].trim_start();
    let word = next.split(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
    let listed = matches!(word, "and" | "or") || word.chars().next().is_some_and(char::is_uppercase) && word != "I";
    match mark {
        ',' => !listed,
        '.' | '!' | '?' | ')' | ';' | '-' | '\u{2014}' | '\u{2013}' => true,
        _ => false,
    }
}

/// Returns the longest name that starts at `start`.
fn find_name_starting_at<'a>(scene: &RoleContext<'a>, start: usize) -> Option<&'a str> {
    let rest = &scene.text[start..];
    let fits = |name: &&String| {
        let after = rest.strip_prefix(name.as_str());
        after.is_some_and(|it| !it.chars().next().is_some_and(char::is_alphanumeric))
    };
    let name = scene.names.iter().filter(fits).max_by_key(|it| it.len())?;
    Some(&rest[..name.len()])
}

/// Returns the longest name that ends at `end`.
fn find_name_ending_at<'a>(scene: &RoleContext<'a>, end: usize) -> Option<&'a str> {
    let head = &scene.text[..end];
    let fits = |name: &&String| {
        let before = head.strip_suffix(name.as_str());
        before.is_some_and(|it| !it.chars().next_back().is_some_and(char::is_alphanumeric))
    };
    let name = scene.names.iter().filter(fits).max_by_key(|it| it.len())?;
    Some(&head[end - name.len()..])
}

/// Returns the words of a text; apostrophes and hyphens inside a word belong to it.
fn split_words(text: &str) -> Vec<Word<'_>> {
    let mut out = Vec::new();
    let mut start: Option<usize> = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = matches!(c, '\'' | '\u{2019}' | '-') && chars.peek().is_some_and(|it| it.1.is_alphanumeric());
        let inside = c.is_alphanumeric() || start.is_some() && joins;
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                out.push(build_word(text, from, at));
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        out.push(build_word(text, from, text.len()));
    }
    out
}

fn build_word(text: &str, start: usize, end: usize) -> Word<'_> {
    let text = &text[start..end];
    Word {
        start,
        end,
        lower: text.to_lowercase().replace('\u{2019}', "'"),
        text,
    }
}
