//! What somebody is: age, diet, allergy, people and language, who somebody is to somebody.

use domain::fact::Aspect;

use super::Subject;
use super::group::Shape;
use super::lexicon::{ILLS, KIN, KIN_ADJECTIVES, KINDS, LANGUAGES, NATIONS, PETS, TRAITS, is_number};
use super::said::{Draft, Said};
use super::subject::is_name;
use super::token::Gap;

/// Reads a lasting state.
pub(super) fn state(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    match group.base.as_str() {
        "be" => is(said),
        "turn" if matches!(group.shape, Shape::Past | Shape::Perfect) && group.positive => {
            let age = age(said, group.next)?;
            Some(Draft::new(Aspect::Attribute, "is aged", age).event())
        }
        "speak" if group.shape == Shape::Present => {
            let at = group.next + usize::from(matches!(said.at(group.next), "fluent" | "some" | "only" | "a"));
            let alone = said.at(at + 1).is_empty() || matches!(said.at(at + 1), "and" | "with" | "at" | "but");
            let tongue = NATIONS.contains(&said.at(at))
                || LANGUAGES.contains(&said.at(at))
                || said.capital(at) && alone && said.words[at].lower.len() > 3;
            let object = said.object(at).filter(|_| tongue)?;
            // "like a pirate" says how.
            let object = object.split(" like ").next().unwrap_or_default();
            // "and refuses to speak Italian" is said of something else.
            let verb = |it: &&str| it.starts_with(char::is_lowercase);
            let object = object
                .split_once(" and ")
                .filter(|it| verb(&it.1))
                .map_or(object, |it| it.0);
            let object = object.to_owned();
            let predicate = if group.positive { "speaks" } else { "does not speak" };
            Some(Draft {
                positive: group.positive,
                ..Draft::new(Aspect::Attribute, predicate, object)
            })
        }
        "suffer" if group.shape == Shape::Present && said.at(group.next) == "from" => {
            let object = said
                .object(group.next + 1)
                .filter(|_| ILLS.contains(&said.at(group.next + 1)))?;
            group.positive.then(|| Draft::new(Aspect::Attribute, "has", object))
        }
        "marry" if group.shape == Shape::Past && group.positive => {
            let named = said.words.get(group.next).is_some_and(is_name) || said.at(group.next) == "my";
            let object = said.object(group.next).filter(|_| named)?;
            Some(Draft::new(Aspect::Relation, "is married to", object).event())
        }
        "get" if group.shape == Shape::Past && group.positive => became(said),
        "break" if group.shape == Shape::Past && said.at(group.next) == "up" && said.at(group.next + 1) == "with" => {
            let object = said.object(group.next + 2)?;
            let known = said.words.get(group.next + 2).is_some_and(is_name) || said.at(group.next + 2) == "my";
            known.then(|| {
                Draft::new(Aspect::Relation, "is together with", object)
                    .event()
                    .ended(true)
            })
        }
        "expect" if group.shape == Shape::Progressive && group.positive => expects(said),
        "see" if group.shape == Shape::Progressive && group.positive => sees(said),
        "date" if group.shape == Shape::Progressive && group.positive => {
            let object = said
                .object(group.next)
                .filter(|_| said.words.get(group.next).is_some_and(is_name))?;
            Some(Draft::new(Aspect::Relation, "is together with", object))
        }
        _ => None,
    }
}

/// "is expecting a baby in December".
fn expects(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    let child =
        (next..said.end.min(next + 3)).any(|it| matches!(said.at(it), "baby" | "child" | "twins" | "first" | "second"));
    let object = said.timed(next).filter(|_| child)?;
    Some(Draft::new(Aspect::Attribute, "is expecting", object))
}

