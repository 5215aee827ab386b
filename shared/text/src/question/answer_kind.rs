//! The kind of answer that a question wants.

use domain::anchor::AnswerKind;

use crate::lexicon::{Class, is_in_class};
use crate::{is_auxiliary, split_words};

/// Returns the kind of the wanted answer; the first rule that fits decides.
pub fn answer_kind(question: &str, words: &[String]) -> AnswerKind {
    let at = |n: usize| words.get(n).map_or("", String::as_str);
    let has = |first: &str, second: Class| words.windows(2).any(|it| it[0] == first && is_in_class(&it[1], second));
    let pair = |first: &str, second: &str| words.windows(2).any(|it| it[0] == first && it[1] == second);
    let holds = |list: &[&str]| words.iter().any(|it| list.contains(&it.as_str()));
    if !question.trim_end().ends_with(['?', '？', '؟']) && !is_in_class(at(0), Class::OpensRequest) {
        return AnswerKind::Message;
    }
    if pair("how", "long") {
        return AnswerKind::Duration;
    }
    if wants_time(words) || has("what", Class::AskedTime) || has("which", Class::AskedTime) {
        return AnswerKind::When;
    }
    if has("how", Class::HowMany) || has("what", Class::WhatNumber) {
        return AnswerKind::Number;
    }
    if holds(&["where"]) || has("which", Class::AskedPlace) || has("what", Class::AskedPlace) {
        return AnswerKind::Where;
    }
    if words.iter().any(|it| is_in_class(it, Class::AsksPerson)) {
        return AnswerKind::Who;
    }
    if holds(&["why"]) || has("what", Class::WhatReason) {
        return AnswerKind::Why;
    }
    if holds(&["how"]) {
        return AnswerKind::How;
    }
    if pair("kind", "of") || pair("kinds", "of") || pair("type", "of") || pair("types", "of") || holds(&["which"]) {
        return AnswerKind::Kind;
    }
    if is_auxiliary(at(0)) {
        return AnswerKind::YesNo;
    }
    if holds(&["what"]) && words.iter().any(|it| is_in_class(it, Class::FormOfDo)) {
        return AnswerKind::WhatDoes;
    }
    if holds(&["what"]) {
        AnswerKind::WhatIs
    } else {
        AnswerKind::Other
    }
}

/// Returns true if "when" is a question word. In "what did she do when it rained", it only opens a clause.
fn wants_time(words: &[String]) -> bool {
    let Some(at) = words.iter().position(|it| it == "when") else {
        return false;
    };
    let opens_clause = at == 0 || is_in_class(&words[at - 1], Class::BeforeWhen);
    opens_clause || words.get(at + 1).is_some_and(|it| is_auxiliary(it))
}

/// Returns the kind `read`, or the kind of the first words if they contradict it. "What did she say when ..." asks for
/// no time, and "how old" asks for a number. A question for a time begins with "when" or names a unit of time after
/// "what" or "which".
pub(super) fn correct_answer_kind(read: AnswerKind, lower: &str) -> AnswerKind {
    let opening: Vec<&str> = split_words(lower).into_iter().take(6).collect();
    let Some(first) = opening.first() else { return read };
    if lower.starts_with("how old") {
        return AnswerKind::Number;
    }
    if is_auxiliary(first) && read != AnswerKind::Message && !is_indirect_question(&opening) {
        return AnswerKind::YesNo;
    }
    if matches!(opening.as_slice(), ["by", "when", ..]) {
        return AnswerKind::When;
    }
    let inside = match read {
        AnswerKind::When => !asks_for_time(&opening),
        AnswerKind::Who | AnswerKind::How => matches!(*first, "what" | "which"),
        AnswerKind::Where => {
            is_in_class(first, Class::AsksNoPlace) && !opening.iter().any(|it| is_in_class(it, Class::PlaceWord))
        }
        AnswerKind::Message
        | AnswerKind::Duration
        | AnswerKind::Number
        | AnswerKind::Why
        | AnswerKind::Kind
        | AnswerKind::YesNo
        | AnswerKind::WhatDoes
        | AnswerKind::WhatIs
        | AnswerKind::Other => false,
    };
    if !inside {
        return read;
    }
    match *first {
        "how" if matches!(opening.get(1), Some(&("many" | "much"))) => AnswerKind::Number,
        "how" if opening.get(1).is_some_and(|it| is_in_class(it, Class::AfterHow)) => read,
        "how" => AnswerKind::How,
        it if is_in_class(it, Class::AsksPerson) => AnswerKind::Who,
        "where" => AnswerKind::Where,
        "why" => AnswerKind::Why,
        "what" if opening.get(1).is_some_and(|it| is_auxiliary(it)) => AnswerKind::WhatDoes,
        "what" => AnswerKind::WhatIs,
        "which" => AnswerKind::Kind,
        it if is_auxiliary(it) => AnswerKind::YesNo,
        _ => read,
    }
}

/// Returns true if the real question comes later: "can you tell me when", "do you remember who".
fn is_indirect_question(opening: &[&str]) -> bool {
    opening.get(1) == Some(&"you") && opening.iter().any(|it| is_in_class(it, Class::TellMe))
}

/// Returns true if the opening words ask for a time: "since when", "in what year", "what was the date".
fn asks_for_time(opening: &[&str]) -> bool {
    let early = opening.iter().take(2).any(|it| *it == "when");
    let asks_for_unit = |pair: &[&str]| matches!(pair[0], "what" | "which") && is_in_class(pair[1], Class::UnitOfTime);
    let dated = opening.first() == Some(&"what") && opening.iter().any(|it| is_in_class(it, Class::AskedDate));
    let inside = opening.first().is_some_and(|it| is_in_class(it, Class::AsksNoTime));
    (early && !inside) || opening.windows(2).any(asks_for_unit) || dated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_and_which_ask_for_the_same_times_and_places() {
        for (question, expected) in [
            ("At which time does the ferry leave?", AnswerKind::When),
            ("At what time does the ferry leave?", AnswerKind::When),
            ("Which state is Rosa from?", AnswerKind::Where),
            ("Which town is Rosa from?", AnswerKind::Where),
            ("Which ferry does Rosa take?", AnswerKind::Kind),
        ] {
            let lower: Vec<String> = split_words(question).iter().map(|it| it.to_lowercase()).collect();
            assert_eq!(answer_kind(question, &lower), expected, "{question}");
        }
    }

    #[test]
    fn every_leading_auxiliary_opens_a_yes_or_no_question() {
        for (question, expected) in [
            ("Am I invited to the picnic?", AnswerKind::YesNo),
            ("May Rosa bring her dog?", AnswerKind::YesNo),
            ("Must Rosa pay for the ferry?", AnswerKind::YesNo),
            ("Shall we take the ferry?", AnswerKind::YesNo),
            ("Is Rosa at home?", AnswerKind::YesNo),
            ("On the day when must Rosa pay?", AnswerKind::When),
            ("Was it raining, when it began?", AnswerKind::YesNo),
        ] {
            let lower: Vec<String> = split_words(question).iter().map(|it| it.to_lowercase()).collect();
            assert_eq!(answer_kind(question, &lower), expected, "{question}");
        }
    }
}
