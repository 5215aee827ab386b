//! Replies that omit the words of the question: after "Where do you live now?", "Lisbon." states where the speaker
//! lives.
//!
//! The reply is completed to a sentence of its speaker, "I live in Lisbon.", which the rules then read.

use domain::question::Slot;

use super::lexicon::{CHILDREN, FILLERS, JOBS, KIN, PETS, is_number};
use super::token::{Gap, Word, quotes, words};
use super::verb::{Form, base_of};
use crate::question::slot;

/// Returns the sentence that a reply stands for; `None` if it is complete or says too little.
pub(super) fn completed(question: &str, reply: &str) -> Option<String> {
    let asked = plain(question)?;
    let first = crate::sentences(reply).into_iter().next()?;
    let start = first.as_ptr() as usize - reply.as_ptr() as usize;
    let told = words(reply, start..start + first.len(), &quotes(reply));
    if told.is_empty() || told.iter().any(|it| it.quoted) || crate::ends_asking(first) {
        return None;
    }
    polar(&asked, &told, reply).or_else(|| valued(&asked, &told, reply))
}

/// Returns the words of a question in English and in lower case, up to its first break. They begin at the first
/// question word or noun, so that the name of the addressee before it is left out.
fn plain(question: &str) -> Option<Vec<String>> {
    let english = crate::gloss::english(question).replace('\u{2019}', "'");
    let marks = quotes(&english);
    let words = words(&english, 0..english.len(), &marks);
    // "Still allergic to cats?" omits "are you".
    if words
        .first()
        .is_some_and(|it| it.lower == "still" && it.gap == Gap::None)
        && words.len() > 1
    {
        let last = (1..words.len()).find(|it| words[*it].gap != Gap::None);
        let asked = words[..=last.unwrap_or(words.len() - 1)]
            .iter()
            .map(|it| it.lower.clone());
        return Some(["are", "you"].map(str::to_owned).into_iter().chain(asked).collect());
    }
    let at = |it: &Word| it.is(ASKING) || it.on(&KIN) || it.on(&PETS) || it.lower == "any";
    let from = words.iter().position(at).filter(|it| *it <= 4)?;
    let last = (from..words.len()).find(|it| words[*it].gap != Gap::None);
    let last = last.unwrap_or(words.len() - 1);
    Some(words[from..=last].iter().map(|it| it.lower.clone()).collect())
}

/// Completes an answer to a yes-or-no question: "Do you smoke?" "No." becomes "I do not smoke."
fn polar(asked: &[String], told: &[Word], reply: &str) -> Option<String> {
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    let (auxiliary, rest) = match asked.as_slice() {
        ["do" | "are" | "can", "you", ..] => (asked[0], &asked[2..]),
        ["have", "you", "got", ..] => ("have", &asked[3..]),
        // "Kids?", "Any pets?"
        [noun] | ["any", noun] if known(noun) => ("have", &asked[..]),
        _ => return None,
    };
    let (auxiliary, rest) = match (auxiliary, rest) {
        ("do", ["have", rest @ ..]) => ("have", rest),
        it => it,
    };
    let still = rest.first() == Some(&"still");
    let rest: Vec<&str> = rest
        .iter()
        .copied()
        .skip_while(|it| matches!(*it, "still" | "also" | "actually" | "even"))
        .collect();
    // "the" is clear in a question about a lasting state ("Do you work at the library?"), but not about something at
    // hand.
    let lasting = still || matches!(rest.first().copied(), Some("work" | "live" | "play" | "sing"));
    let vague = |it: &&str| VAGUE.contains(it) || *it == "the" && !lasting;
    let what = rest.join(" ").replacen("any ", "", 1);
    if rest.is_empty() || rest.len() > WHAT_MAX || rest.iter().any(vague) {
        return None;
    }
    // "Sadly yes."
    let told = match told {
        [first, rest @ ..] if first.is(REGRETS) && !rest.is_empty() => rest,
        all => all,
    };
    let opens = told[0].lower.as_str();
    let alone = told[0].gap != Gap::None || told.len() == 1;
    let (yes, no) = (alone && YES.contains(&opens), alone && NO.contains(&opens));
    let more = if still { " any more" } else { "" };
    match (auxiliary, yes, no) {
        ("have", _, _) if rest.len() <= 2 && is_number(opens) && alone && opens != "one" => {
            Some(format!("I have {opens} {what}."))
        }
        ("have", false, false) => counted(told, reply),
        ("do", true, false) => Some(format!("I {what}.")),
        ("do", false, true) => Some(format!("I don't {what}{more}.")),
        ("are", true, false) => Some(format!("I'm {what}.")),
        ("are", false, true) if still => Some(format!("I'm no longer {what}.")),
        ("are", false, true) => Some(format!("I'm not {what}.")),
        ("can", false, true) => Some(format!("I can't {what}.")),
        ("have", false, true) => Some(format!("I don't have any {what}.")),
        ("have", true, false) => Some(format!("I have {}.", rest.join(" "))).filter(|_| rest[0] != "any"),
        _ => None,
    }
}

/// Completes a count: "Do you have pets?" "Two cats." becomes "I have two cats."
fn counted(told: &[Word], reply: &str) -> Option<String> {
    let end = told.iter().position(|it| it.gap != Gap::None).unwrap_or(told.len() - 1);
    let count = is_number(&told[0].lower) || told[0].is(&["a", "an"]);
    let noun = told[..=end].iter().any(|it| known(&it.lower));
    let object = reply.get(told[0].range.start..told[end].range.end)?;
    (count && noun && end < 5).then(|| format!("I have {}.", object.to_lowercase()))
}

