//! Distinguishes an order for one time ("book a table for two") from a standing instruction ("answer in French").

use super::lexicon::{
    ANSWERS, BEFORE_SINGLE_ORDER, BRIEF, CONDITIONS, FOREVER, LASTING_PHRASES, ONE_THING, SINGLE_ORDERS, STANDING,
};
use super::sentence::lower_words;
use crate::lexicon::{Class, is_in_class};

/// Number of words after the verb among which the thing is looked for: "send him the bill".
const THING_WITHIN: usize = 3;
/// Returns true if an English order is for one time: a verb of work with one thing as its object, without a word that
/// makes it last. `sentence` is the sentence that contains the order, since "from now on" may stand outside of the
/// order. If in doubt, for example in another language, returns false.
pub fn is_single_order(order: &str, sentence: &str) -> bool {
    let words = lower_words(order);
    let is_small = |it: &&String| BEFORE_SINGLE_ORDER.contains(it.as_str());
    let mut rest = words.iter().skip_while(is_small).map(String::as_str);
    let is_work = rest.next().is_some_and(|it| SINGLE_ORDERS.contains(it));
    let has_one_thing = rest.take(THING_WITHIN).any(|it| ONE_THING.contains(it));
    is_work && has_one_thing && !lasts(&words) && !lasts(&lower_words(sentence))
}

/// Returns true if a sentence has a word or phrase of a standing instruction, or is about answers in general.
fn lasts(words: &[String]) -> bool {
    let is_lasting =
        |it: &str| FOREVER.contains(it) || STANDING.contains(it) || ANSWERS.contains(it) || BRIEF.contains(it);
    let is_conditional = |it: &[String]| CONDITIONS.contains(it[0].as_str()) && is_in_class(&it[1], Class::TalkSubject);
    let joined = format!("_{}_", words.join("_"));
    words.iter().any(|it| is_lasting(it))
        || words.windows(2).any(is_conditional)
        || LASTING_PHRASES.iter().any(|it| joined.contains(&format!("_{it}_")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_for_one_piece_of_work_is_for_one_time() {
        for (order, sentence) in [
            ("book a table for two", "Book a table for two, will you?"),
            ("paint the door green", "Could you paint the door green?"),
            ("send him the bill", "Please send him the bill."),
            ("rename it to harbour", "Rename it to harbour."),
            ("delete the second page", "And delete the second page."),
            (
                "to move my appointment to Friday",
                "I need you to move my appointment to Friday.",
            ),
            (
                "please draft a letter to the landlord",
                "Please draft a letter to the landlord",
            ),
        ] {
            assert!(is_single_order(order, sentence), "{order}");
        }
    }

    #[test]
    fn an_instruction_that_may_last_is_not_for_one_time() {
        for (order, sentence) in [
            ("answer in French", "Answer in French."),
            ("call me Captain", "Call me Captain."),
            ("use metric units", "Use metric units please."),
            ("give the price in euros", "From now on give the price in euros."),
            ("send a copy to my sister", "Always send a copy to my sister."),
            (
                "tell me the cause first",
                "When I paste an error, tell me the cause first.",
            ),
            ("add a summary to your answers", "Add a summary to your answers."),
            ("do not book a room on Fridays", "Don't book a room on Fridays."),
            ("not move the meeting", "I asked you to not move the meeting."),
            ("write in plain words", "Write in plain words."),
            ("make it short", "Make it short."),
            ("reserva una mesa para dos", "Reserva una mesa para dos."),
            ("no garlic", "No garlic in the soup."),
        ] {
            assert!(!is_single_order(order, sentence), "{order}");
        }
    }
}
