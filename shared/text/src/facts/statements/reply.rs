//! Replies that omit the words of the question: after "Where do you live now?", "Lisbon." states where the speaker
//! lives.
//!
//! The reply is completed to a sentence of its speaker, "I live in Lisbon.", which the rules then read.

use domain::question::Slot;

use crate::facts::clauses::token::{Gap, Word, quote_ranges, read_words};
use crate::facts::clauses::verb::{Form, base_of};
use crate::facts::lexicon::{
    BEFORE_VALUE, CHILDREN, FILLERS, FRAGMENT_VERBS, JOBS, KIN, LASTING_ACTIONS, NO_WORDS, NOUN_OPENERS, PETS,
    POLAR_ADVERBS, QUESTION_OPENERS, REPLY_OPENERS, VAGUE_QUESTIONS, VALUE_PREPOSITIONS, VALUE_PRONOUNS, YES_WORDS,
    is_number,
};
use crate::question::slot;

/// Returns the sentence that a reply stands for; `None` if it is complete or says too little.
pub(crate) fn complete_reply(question: &str, reply: &str) -> Option<String> {
    let question_words = plain_question_words(question)?;
    let first = crate::split_sentences(reply).into_iter().next()?;
    let start = first.as_ptr() as usize - reply.as_ptr() as usize;
    let answer = read_words(reply, start..start + first.len(), &quote_ranges(reply));
    if answer.is_empty() || answer.iter().any(|it| it.quoted) || crate::ends_asking(first) {
        return None;
    }
    complete_polar_answer(&question_words, &answer, reply).or_else(|| complete_value(&question_words, &answer, reply))
}

/// Returns the words of a question in English and in lower case, up to its first break. They begin at the first
/// question word or noun, so that the name of the addressee before it is left out.
fn plain_question_words(question: &str) -> Option<Vec<String>> {
    let english = crate::gloss::to_english(question).replace('\u{2019}', "'");
    let marks = quote_ranges(&english);
    let words = read_words(&english, 0..english.len(), &marks);
    // "Still allergic to cats?" omits "are you".
    if words
        .first()
        .is_some_and(|it| it.lower == "still" && it.gap == Gap::None)
        && words.len() > 1
    {
        let last = (1..words.len()).find(|it| words[*it].gap != Gap::None);
        let plain_words = words[..=last.unwrap_or(words.len() - 1)]
            .iter()
            .map(|it| it.lower.clone());
        return Some(
            ["are", "you"]
                .map(str::to_owned)
                .into_iter()
                .chain(plain_words)
                .collect(),
        );
    }
    let at = |it: &Word| {
        it.is_in_list(&QUESTION_OPENERS) || it.is_in_list(&KIN) || it.is_in_list(&PETS) || it.lower == "any"
    };
    let from = words.iter().position(at).filter(|it| *it <= 4)?;
    let last = (from..words.len()).find(|it| words[*it].gap != Gap::None);
    let last = last.unwrap_or(words.len() - 1);
    Some(words[from..=last].iter().map(|it| it.lower.clone()).collect())
}

