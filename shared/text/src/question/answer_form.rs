//! The wanted form of the answer, read from the words of the question.

use domain::anchor::{Anchors, AnswerKind};
use domain::question::AnswerClass;

use super::measure;
use crate::lexicon::{self, Class, is_in_class};
use crate::{is_auxiliary, is_stop, split_words, stem_word};

/// Returns true if a question asks for the actor of an event: "what broke the tree".
pub(super) fn asks_for_actor(lower: &str) -> bool {
    match split_words(lower).as_slice() {
        ["what", verb, next, ..] => {
            !is_auxiliary(verb) && !is_stop(verb) && (is_in_class(next, Class::Article) || next.ends_with("'s"))
        }
        _ => false,
    }
}

/// Returns the stem of the verb of the question: the router's, or else the word after "who" in "who repaired it" and
/// "who is pregnant", or after "what" in "what broke the tree". Returns an empty string if there is none.
pub(super) fn action_stem(anchors: &Anchors, lower: &str) -> String {
    if !anchors.action.is_empty() {
        return stem_word(&anchors.action);
    }
    let all = anchors.names.iter().chain(&anchors.subjects);
    let names: Vec<String> = all.flat_map(|it| split_words(it)).map(str::to_lowercase).collect();
    let is_known_name = |it: &str| names.iter().any(|name| name == it.strip_suffix("'s").unwrap_or(it));
    let found = match split_words(lower).as_slice() {
        ["who", verb, _, ..] if !is_auxiliary(verb) => Some(*verb),
        ["who", be, state, ..] if is_in_class(be, Class::FormOfBe) && !is_known_name(state) => Some(*state),
        ["what", verb, ..] if asks_for_actor(lower) => Some(*verb),
        _ => None,
    };
    found.filter(|it| !is_stop(it)).map(stem_word).unwrap_or_default()
}

/// Returns true if a question asks when something happens repeatedly. Returns false if it asks for a single time, a
/// beginning or an end.
pub(super) fn asks_for_regular_time(lower: &str) -> bool {
    let opens = lexicon::words_of_class(Class::OpensRegular).iter().any(|it| {
        let rest = lower.strip_prefix(it);
        rest.is_some_and(|it| it.starts_with(' '))
    });
    let day = ["which day", "what day"].iter().any(|it| lower.contains(it))
        && lexicon::words_of_class(Class::AsksRule)
            .iter()
            .any(|it| lower.contains(&format!(" {it} ")));
    let single = split_words(lower)
        .into_iter()
        .any(|it| is_in_class(&stem_word(it), Class::HappensOnce));
    (day || opens) && !single
}

/// Returns the name in a question that only asks for the identity of a person: "who is Ann Lee?".
pub(super) fn name_to_identify(question: &str) -> Option<String> {
    let words = split_words(question);
    let name = match words.as_slice() {
        [who, is, name @ ..] if who.eq_ignore_ascii_case("who") && matches!(*is, "is" | "was") => name,
        [who, name @ ..] if who.to_lowercase().replace('’', "'") == "who's" => name,
        _ => return None,
    };
    let capital = |it: &&str| it.starts_with(char::is_uppercase) && !it.ends_with("'s") && !it.ends_with("’s");
    ((1..=3).contains(&name.len()) && name.iter().all(capital)).then(|| name.join(" "))
}

pub(super) fn recency_weight(lower: &str) -> f32 {
    let tokens = split_words(lower);
    let has = |class: Class| tokens.iter().any(|it| is_in_class(it, class));
    if has(Class::AsksFormer) {
        -0.5
    } else if has(Class::AsksLatest) || lower.contains("in the end") {
        1.5
    } else if has(Class::PresentAuxiliary) {
        0.3
    } else {
        0.0
    }
}

/// Returns the class that a question names for its answer.
pub(super) fn requested_class(lower: &str) -> Option<AnswerClass> {
    let tokens = split_words(lower);
    if asks_for_colour(&tokens) {
        return Some(AnswerClass::Colour);
    }
    if asks_for_money(&tokens) {
        return Some(AnswerClass::Money);
    }
    if tokens.windows(2).any(|it| it == ["how", "often"]) {
        return Some(AnswerClass::Rate);
    }
    measure::requested_measure(lower).map(AnswerClass::Measure)
}

/// Returns true if a question asks for a colour: "what colour", "what is the colour of", but not "why did she use those
/// colours".
fn asks_for_colour(tokens: &[&str]) -> bool {
    let small = |it: &&&str| is_stop(it) || matches!(**it, "kind" | "shade");
    let question_word_at = tokens.iter().position(|it| is_in_class(it, Class::AsksWhat));
    let next = question_word_at.and_then(|at| tokens[at + 1..].iter().find(|it| !small(it)));
    next.is_some_and(|it| is_in_class(it, Class::ColourNoun))
}

