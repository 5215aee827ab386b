//! The subject of a clause.

use super::Subject;
use super::group::group;
use super::lexicon::{AFTER_IS, CALLED, HE, KIN, KIN_ADJECTIVES, MANY, NO_NAMES, PETS, SHE};
use super::token::{Gap, Word};

/// The subject of a clause.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Who {
    /// The person or thing that the statement is about.
    pub(super) subject: Subject,
    /// The role of a named person to the speaker: "my sister" in "my sister Ana". The statement is about Ana.
    pub(super) role: Option<String>,
    /// The property of the subject that the clause is about, in lower case: "favourite colour" in "my favourite
    /// colour".
    pub(super) of: Vec<String>,
    /// Index of the first word after it.
    pub(super) next: usize,
    /// True if the subject contains the "is": "my sister's a nurse".
    pub(super) is: bool,
    /// True for a pronoun that refers to an earlier mention.
    pub(super) pronoun: bool,
    /// True if the text omits the subject.
    pub(super) implied: bool,
}

impl Who {
    pub(super) fn of(subject: Subject, next: usize) -> Who {
        Who {
            subject,
            role: None,
            of: Vec::new(),
            next,
            is: false,
            pronoun: false,
            implied: false,
        }
    }
}

/// Reads the subject that begins at `at`; `last` is the referent of a pronoun.
pub(super) fn subject(text: &str, words: &[Word], at: usize, last: Option<&Subject>) -> Option<Who> {
    let word = words.get(at).filter(|it| !it.quoted)?;
    let and_i = |who: Who| joined(words, who);
    match word.lower.as_str() {
        "i" | "we" => Some(Who::of(Subject::Speaker, at + 1)),
        "my" | "our" => mine(text, words, at).map(and_i),
        "he" | "she" | "they" => {
            let last = last.filter(|it| agrees(it, &word.lower))?;
            Some(Who {
                pronoun: true,
                ..Who::of(last.clone(), at + 1)
            })
        }
        "his" | "her" => {
            let pronoun = if word.lower == "his" { "he" } else { "she" };
            let last = last.filter(|it| agrees(it, pronoun))?;
            of_somebody(words, at + 1, last.clone()).map(|it| Who { pronoun: true, ..it })
        }
        // "The eldest, Poppy, is a pilot."
        "the" => {
            let rank = words
                .get(at + 1)
                .filter(|it| it.is(&["eldest", "oldest", "youngest", "middle"]))?;
            let name = words.get(at + 2).filter(|it| is_name(it) && it.gap == Gap::Comma)?;
            (rank.gap == Gap::Comma).then(|| Who::of(Subject::Name(written(text, name, name)), at + 3))
        }
        _ => named(text, words, at).map(and_i),
    }
}

/// Returns the speaker as the subject of "Tom and I" and "my wife and I".
fn joined(words: &[Word], who: Who) -> Who {
    let is = |at: usize, list: &[&str]| words.get(at).is_some_and(|it| it.is(list));
    if is(who.next, &["and"]) && is(who.next + 1, &["i", "me"]) {
        return Who::of(Subject::Speaker, who.next + 2);
    }
    who
}

/// Returns true if a pronoun can refer to the subject.
pub(super) fn agrees(subject: &Subject, pronoun: &str) -> bool {
    let Subject::Phrase(phrase) = subject else {
        return matches!(subject, Subject::Name(_)) && pronoun != "they";
    };
    let head = phrase.rsplit(' ').next().unwrap_or_default();
    match pronoun {
        "they" => MANY.contains(&head),
        "he" => !MANY.contains(&head) && !SHE.contains(&head),
        _ => !MANY.contains(&head) && !HE.contains(&head),
    }
}

/// Returns true if a sentence continues with another person than `last`, so that the next "he" has no clear referent:
/// "Selma loves it, Jonas misses his club".
pub(super) fn another(words: &[Word], last: &Subject) -> bool {
    let same =
        |it: &Word| matches!(last, Subject::Name(name) if name.to_lowercase().split(' ').any(|part| part == it.lower));
    let acts = |at: usize| {
        let before = &words[at - 1];
        before.gap == Gap::Comma && is_name(&words[at]) && group(words, at + 1, false).is_some()
    };
    (1..words.len()).any(|at| !same(&words[at]) && acts(at))
}