fn known(noun: &str) -> bool {
    KIN.contains(noun) || PETS.contains(noun) || CHILDREN.contains(noun) || noun == "pets"
}

/// Completes a value: "Where do you live?" "Lisbon." becomes "I live in Lisbon."
fn valued(asked: &[String], told: &[Word], reply: &str) -> Option<String> {
    let question = asked.join(" ");
    let whose = asked
        .windows(2)
        .find(|it| it[0] == "your" && KIN.contains(it[1].as_str()));
    let you = asked.iter().any(|it| it == "you") || question.starts_with("what is your");
    let (subject, is, s) = match whose {
        Some(kin) => (format!("My {}", kin[1]), "is", "s"),
        None if you => ("I".to_owned(), "am", ""),
        None => return None,
    };
    let from = told.iter().position(|it| {
        !it.on(&FILLERS) && !it.is(&["still", "in", "no", "not"]) || it.gap == Gap::None && it.lower == "in"
    })?;
    let place = told[from].is(PREPOSITIONS);
    let value = from + usize::from(place);
    let first = told.get(value)?;
    let named = first.capital && !first.is(PRONOUNS) || first.is(&["a", "an", "the", "my", "our"]);
    let end = (value..told.len())
        .find(|it| told[*it].gap != Gap::None)
        .unwrap_or(told.len() - 1);
    // A fragment has no verb of its own.
    let whole = told[from..=end]
        .iter()
        .any(|it| it.is(PRONOUNS) || it.is(&["is", "are", "am", "was"]))
        || base_of(&first.lower, Form::Past).is_some();
    if whole || end - value > VALUE_MAX {
        return None;
    }
    let written = reply.get(first.range.start..told[end].range.end)?;
    let at = |or: &str| if place { told[from].lower.clone() } else { or.to_owned() };
    let since = told.get(end + 1).filter(|it| it.is(&["since", "for"])).and_then(|it| {
        let last = (end + 1..told.len())
            .find(|it| told[*it].gap != Gap::None)
            .unwrap_or(told.len() - 1);
        reply.get(it.range.start..told[last].range.end).filter(|_| !it.foreign)
    });
    let since = since.map_or(String::new(), |it| format!(" {it}"));
    match slot::asked(&question.replace("your ", "my "))? {
        Slot::Name if first.capital && !place && end - value < 2 => Some(format!("My name is {written}.")),
        Slot::Home if named => Some(format!("{subject} live{s} {} {written}{since}.", at("in"))),
        Slot::Origin if named => Some(format!("{subject} {is} from {written}.")),
        Slot::Employer if named && (place || !first.is(&["the"])) => {
            Some(format!("{subject} work{s} {} {written}{since}.", at("at")))
        }
        Slot::Job if !place && told[value..=end].iter().any(|it| it.on(&JOBS)) => {
            Some(format!("{subject} work{s} as {}{since}.", lowered(written)))
        }
        Slot::Age if is_number(&first.lower) && !place => Some(format!("{subject} {is} {}.", first.lower)),
        Slot::Relative(role) if first.capital && !place && end - value < 2 => {
            (question.contains("your")).then(|| format!("My {role}'s name is {written}."))
        }
        Slot::Home
        | Slot::Origin
        | Slot::Employer
        | Slot::Job
        | Slot::Age
        | Slot::Allergy
        | Slot::Relative(_)
        | Slot::Name => None,
    }
}

/// Returns a value for the middle of a sentence, with its first letter in lower case: "A nurse".
fn lowered(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|it| it.to_lowercase().to_string()).unwrap_or_default();
    first + chars.as_str()
}

/// Number of words of the longest verb phrase of a question that is turned into a statement.
const WHAT_MAX: usize = 7;
/// Number of words after the first one of the longest value.
const VALUE_MAX: usize = 6;
/// Words that may come before the answer.
const REGRETS: &[&str] = &[
    "sadly",
    "unfortunately",
    "um",
    "er",
    "well",
    "oh",
    "haha",
    "luckily",
    "thankfully",
];
const YES: &[&str] = &["yes", "yeah", "yep", "yup", "yea", "aye"];
const NO: &[&str] = &["no", "nope", "nah", "never"];
/// Words that begin a question.
const ASKING: &[&str] = &[
    "do", "are", "can", "have", "where", "what", "how", "who", "which", "whats", "wheres",
];
/// Words that mean nothing outside their conversation.
const VAGUE: &[&str] = &[
    "it",
    "that",
    "this",
    "these",
    "those",
    "them",
    "him",
    "her",
    "me",
    "us",
    "you",
    "your",
    "anything",
    "something",
    "anyone",
    "someone",
    "anybody",
    "somebody",
    "or",
    "what",
    "who",
    "where",
    "when",
    "how",
    "if",
    "there",
    "here",
    "one",
    "think",
    "know",
    "mean",
    "want",
    "need",
    "remember",
    "so",
    "sure",
    "okay",
    "ok",
    "serious",
    "kidding",
    "my",
    "our",
    "really",
    "coming",
    "going",
    "free",
    "ready",
    "alright",
    "home",
    "well",
    "fine",
    "ever",
    "plans",
    "idea",
    "time",
];
const PREPOSITIONS: &[&str] = &[
    "in", "at", "on", "near", "for", "from", "by", "above", "outside", "with",
];
const PRONOUNS: &[&str] = &[
    "i",
    "we",
    "he",
    "she",
    "it",
    "they",
    "you",
    "that",
    "this",
    "there",
    "what",
    "where",
    "nowhere",
    "everywhere",
    "anywhere",
    "somewhere",
    "here",
];