/// Returns true if a question asks for a sum of money: "how much did it cost", "what did she pay for it", "what is the
/// rent". "What did she pay for" asks for a thing.
fn asks_for_money(tokens: &[&str]) -> bool {
    let [first, second, rest @ ..] = tokens else {
        return false;
    };
    let third = rest.first().copied().unwrap_or_default();
    let open = rest.last().is_some_and(|it| is_in_class(it, Class::OpenPreposition));
    let pays = |pays: fn(&str) -> bool| {
        let at = |place: usize| stem_word(tokens[place]);
        let main = |place: &usize| tokens[place - 1] != "to" && pays(&at(*place));
        (2..tokens.len())
            .find(main)
            .map(|place| (at(place), tokens.get(place + 1).copied()))
    };
    match (*first, *second) {
        ("how", "much") if is_auxiliary(third) => {
            let thing =
                is_in_class(third, Class::FormOfBe) && rest.get(1).is_some_and(|it| is_in_class(it, Class::Article));
            thing
                || pays(|it| is_in_class(it, Class::Paying)).is_some()
                || rest.iter().any(|it| is_in_class(it, Class::Sum))
        }
        ("how", "much") => third == "money" || is_in_class(third, Class::Sum),
        ("what", be) if is_in_class(be, Class::FormOfBe) => rest.iter().take(4).any(|it| is_in_class(it, Class::Sum)),
        ("what", it) if is_auxiliary(it) => match pays(|it| is_in_class(it, Class::PlainlyPaying)) {
            Some((verb, after)) if verb.starts_with("spen") => after == Some("on") && !open,
            Some(_) => !open,
            None => false,
        },
        ("what" | "which", it) => is_in_class(it, Class::Sum) || is_in_class(third, Class::Sum),
        _ => false,
    }
}

pub(super) fn expects_several_answers(anchors: &Anchors, lower: &str) -> bool {
    let head = anchors.head.to_lowercase();
    let many = head.len() > 3 && head.ends_with('s') && !head.ends_with("ss") && !head.ends_with("us");
    // "What has she painted" may ask for several things, "which picture has she painted" asks for one.
    let opens = |it: &&str| is_in_class(it, Class::AsksForSeveral) || head.is_empty() && matches!(*it, "has" | "have");
    let listing = split_words(lower).iter().take(4).any(opens);
    let what = !matches!(
        anchors.answer,
        AnswerKind::When | AnswerKind::Number | AnswerKind::Duration
    );
    what && (many
        || asks_for_habit(lower)
        || head == "people"
        || head == "children"
        || (listing && !lower.contains("how ")))
}

/// Returns true if a question asks for a habit, which seldom has only one answer: "what does she grow".
fn asks_for_habit(lower: &str) -> bool {
    let asks = lower.starts_with("what does ") || lower.starts_with("what do ");
    let job = lower.contains("for a living") || lower.contains("for work");
    asks && !job
        && split_words(lower)
            .into_iter()
            .skip(2)
            .any(|it| is_in_class(it, Class::Several))
}

/// Returns true if the text before "or" is an open question: "what has she bought or" offers no choice, "which came
/// first, the launch or" does.
fn is_open_question(left: &str) -> bool {
    let lower = left.to_lowercase();
    let tokens = split_words(&lower);
    // "On which kinds of ward".
    let asks = tokens.iter().take(2).any(|it| is_in_class(it, Class::Interrogative));
    asks && !lower.contains([',', ':', '?'])
}

/// Returns the two options of a choice at the end of a question, "tea or coffee", or an empty list.
pub(super) fn find_options(question: &str) -> Vec<String> {
    let Some((left, right)) = question.trim_end_matches(['?', ' ']).rsplit_once(" or ") else {
        return Vec::new();
    };
    if is_open_question(left) {
        return Vec::new();
    }
    let tail: Vec<&str> = left.rsplit([',', ' ']).take_while(|it| !is_stop(it)).take(3).collect();
    let right: Vec<&str> = right
        .split_whitespace()
        .filter(|it| !is_in_class(it, Class::PlainArticle))
        .take(4)
        .collect();
    if tail.is_empty() || right.is_empty() {
        return Vec::new();
    }
    let left: Vec<&str> = tail
        .into_iter()
        .take(right.len())
        .rev()
        .filter(|it| !it.is_empty())
        .collect();
    vec![left.join(" "), right.join(" ")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_for_things_done_may_have_several_answers() {
        for (head, question, many) in [
            ("", "what has she painted?", true),
            ("picture", "which picture has she painted?", false),
            ("pictures", "which pictures has she painted?", true),
        ] {
            let anchors = Anchors {
                head: head.to_owned(),
                answer: AnswerKind::Kind,
                ..Anchors::default()
            };
            assert_eq!(expects_several_answers(&anchors, question), many, "{question}");
        }
    }

    #[test]
    fn how_much_is_a_thing_asks_for_its_price() {
        for (question, money) in [
            ("how much is the bicycle?", true),
            ("how much was her bicycle?", true),
            ("how much are your tickets?", true),
            ("how much is left of it?", false),
        ] {
            assert_eq!(
                requested_class(question) == Some(AnswerClass::Money),
                money,
                "{question}"
            );
        }
    }

    #[test]
    fn an_open_question_with_or_offers_no_choice() {
        for (question, choice) in [
            ("Does she prefer tea or coffee?", true),
            ("Which came first, the launch or the swarm?", true),
            ("What has she bought or reserved?", false),
            ("On which kinds of ward or home has he worked?", false),
            ("When has she bought or reserved?", false),
        ] {
            assert_eq!(find_options(question).len() == 2, choice, "{question}");
        }
    }

    #[test]
    fn only_what_colour_asks_for_a_colour() {
        for (question, colour) in [
            ("what colour is the car?", true),
            ("what is the colour of the car?", true),
            ("why did she choose those colours?", false),
            ("i love the colour of the sea.", false),
        ] {
            assert_eq!(
                requested_class(question) == Some(AnswerClass::Colour),
                colour,
                "{question}"
            );
        }
    }
}