/// Reads "my sister", "my sister Ana", "my sister's name", "my favourite colour".
fn mine(text: &str, words: &[Word], at: usize) -> Option<Who> {
    let head = (at + 1..words.len().min(at + 4)).find(|&it| !words[it].on(&KIN_ADJECTIVES))?;
    let child = &words[head - 1];
    // "My youngest is two."
    if head == at + 2
        && child.lower.strip_suffix("'s").unwrap_or(&child.lower).ends_with("est")
        && child.gap == Gap::None
        && !words[head].on(&KIN)
        && words[head].is(&[
            "is", "has", "can", "does", "was", "will", "loves", "hates", "likes", "plays",
        ])
    {
        return Some(Who::of(Subject::Phrase(format!("my {}", child.lower)), head));
    }
    if words[at..head].iter().any(|it| it.gap != Gap::None) {
        return None;
    }
    let word = &words[head];
    let bare = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
    if !KIN.contains(&bare) && !PETS.contains(&bare) {
        return of_somebody(words, at + 1, Subject::Speaker);
    }
    let mut phrase: Vec<&str> = vec!["my"];
    phrase.extend(words[at + 1..head].iter().map(|it| it.lower.as_str()));
    phrase.push(bare);
    let phrase = phrase.join(" ");
    if bare.len() < word.lower.len() {
        return possessed(words, head + 1, Subject::Phrase(phrase));
    }
    if let Some((name, next)) = apposed(text, words, head) {
        return Some(Who {
            role: Some(phrase),
            ..Who::of(Subject::Name(name), next)
        });
    }
    // "my cat allergy", "my family doctor": another noun follows.
    Some(Who::of(Subject::Phrase(phrase), head + 1))
}

/// Reads the name in "my sister Ana", "my sister, Ana,"; returns it with the index after it.
fn apposed(text: &str, words: &[Word], head: usize) -> Option<(String, usize)> {
    let first = words.get(head + 1).filter(|it| is_name(it))?;
    match words[head].gap {
        Gap::Strong => None,
        Gap::Comma => {
            let mut end = head + 1;
            while words[end].gap == Gap::None && end < head + 2 && words.get(end + 1).is_some_and(is_name) {
                end += 1;
            }
            let closed = words[end].gap != Gap::None || end + 1 == words.len();
            (closed && !words[end].lower.ends_with("'s")).then(|| (written(text, first, &words[end]), end + 1))
        }
        Gap::None => {
            let mut end = head + 1;
            while words[end].gap == Gap::None && end < head + 2 && words.get(end + 1).is_some_and(is_name) {
                end += 1;
            }
            let last = &words[end];
            (!last.lower.ends_with("'s")).then(|| (written(text, first, last), end + 1))
        }
    }
}

/// Reads the words after "my sister's": "a nurse" or "birthday".
fn possessed(words: &[Word], next: usize, subject: Subject) -> Option<Who> {
    if words.get(next).is_some_and(|it| it.on(&AFTER_IS)) {
        return Some(Who {
            is: true,
            ..Who::of(subject, next)
        });
    }
    of_somebody(words, next, subject)
}

/// Reads the property of a person that a clause is about: the nouns up to a form of "be".
fn of_somebody(words: &[Word], from: usize, subject: Subject) -> Option<Who> {
    let be = (from + 1..words.len().min(from + 5)).find(|&it| words[it].is(&["is", "are", "was", "has"]))?;
    let nouns = &words[from..be];
    if nouns
        .iter()
        .any(|it| it.gap != Gap::None || it.quoted || it.lower.ends_with("'s"))
    {
        return None;
    }
    Some(Who {
        of: nouns.iter().map(|it| it.lower.clone()).collect(),
        ..Who::of(subject, be)
    })
}

fn named(text: &str, words: &[Word], at: usize) -> Option<Who> {
    let word = &words[at];
    let bare = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
    let own = bare.len() < word.lower.len();
    if CALLED.contains(&bare) && word.gap == Gap::None {
        let subject = Subject::Phrase(format!("my {bare}"));
        return if own {
            possessed(words, at + 1, subject)
        } else {
            Some(Who::of(subject, at + 1))
        };
    }
    // "Saw Dr. Vance" begins with a verb.
    let verb = at == 0 && crate::verbs::is_past(bare) && words.get(1).is_some_and(is_name);
    if !is_name(word) || word.gap != Gap::None || verb {
        return None;
    }
    // "Daughter Ada is nine."
    if KIN.contains(&bare) && words.get(at + 1).is_some_and(is_name) {
        return named(text, words, at + 1);
    }
    let mut end = at;
    while !own && end < at + 2 && words[end].gap == Gap::None && words.get(end + 1).is_some_and(is_name) {
        end += 1;
    }
    let last = &words[end];
    let name = written(text, word, last);
    if last.lower.ends_with("'s") {
        let name = name.trim_end_matches("'s").trim_end_matches("\u{2019}s").to_owned();
        return possessed(words, end + 1, Subject::Name(name));
    }
    (last.gap == Gap::None).then(|| Who::of(Subject::Name(name), end + 1))
}

/// Returns true if a word can be the name of a person.
pub(super) fn is_name(word: &Word) -> bool {
    let bare = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
    let letters = bare.chars().count() > 1
        && bare
            .chars()
            .all(|it| it.is_alphabetic() || matches!(it, '-' | '\'' | '.'));
    word.capital
        && !word.shouted
        && !word.quoted
        && letters
        && !crate::is_stop(bare)
        && !NO_NAMES.contains(&bare)
        && !bare.contains('\'')
}

fn written(text: &str, first: &Word, last: &Word) -> String {
    text.get(first.range.start..last.range.end)
        .unwrap_or_default()
        .to_owned()
}
