//! Checks whether a question of the teacher can be learned from: its lines must exist and contain the answer, and the
//! question must not contain its answer.

use std::collections::BTreeSet;

use eval::data::Turn;

use super::prompt::{Proposal, turn_line};
use crate::teach::stretch::Stretch;

/// Maximum number of characters of a question and of an answer, and maximum number of lines of support.
const QUESTION_CHARS: usize = 300;
const ANSWER_CHARS: usize = 120;
const SUPPORTS_MAX: usize = 6;
/// Phrases that a question must not contain, because a real user does not know about lines.
const OF_LINES: [&str; 4] = ["this talk", "this conversation", "the text above", "these lines"];

/// A question that can be learned from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedProposal {
    /// The question.
    pub question: String,
    /// Answer to the question.
    pub answer: String,
    /// Ids of the turns that are needed for the answer, including the anchor, in the order of the conversation.
    pub evidence: Vec<String>,
    /// Id of the turn that the question starts from.
    pub anchor: String,
}

/// Checks a question against the stretch that it is about.
///
/// # Errors
/// Returns the reason why the question cannot be learned from.
pub fn check_proposal(proposal: &Proposal, stretch: &Stretch<'_>) -> Result<CheckedProposal, &'static str> {
    let (question, answer) = (proposal.question.trim(), proposal.answer.trim());
    if question.is_empty() || question.chars().count() > QUESTION_CHARS {
        return Err("the question is empty or longer than 300 characters");
    }
    if answer.is_empty() || answer.chars().count() > ANSWER_CHARS {
        return Err("the answer is empty or longer than 120 characters");
    }
    if speaks_of_lines(question) {
        return Err("the question speaks of lines or of the talk itself");
    }
    let places: Option<BTreeSet<usize>> = proposal.supports.iter().map(|it| index_of_line(*it, stretch)).collect();
    let mut places = places.ok_or("a line of support does not exist")?;
    if places.is_empty() || places.len() > SUPPORTS_MAX {
        return Err("has no line of support, or more than six");
    }
    let anchor = index_of_line(proposal.anchor, stretch).ok_or("the line of the anchor does not exist")?;
    let supports: Vec<&Turn> = places.iter().filter_map(|it| stretch.turns.get(*it)).collect();
    if !supports_answer(&supports, answer) {
        return Err("the answer has a word that is in no line of support");
    }
    if quotes_answer(question, answer) {
        return Err("the question gives its answer away");
    }
    places.insert(anchor);
    let id = |at: &usize| stretch.turns.get(*at).map(|it| it.id.clone());
    Ok(CheckedProposal {
        question: question.to_owned(),
        answer: answer.to_owned(),
        evidence: places.iter().filter_map(id).collect(),
        anchor: id(&anchor).unwrap_or_default(),
    })
}

/// Returns the index of a line from its number, which starts at 1. Returns `None` if there is no such line.
fn index_of_line(number: u32, stretch: &Stretch<'_>) -> Option<usize> {
    let place = usize::try_from(number).ok()?.checked_sub(1)?;
    (place < stretch.turns.len()).then_some(place)
}

fn speaks_of_lines(question: &str) -> bool {
    let lower = question.to_lowercase();
    let words = text::split_words(&lower);
    let is_number = |it: &str| it.bytes().all(|digit| digit.is_ascii_digit());
    let numbered = words
        .windows(2)
        .any(|it| matches!(it[0], "line" | "lines") && is_number(it[1]));
    numbered || OF_LINES.iter().any(|it| lower.contains(it))
}

/// Returns true if every word of the answer occurs in the turns as they were shown, in any inflected form. Stop words
/// are ignored unless the answer has no other words. The timestamp of a turn is part of its shown text.
fn supports_answer(supports: &[&Turn], answer: &str) -> bool {
    let shown: Vec<String> = supports.iter().map(|it| turn_line(it)).collect();
    let stems: BTreeSet<String> = shown.iter().flat_map(|it| text::stem_words(it)).collect();
    let lower = shown.join("\n").to_lowercase();
    let words: BTreeSet<&str> = text::split_words(&lower).into_iter().collect();
    let answer = answer.to_lowercase();
    let answer_words = text::split_words(&answer);
    let is_there = |word: &str| words.contains(word) || stems.contains(&text::stem_word(word));
    let telling: Vec<&str> = answer_words.iter().copied().filter(|it| !text::is_stop(it)).collect();
    match telling.is_empty() {
        // "Not at all" is an answer that consists of stop words only.
        true => answer_words.iter().all(|it| is_there(it)),
        false => telling.iter().all(|it| is_there(it)),
    }
}

/// Returns true if the words of the answer occur in the question, one after another.
fn quotes_answer(question: &str, answer: &str) -> bool {
    let stems = |text: &str| -> Vec<String> {
        let lower = text.to_lowercase();
        text::split_words(&lower).into_iter().map(text::stem_word).collect()
    };
    let (question, answer) = (stems(question), stems(answer));
    !answer.is_empty() && question.windows(answer.len()).any(|it| it == answer.as_slice())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use eval::data::Conversation;

    use super::*;

    fn sample_conversation() -> Conversation {
        let lines = [
            ("Ann", "I start at the bakery in Leeds on Monday."),
            ("Tom", "Well done! I bought 3 ferns at the market."),
            ("Ann", "First week over. They put me on the sourdough."),
        ];
        let turn = |(number, (speaker, text)): (usize, (&str, &str))| Turn {
            id: format!("r{number}"),
            session: "talk".to_owned(),
            speaker: speaker.to_owned(),
            text: text.to_owned(),
            timestamp: format!("2023-03-0{number}T09:00:00"),
            image_caption: None,
            image_uri: None,
            metadata: BTreeMap::new(),
        };
        Conversation {
            conversation_id: "talk".to_owned(),
            split: None,
            speakers: Vec::new(),
            turns: (1..).zip(lines).map(turn).collect(),
        }
    }

    fn check_sample(
        question: &str,
        answer: &str,
        supports: &[u32],
        anchor: u32,
    ) -> Result<CheckedProposal, &'static str> {
        let conversation = sample_conversation();
        let stretch = Stretch {
            conversation: &conversation,
            turns: &conversation.turns,
        };
        let proposal = Proposal {
            question: question.to_owned(),
            answer: answer.to_owned(),
            supports: supports.to_vec(),
            anchor,
        };
        check_proposal(&proposal, &stretch)
    }

    #[test]
    fn the_record_that_anchors_a_relative_time_is_part_of_the_evidence() {
        let found = check_sample("What did Ann make in her first week in Leeds?", "sourdough", &[3], 1).unwrap();
        assert_eq!(
            (found.evidence, found.anchor),
            (vec!["r1".to_owned(), "r3".to_owned()], "r1".to_owned())
        );
        let found = check_sample("How many plants did Tom get at the market?", "3 ferns", &[2], 2).unwrap();
        assert_eq!(found.evidence, ["r2"]);
    }

    #[test]
    fn a_question_that_its_lines_do_not_answer_is_left_out() {
        let wrong = "the answer has a word that is in no line of support";
        assert_eq!(check_sample("Where does Ann work?", "Leeds", &[2], 2), Err(wrong));
        assert_eq!(check_sample("How many ferns did Tom buy?", "4", &[2], 2), Err(wrong));
        assert!(check_sample("How many ferns did Tom buy?", "3", &[2], 2).is_ok());
        assert_eq!(check_sample("Does Ann work?", "yes", &[1], 1), Err(wrong));
        let missing = "a line of support does not exist";
        assert_eq!(check_sample("Where does Ann work?", "Leeds", &[4], 1), Err(missing));
        assert_eq!(check_sample("Where does Ann work?", "Leeds", &[0], 1), Err(missing));
        let anchor = "the line of the anchor does not exist";
        assert_eq!(check_sample("Where does Ann work?", "Leeds", &[1], 9), Err(anchor));
        let none = "has no line of support, or more than six";
        assert_eq!(check_sample("Where does Ann work?", "Leeds", &[], 1), Err(none));
    }

    #[test]
    fn a_question_that_gives_its_answer_away_or_speaks_of_lines_is_left_out() {
        let quoted = "the question gives its answer away";
        assert_eq!(
            check_sample("Does Ann work in leeds or in York?", "Leeds", &[1], 1),
            Err(quoted)
        );
        assert_eq!(check_sample("Who bought 3 ferns?", "3 ferns", &[2], 2), Err(quoted));
        let lines = "the question speaks of lines or of the talk itself";
        assert_eq!(
            check_sample("What does line 2 say of Tom?", "ferns", &[2], 2),
            Err(lines)
        );
        assert_eq!(
            check_sample("Who speaks in this conversation?", "Ann", &[1], 1),
            Err(lines)
        );
        let empty = "the answer is empty or longer than 120 characters";
        assert_eq!(check_sample("Where does Ann work?", " ", &[1], 1), Err(empty));
    }
}
