//! The subject of a clause.

use crate::facts::Subject;
use crate::facts::clauses::token::{Gap, Word};
use crate::facts::clauses::verb_group::read_verb_group;
use crate::facts::lexicon::{
    AFTER_IS, BIRTH_RANKS, CALLED, CHILD_VERBS, HE, KIN, KIN_ADJECTIVES, MANY, NO_NAMES, PETS, PROPERTY_VERBS, SHE,
};

/// The subject of a clause.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClauseSubject {
    /// The person or thing that the statement is about.
    pub(crate) subject: Subject,
    /// The role of a named person to the speaker: "my sister" in "my sister Ana". The statement is about Ana.
    pub(crate) role: Option<String>,
    /// The property of the subject that the clause is about, in lower case: "favourite colour" in "my favourite
    /// colour".
    pub(crate) of: Vec<String>,
    /// Index of the first word after it.
    pub(crate) next: usize,
    /// True if the subject contains the "is": "my sister's a nurse".
    pub(crate) is: bool,
    /// True for a pronoun that refers to an earlier mention.
    pub(crate) pronoun: bool,
    /// True if the text omits the subject.
    pub(crate) implied: bool,
}

impl ClauseSubject {
    pub(crate) fn from_subject(subject: Subject, next: usize) -> ClauseSubject {
        ClauseSubject {
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
pub(crate) fn read_subject(text: &str, words: &[Word], at: usize, last: Option<&Subject>) -> Option<ClauseSubject> {
    let word = words.get(at).filter(|it| !it.quoted)?;
    let and_i = |who: ClauseSubject| include_speaker(words, who);
    match word.lower.as_str() {
        "i" | "we" => Some(ClauseSubject::from_subject(Subject::Speaker, at + 1)),
        "my" | "our" => read_possessive_subject(text, words, at).map(and_i),
        "he" | "she" | "they" => {
            let last = last.filter(|it| agrees_with_pronoun(it, &word.lower))?;
            Some(ClauseSubject {
                pronoun: true,
                ..ClauseSubject::from_subject(last.clone(), at + 1)
            })
        }
        "his" | "her" => {
            let pronoun = if word.lower == "his" { "he" } else { "she" };
            let last = last.filter(|it| agrees_with_pronoun(it, pronoun))?;
            of_somebody(words, at + 1, last.clone()).map(|it| ClauseSubject { pronoun: true, ..it })
        }
        // "The eldest, Poppy, is a pilot."
        "the" => {
            let rank = words.get(at + 1).filter(|it| it.is_in_list(&BIRTH_RANKS))?;
            let name = words.get(at + 2).filter(|it| is_name(it) && it.gap == Gap::Comma)?;
            (rank.gap == Gap::Comma)
                .then(|| ClauseSubject::from_subject(Subject::Name(text_between(text, name, name)), at + 3))
        }
        _ => read_named_subject(text, words, at).map(and_i),
    }
}

/// Returns the speaker as the subject of "Tom and I" and "my wife and I".
fn include_speaker(words: &[Word], who: ClauseSubject) -> ClauseSubject {
    let is = |at: usize, list: &[&str]| words.get(at).is_some_and(|it| it.is_any_of(list));
    if is(who.next, &["and"]) && is(who.next + 1, &["i", "me"]) {
        return ClauseSubject::from_subject(Subject::Speaker, who.next + 2);
    }
    who
}

/// Returns true if a pronoun can refer to the subject.
pub(crate) fn agrees_with_pronoun(subject: &Subject, pronoun: &str) -> bool {
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
pub(crate) fn continues_with_other_person(words: &[Word], last: &Subject) -> bool {
    let same =
        |it: &Word| matches!(last, Subject::Name(name) if name.to_lowercase().split(' ').any(|part| part == it.lower));
    let acts = |at: usize| {
        let before = &words[at - 1];
        before.gap == Gap::Comma && is_name(&words[at]) && read_verb_group(words, at + 1, false).is_some()
    };
    (1..words.len()).any(|at| !same(&words[at]) && acts(at))
}

/// Reads "my sister", "my sister Ana", "my sister's name", "my favourite colour".
fn read_possessive_subject(text: &str, words: &[Word], at: usize) -> Option<ClauseSubject> {
    let head = (at + 1..words.len().min(at + 4)).find(|&it| !words[it].is_in_list(&KIN_ADJECTIVES))?;
    let child = &words[head - 1];
    // "My youngest is two."
    if head == at + 2
        && child.lower.strip_suffix("'s").unwrap_or(&child.lower).ends_with("est")
        && child.gap == Gap::None
        && !words[head].is_in_list(&KIN)
        && words[head].is_in_list(&CHILD_VERBS)
    {
        return Some(ClauseSubject::from_subject(
            Subject::Phrase(format!("my {}", child.lower)),
            head,
        ));
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
        return read_after_genitive(words, head + 1, Subject::Phrase(phrase));
    }
    if let Some((name, next)) = read_apposed_name(text, words, head) {
        return Some(ClauseSubject {
            role: Some(phrase),
            ..ClauseSubject::from_subject(Subject::Name(name), next)
        });
    }
    // "my cat allergy", "my family doctor": another noun follows.
    Some(ClauseSubject::from_subject(Subject::Phrase(phrase), head + 1))
}

/// Reads the name in "my sister Ana", "my sister, Ana,"; returns it with the index after it.
fn read_apposed_name(text: &str, words: &[Word], head: usize) -> Option<(String, usize)> {
    let first = words.get(head + 1).filter(|it| is_name(it))?;
    match words[head].gap {
        Gap::Strong => None,
        Gap::Comma => {
            let mut end = head + 1;
            while words[end].gap == Gap::None && end < head + 2 && words.get(end + 1).is_some_and(is_name) {
                end += 1;
            }
            let closed = words[end].gap != Gap::None || end + 1 == words.len();
            (closed && !words[end].lower.ends_with("'s")).then(|| (text_between(text, first, &words[end]), end + 1))
        }
        Gap::None => {
            let mut end = head + 1;
            while words[end].gap == Gap::None && end < head + 2 && words.get(end + 1).is_some_and(is_name) {
                end += 1;
            }
            let last = &words[end];
            (!last.lower.ends_with("'s")).then(|| (text_between(text, first, last), end + 1))
        }
    }
}

/// Reads the words after "my sister's": "a nurse" or "birthday".
fn read_after_genitive(words: &[Word], next: usize, subject: Subject) -> Option<ClauseSubject> {
    if words.get(next).is_some_and(|it| it.is_in_list(&AFTER_IS)) {
        return Some(ClauseSubject {
            is: true,
            ..ClauseSubject::from_subject(subject, next)
        });
    }
    of_somebody(words, next, subject)
}

/// Reads the property of a person that a clause is about: the nouns up to a form of "be".
fn of_somebody(words: &[Word], from: usize, subject: Subject) -> Option<ClauseSubject> {
    let be = (from + 1..words.len().min(from + 5)).find(|&it| words[it].is_in_list(&PROPERTY_VERBS))?;
    let nouns = &words[from..be];
    if nouns
        .iter()
        .any(|it| it.gap != Gap::None || it.quoted || it.lower.ends_with("'s"))
    {
        return None;
    }
    Some(ClauseSubject {
        of: nouns.iter().map(|it| it.lower.clone()).collect(),
        ..ClauseSubject::from_subject(subject, be)
    })
}

fn read_named_subject(text: &str, words: &[Word], at: usize) -> Option<ClauseSubject> {
    let word = &words[at];
    let bare = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
    let own = bare.len() < word.lower.len();
    if CALLED.contains(&bare) && word.gap == Gap::None {
        let subject = Subject::Phrase(format!("my {bare}"));
        return if own {
            read_after_genitive(words, at + 1, subject)
        } else {
            Some(ClauseSubject::from_subject(subject, at + 1))
        };
    }
    // "Saw Dr. Vance" begins with a verb.
    let verb = at == 0 && crate::lexicon::verbs::is_past(bare) && words.get(1).is_some_and(is_name);
    if !is_name(word) || word.gap != Gap::None || verb {
        return None;
    }
    // "Daughter Ada is nine."
    if KIN.contains(&bare) && words.get(at + 1).is_some_and(is_name) {
        return read_named_subject(text, words, at + 1);
    }
    let mut end = at;
    while !own && end < at + 2 && words[end].gap == Gap::None && words.get(end + 1).is_some_and(is_name) {
        end += 1;
    }
    let last = &words[end];
    let name = text_between(text, word, last);
    if last.lower.ends_with("'s") {
        let name = name.trim_end_matches("'s").trim_end_matches("\u{2019}s").to_owned();
        return read_after_genitive(words, end + 1, Subject::Name(name));
    }
    (last.gap == Gap::None).then(|| ClauseSubject::from_subject(Subject::Name(name), end + 1))
}

/// Returns true if a word can be the name of a person.
pub(crate) fn is_name(word: &Word) -> bool {
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

fn text_between(text: &str, first: &Word, last: &Word) -> String {
    text.get(first.range.start..last.range.end)
        .unwrap_or_default()
        .to_owned()
}
