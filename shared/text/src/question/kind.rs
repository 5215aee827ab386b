//! What kind of answer a question wants.

use domain::anchor::AnswerKind;

use super::lists;
use crate::{is_auxiliary, words};

const INTERROGATIVES: &str = "what when where who whom whose which why how is are was were do does did has have had can could will \
    would should may tell describe list name give summarize summarise explain show";
const AUXILIARIES: &str = "did does do has have had will would should could can might is are was were";
const PLACES: &[&str] = &[
    "country",
    "countries",
    "city",
    "cities",
    "place",
    "places",
    "town",
    "towns",
    "state",
    "states",
    "where",
];

/// Returns what kind of answer is wanted; the first rule that fits decides.
pub fn kind(question: &str, words: &[String]) -> AnswerKind {
    let at = |n: usize| words.get(n).map_or("", String::as_str);
    let has = |first: &str, second: &str| words.windows(2).any(|it| it[0] == first && member(second, &it[1]));
    let holds = |list: &str| words.iter().any(|it| member(list, it));
    if !question.trim_end().ends_with(['?', '？', '؟']) && !member(INTERROGATIVES, at(0)) {
        return AnswerKind::Message;
    }
    if has("how", "long") {
        return AnswerKind::Duration;
    }
    if wants_time(words) || has("what", "date day year month time") || has("which", "date day year month") {
        return AnswerKind::When;
    }
    if has("how", "many much often old") || has("what", "percentage amount number") {
        return AnswerKind::Number;
    }
    if holds("where") || has("which", "country city place town") || has("what", "country city place town state") {
        return AnswerKind::Where;
    }
    if holds("who whom whose") {
        return AnswerKind::Who;
    }
    if holds("why") || has("what", "reason reasons motivated inspired prompted made") {
        return AnswerKind::Why;
    }
    if holds("how") {
        return AnswerKind::How;
    }
    if has("kind", "of") || has("kinds", "of") || has("type", "of") || has("types", "of") || holds("which") {
        return AnswerKind::Kind;
    }
    if member(AUXILIARIES, at(0)) {
        return AnswerKind::YesNo;
    }
    if holds("what") && holds("did does do doing done") {
        return AnswerKind::WhatDoes;
    }
    if holds("what") {
        AnswerKind::WhatIs
    } else {
        AnswerKind::Other
    }
}

/// Says whether "when" asks; in "what did she do when it rained" it only opens a clause.
fn wants_time(words: &[String]) -> bool {
    let Some(at) = words.iter().position(|it| it == "when") else {
        return false;
    };
    let asked = at == 0
        || member(
            "me us know remember recall since until till and or exactly about say",
            &words[at - 1],
        );
    asked || words.get(at + 1).is_some_and(|it| member(AUXILIARIES, it))
}

/// "What did she say when ..." asks for no time, "how old" asks for years: a question for a time opens with "when" or
/// names a unit of time after "what" or "which".
pub(super) fn settled(read: AnswerKind, lower: &str) -> AnswerKind {
    let opening: Vec<&str> = words(lower).into_iter().take(6).collect();
    let Some(first) = opening.first() else { return read };
    if lower.starts_with("how old") {
        return AnswerKind::Number;
    }
    if is_auxiliary(first) && read != AnswerKind::Message && !requests(&opening) {
        return AnswerKind::YesNo;
    }
    if matches!(opening.as_slice(), ["by", "when", ..]) {
        return AnswerKind::When;
    }
    let inside = match read {
        AnswerKind::When => !timed(&opening),
        AnswerKind::Who | AnswerKind::How => matches!(*first, "what" | "which"),
        AnswerKind::Where => {
            matches!(*first, "what" | "which" | "who" | "why" | "how") && !opening.iter().any(|it| PLACES.contains(it))
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
        "how" if matches!(opening.get(1), Some(&("long" | "soon" | "recently" | "often"))) => read,
        "how" => AnswerKind::How,
        "who" | "whose" | "whom" => AnswerKind::Who,
        "where" => AnswerKind::Where,
        "why" => AnswerKind::Why,
        "what" if opening.get(1).is_some_and(|it| is_auxiliary(it)) => AnswerKind::WhatDoes,
        "what" => AnswerKind::WhatIs,
        "which" => AnswerKind::Kind,
        it if is_auxiliary(it) => AnswerKind::YesNo,
        _ => read,
    }
}

/// "Can you tell me when", "do you remember who": what is asked comes later.
fn requests(opening: &[&str]) -> bool {
    let told = [
        "tell", "remind", "say", "know", "remember", "recall", "list", "name", "give",
    ];
    opening.get(1) == Some(&"you") && opening.iter().any(|it| told.contains(it))
}

/// Says whether the opening words ask for a time: "since when", "in what year", "what was the date".
fn timed(opening: &[&str]) -> bool {
    let early = opening.iter().take(2).any(|it| *it == "when");
    let asked = |pair: &[&str]| matches!(pair[0], "what" | "which") && lists::UNITS_OF_TIME.contains(pair[1]);
    let dated =
        opening.first() == Some(&"what") && opening.iter().any(|it| matches!(*it, "date" | "dates" | "birthday"));
    let inside = matches!(
        opening.first(),
        Some(&("what" | "who" | "where" | "how" | "why" | "which"))
    );
    (early && !inside) || opening.windows(2).any(asked) || dated
}

fn member(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}