/// "is seeing Lorna from the sopranos": with a time it would be a visit.
fn sees(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    let titled = matches!(said.at(next), "dr" | "mr" | "mrs" | "ms" | "doctor");
    let named = said.words.get(next).is_some_and(is_name) && !titled && said.times().count() == 0;
    let object = said.object(next).filter(|_| named)?;
    let name = object.split(" from ").next().unwrap_or_default();
    (name.split(' ').count() <= 2).then(|| Draft::new(Aspect::Relation, "is together with", name).sure(0.7))
}

/// "got married to Tom", "got engaged", "got divorced".
fn became(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    match (said.at(next), said.at(next + 1)) {
        ("married", "to") => Some(Draft::new(Aspect::Relation, "is married to", said.object(next + 2)?).event()),
        (state @ ("married" | "engaged" | "divorced"), _) => Some(Draft::new(Aspect::Attribute, "is", state).event()),
        ("diagnosed", "with") => Some(Draft::new(Aspect::Attribute, "has", said.object(next + 2)?).event()),
        _ => None,
    }
}

fn is(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    if group.shape == Shape::Was && said.at(group.next) == "diagnosed" && said.at(group.next + 1) == "with" {
        return Some(Draft::new(Aspect::Attribute, "has", said.object(group.next + 2)?).event());
    }
    let past = group.shape == Shape::Was && group.ended;
    if !(matches!(group.shape, Shape::Be | Shape::Been) || past) {
        return None;
    }
    // "We're three" counts heads.
    let one = !said.words[said.at..group.next]
        .iter()
        .any(|it| it.is(&["we", "are", "they"]));
    if let Some(age) = age(said, group.next).filter(|_| group.positive && one) {
        return Some(Draft::new(Aspect::Attribute, "is aged", age));
    }
    let rest = said.rest();
    match rest.as_slice() {
        ["allergic" | "intolerant", "to", ..] => {
            let object = said.object(group.next + 2).filter(|it| !it.starts_with("the idea"))?;
            let predicate = match (group.positive, rest[0]) {
                (true, "allergic") => "is allergic to",
                (true, _) => "is intolerant to",
                (false, "allergic") => "is not allergic to",
                (false, _) => return None,
            };
            Some(Draft {
                positive: group.positive,
                ..Draft::new(Aspect::Attribute, predicate, object).ended(group.ended)
            })
        }
        ["lactose" | "gluten", "intolerant", ..] => group
            .positive
            .then(|| Draft::new(Aspect::Attribute, "is", format!("{} intolerant", rest[0]))),
        ["married" | "engaged", "to", ..] => {
            let object = said
                .object(group.next + 2)
                .filter(|_| group.positive && said.capital(group.next + 2))?;
            Some(Draft::new(Aspect::Relation, format!("is {} to", rest[0]), object).ended(group.ended))
        }
        ["afraid" | "scared" | "terrified", "of", ..] => {
            let fleeting = matches!(
                said.at(group.next + 2),
                "it" | "the" | "that" | "this" | "what" | "him" | "her" | "them" | "my" | "you"
            );
            let object = said.object(group.next + 2).filter(|_| !fleeting && group.positive)?;
            Some(Draft::new(Aspect::Attribute, "is afraid of", object).sure(0.7))
        }
        _ => trait_of(said, &rest),
    }
}

