//! Rules that read the shape of a question.

use domain::anchor::HopShape;

use crate::space::view::View;
use crate::word_lists::{AUXILIARIES, GATHERING_WORDS, MAIN_VERB_AUXILIARIES, QUESTION_FORM_STEMS};

/// Returns the word that names the thing asked for, as in "what kind of BOOKS", "which CITY", "how many DOGS".
pub(super) fn find_head_word(words: &[String]) -> String {
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
        .take_while(|it| !AUXILIARIES.contains(it))
        .take(4)
        .collect();
    run.last()
        .copied()
        .filter(|it| !text::is_stop(it))
        .unwrap_or_default()
        .to_owned()
}

/// Returns the main verb as written: the first content word after an auxiliary and the person asked about.
pub(super) fn find_main_verb(written: &[&str], words: &[String], view: &View) -> String {
    let Some(start) = words.iter().position(|it| MAIN_VERB_AUXILIARIES.contains(it.as_str())) else {
        return String::new();
    };
    let person = |it: &str| {
        view.speakers()
            .find_by_word(it.strip_suffix("'s").unwrap_or(it))
            .is_some()
            || text::is_stop(it)
    };
    let capital = |it: &str| it.chars().next().is_some_and(char::is_uppercase);
    let found = (start + 1..words.len()).find(|&it| !person(&words[it]) && !capital(written[it]));
    found.map(|it| written[it]).unwrap_or_default().to_owned()
}

/// Returns `Multi` if the question names several speakers or asks for several things; otherwise `Single`.
pub(super) fn hop_shape(words: &[String], subjects: usize) -> HopShape {
    if subjects > 1 || words.iter().any(|it| GATHERING_WORDS.contains(it.as_str())) {
        HopShape::Multi
    } else {
        HopShape::Single
    }
}

/// Returns the step named by "step 12" or "turn 12".
pub(super) fn find_step(words: &[String]) -> Option<u32> {
    words
        .windows(2)
        .find(|it| matches!(it[0].as_str(), "step" | "turn"))
        .and_then(|it| it[1].parse().ok())
}

/// Returns the state that is asked about: "status of the OVEN", "current JOB".
pub(super) fn state_key(words: &[String]) -> String {
    let names = |it: &[String]| {
        matches!(it[0].as_str(), "status" | "state" | "current" | "latest") && !matches!(it[1].as_str(), "of" | "the")
    };
    let direct = words.windows(2).find(|it| names(it)).map(|it| it[1].clone());
    let of = words
        .windows(4)
        .find(|it| matches!(it[0].as_str(), "status" | "state") && it[1] == "of")
        .map(|it| if it[2] == "the" { it[3].clone() } else { it[2].clone() });
    of.or(direct).unwrap_or_default()
}

/// Returns true if a stem belongs to the form of a question and says nothing about the answer.
pub(super) fn is_question_form_word(stem: &str) -> bool {
    QUESTION_FORM_STEMS.contains(stem)
}