/// Completes an answer to a yes-or-no question: "Do you smoke?" "No." becomes "I do not smoke."
fn complete_polar_answer(question: &[String], answer: &[Word], reply: &str) -> Option<String> {
    let question: Vec<&str> = question.iter().map(String::as_str).collect();
    let (auxiliary, rest) = match question.as_slice() {
        ["do" | "are" | "can", "you", ..] => (question[0], &question[2..]),
        ["have", "you", "got", ..] => ("have", &question[3..]),
        // "Kids?", "Any pets?"
        [noun] | ["any", noun] if is_kin_or_pet(noun) => ("have", &question[..]),
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
        .skip_while(|it| POLAR_ADVERBS.contains(it))
        .collect();
    // "the" is clear in a question about a lasting state ("Do you work at the library?"), but not about something at
    // hand.
    let lasting = still || rest.first().is_some_and(|it| LASTING_ACTIONS.contains(it));
    let vague = |it: &&str| VAGUE_QUESTIONS.contains(it) || *it == "the" && !lasting;
    let what = rest.join(" ").replacen("any ", "", 1);
    if rest.is_empty() || rest.len() > WHAT_MAX || rest.iter().any(vague) {
        return None;
    }
    // "Sadly yes."
    let answer = match answer {
        [first, rest @ ..] if first.is_in_list(&REPLY_OPENERS) && !rest.is_empty() => rest,
        all => all,
    };
    let opens = answer[0].lower.as_str();
    let alone = answer[0].gap != Gap::None || answer.len() == 1;
    let (yes, no) = (alone && YES_WORDS.contains(opens), alone && NO_WORDS.contains(opens));
    let more = if still { " any more" } else { "" };
    match (auxiliary, yes, no) {
        ("have", _, _) if rest.len() <= 2 && is_number(opens) && alone && opens != "one" => {
            Some(format!("I have {opens} {what}."))
        }
        ("have", false, false) => complete_count(answer, reply),
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

/// Returns the index of the last word before the first pause at or after `from`, or of the last word.
fn last_word_of_phrase(answer: &[Word], from: usize) -> usize {
    (from..answer.len())
        .find(|it| answer[*it].gap != Gap::None)
        .unwrap_or(answer.len() - 1)
}

/// Completes a count: "Do you have pets?" "Two cats." becomes "I have two cats."
fn complete_count(answer: &[Word], reply: &str) -> Option<String> {
    let end = last_word_of_phrase(answer, 0);
    let count = is_number(&answer[0].lower) || answer[0].is_any_of(&["a", "an"]);
    let noun = answer[..=end].iter().any(|it| is_kin_or_pet(&it.lower));
    let object = reply.get(answer[0].range.start..answer[end].range.end)?;
    (count && noun && end < 5).then(|| format!("I have {}.", object.to_lowercase()))
}

fn is_kin_or_pet(noun: &str) -> bool {
    KIN.contains(noun) || PETS.contains(noun) || CHILDREN.contains(noun) || noun == "pets"
}

/// Completes a value: "Where do you live?" "Lisbon." becomes "I live in Lisbon."
fn complete_value(question_words: &[String], answer: &[Word], reply: &str) -> Option<String> {
    let question = question_words.join(" ");
    let whose = question_words
        .windows(2)
        .find(|it| it[0] == "your" && KIN.contains(it[1].as_str()));
    let you = question_words.iter().any(|it| it == "you") || question.starts_with("what is your");
    let (subject, is, s) = match whose {
        Some(kin) => (format!("My {}", kin[1]), "is", "s"),
        None if you => ("I".to_owned(), "am", ""),
        None => return None,
    };
    let from = answer.iter().position(|it| {
        !it.is_in_list(&FILLERS) && !it.is_in_list(&BEFORE_VALUE) || it.gap == Gap::None && it.lower == "in"
    })?;
    let place = answer[from].is_in_list(&VALUE_PREPOSITIONS);
    let value = from + usize::from(place);
    let first = answer.get(value)?;
    let is_noun_phrase = first.capital && !first.is_in_list(&VALUE_PRONOUNS) || first.is_in_list(&NOUN_OPENERS);
    let end = last_word_of_phrase(answer, value);
    // A fragment has no verb.
    let has_verb = answer[from..=end]
        .iter()
        .any(|it| it.is_in_list(&VALUE_PRONOUNS) || it.is_in_list(&FRAGMENT_VERBS))
        || base_of(&first.lower, Form::Past).is_some();
    if has_verb || end - value > VALUE_MAX {
        return None;
    }
    let written = reply.get(first.range.start..answer[end].range.end)?;
    let at = |or: &str| {
        if place {
            answer[from].lower.clone()
        } else {
            or.to_owned()
        }
    };
    let since = answer
        .get(end + 1)
        .filter(|it| it.is_any_of(&["since", "for"]))
        .and_then(|it| {
            let last = last_word_of_phrase(answer, end + 1);
            reply
                .get(it.range.start..answer[last].range.end)
                .filter(|_| !it.foreign)
        });
    let since = since.map_or(String::new(), |it| format!(" {it}"));
    match slot::requested_slot(&question.replace("your ", "my "))? {
        Slot::Name if first.capital && !place && end - value < 2 => Some(format!("My name is {written}.")),
        Slot::Home if is_noun_phrase => Some(format!("{subject} live{s} {} {written}{since}.", at("in"))),
        Slot::Origin if is_noun_phrase => Some(format!("{subject} {is} from {written}.")),
        Slot::Employer if is_noun_phrase && (place || !first.is_any_of(&["the"])) => {
            Some(format!("{subject} work{s} {} {written}{since}.", at("at")))
        }
        Slot::Job if !place && answer[value..=end].iter().any(|it| it.is_in_list(&JOBS)) => Some(format!(
            "{subject} work{s} as {}{since}.",
            lowercase_first_letter(written)
        )),
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
fn lowercase_first_letter(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|it| it.to_lowercase().to_string()).unwrap_or_default();
    first + chars.as_str()
}

/// Number of words of the longest verb phrase of a question that is turned into a statement.
const WHAT_MAX: usize = 7;
/// Number of words after the first one of the longest value.
const VALUE_MAX: usize = 6;