/// "vegetarian", "Portuguese", "an only child".
fn trait_of(said: &Said<'_>, rest: &[&str]) -> Option<Draft> {
    let group = &said.group;
    let ends = |at: usize| {
        let next = said.at(group.next + at);
        let closed = at > 0
            && said
                .words
                .get(group.next + at - 1)
                .is_some_and(|it| it.gap != Gap::None);
        next.is_empty()
            || closed
            || CLOSERS.contains(&next)
            || said
                .times()
                .any(|it| it.range.start == said.words[group.next + at].range.start)
    };
    let (length, known) = match rest {
        [word, ..] if TRAITS.contains(word) || NATIONS.contains(word) => (1, ends(1)),
        ["half", word, ..] if NATIONS.contains(word) => (2, ends(2)),
        ["a", "morning" | "night" | "cat" | "dog", "person", ..] => (3, ends(3)),
        ["a" | "an", "night" | "early", "owl" | "bird" | "riser", ..] => (3, ends(3)),
        ["red-green" | "colour" | "color" | "half" | "nearly", "blind", ..] => (2, ends(2)),
        ["red-green", "colour" | "color", "blind", ..] => (3, ends(3)),
        ["an", "only", "child", ..] => (3, true),
        ["a" | "an", kind, ..] if KINDS.contains(kind) => (2, ends(2)),
        ["a" | "an", "strict" | "proud" | "single" | "practising", kind, ..] if KINDS.contains(kind) => (3, ends(3)),
        _ => return None,
    };
    if !known || (said.who.pronoun && rest[0] == "kosher") {
        return None;
    }
    let (first, last) = (&said.words[group.next], &said.words[group.next + length - 1]);
    let object = said.text.get(first.range.start..last.range.end)?;
    // "a vegetarian" and "vegetarian" are one value.
    let bare = object
        .strip_prefix("a ")
        .filter(|it| TRAITS.contains(it))
        .unwrap_or(object);
    let over = group.ended || (!group.positive && super::preference::any_more(said));
    let positive = group.positive || over;
    let predicate = if positive { "is" } else { "is not" };
    Some(Draft {
        positive,
        ..Draft::new(Aspect::Attribute, predicate, bare).ended(over)
    })
}

/// "Ben is my brother": told of the speaker, who has a brother Ben.
pub(super) fn kin_of(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    if !group.positive || !matches!(said.at(group.next), "my" | "our") {
        return None;
    }
    let head = (group.next + 1..said.end.min(group.next + 4)).find(|it| !KIN_ADJECTIVES.contains(&said.at(*it)))?;
    let kin = KIN.contains(&said.at(head)) || PETS.contains(&said.at(head));
    let Subject::Name(name) = &said.who.subject else {
        return None;
    };
    if !kin || said.who.of.len() + usize::from(said.who.role.is_some()) > 0 {
        return None;
    }
    let best = said.at(head - 1) == "best";
    let noun = if best {
        format!("best {}", said.at(head))
    } else {
        said.at(head).to_owned()
    };
    Some(
        Draft::new(Aspect::Relation, format!("has {noun}"), name.clone())
            .sure(0.85)
            .ended(group.ended),
    )
}

/// An age: a number of years that ends there.
fn age(said: &Said<'_>, from: usize) -> Option<String> {
    let word = said.words.get(from).filter(|_| from < said.end)?;
    // "Whenever I smell smoke I am seven."
    if said.words.iter().any(|it| it.is(&["whenever", "again"])) {
        return None;
    }
    let next = said.at(from + 1);
    let whole = word.lower.parse::<u8>().map_or_else(
        |_| is_number(&word.lower) && word.lower.parse::<u32>().is_err(),
        |it| it < 115,
    );
    // "21 and a half" ends too, "five minutes late" and "one of them" do not.
    let ends = word.gap != Gap::None
        || next.is_empty()
        || matches!(
            next,
            "years"
                | "year"
                | "now"
                | "and"
                | "today"
                | "already"
                | "next"
                | "this"
                | "last"
                | "in"
                | "on"
                | "yesterday"
                | "tomorrow"
        );
    let of_years = matches!(next, "years" | "year") && said.at(from + 2) == "old";
    let fine = if matches!(next, "years" | "year") {
        of_years
    } else {
        ends
    };
    let place = next == "in" && !said.times().any(|it| it.range.start >= word.range.end);
    (whole && fine && !place && word.lower != "one" && word.lower != "0").then(|| word.lower.clone())
}

const CLOSERS: &[&str] = &[
    "and", "so", "but", "since", "now", "too", "again", "for", "with", "by", "in", "on", "as", "or", "these", "at",
    "myself", "then", "through", "anymore", "any", "who", "like", "though", "to", "yet", "until", "because",
];
