//! Rules that read the shape of a question.

use domain::anchor::{AnswerKind, HopShape};

use crate::view::View;

const INTERROGATIVES: &str = "what when where who whom whose which why how is are was were do does did has have had can could will \
    would should may tell describe list name give summarize summarise explain show";
const AUXILIARIES: &str = "did does do has have had will would should could can might is are was were";

/// Returns what kind of answer is wanted; the first rule that fits decides.
pub(super) fn of(question: &str, words: &[String]) -> AnswerKind {
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

/// Returns the word that names what is asked for, as in "what kind of BOOKS", "which CITY", "how many DOGS".
pub(super) fn head(words: &[String]) -> String {
    let Some(start) = words
        .iter()
        .position(|it| matches!(it.as_str(), "what" | "which" | "many"))
    else {
        return String::new();
    };
    let run: Vec<&str> = words[start + 1..]
        .iter()
        .map(String::as_str)
        .filter(|it| !matches!(*it, "kind" | "kinds" | "type" | "types" | "of" | "sort"))
        .take_while(|it| !member(AUXILIARIES, it))
        .take(4)
        .collect();
    run.last()
        .copied()
        .filter(|it| !text::is_stop(it))
        .unwrap_or_default()
        .to_owned()
}

/// Returns the main verb as written: the first content word behind an auxiliary and who is asked about.
pub(super) fn action(written: &[&str], words: &[String], view: &View) -> String {
    let Some(start) = words
        .iter()
        .position(|it| member("did does do has have had will would should could can might", it))
    else {
        return String::new();
    };
    let person = |it: &str| view.speakers().named(it.strip_suffix("'s").unwrap_or(it)).is_some() || text::is_stop(it);
    let capital = |it: &str| it.chars().next().is_some_and(char::is_uppercase);
    let found = (start + 1..words.len()).find(|&it| !person(&words[it]) && !capital(written[it]));
    found.map(|it| written[it]).unwrap_or_default().to_owned()
}

/// Says whether one unit is likely enough.
pub(super) fn hops(words: &[String], subjects: usize) -> HopShape {
    let gathers = "both all many list summarize summarise different kinds types activities events ways hobbies items order compare \
        overall across each various";
    let holds = |list: &str| words.iter().any(|it| member(list, it));
    if subjects > 1 || holds(gathers) {
        HopShape::Multi
    } else {
        HopShape::Single
    }
}

/// Returns the step named by "step 12" or "turn 12".
pub(super) fn step(words: &[String]) -> Option<u32> {
    words
        .windows(2)
        .find(|it| matches!(it[0].as_str(), "step" | "turn"))
        .and_then(|it| it[1].parse().ok())
}

/// Returns the state asked about: "status of the OVEN", "current JOB".
pub(super) fn state_key(words: &[String]) -> String {
    let names = |it: &[String]| member("status state current latest", &it[0]) && !member("of the", &it[1]);
    let direct = words.windows(2).find(|it| names(it)).map(|it| it[1].clone());
    let of = words
        .windows(4)
        .find(|it| member("status state", &it[0]) && it[1] == "of")
        .map(|it| if it[2] == "the" { it[3].clone() } else { it[2].clone() });
    of.or(direct).unwrap_or_default()
}

/// Says whether a stem only asks, and says nothing about the answer.
pub(super) fn asks(stem: &str) -> bool {
    member("kind type sort mani much long often", stem)
}

fn member(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}
