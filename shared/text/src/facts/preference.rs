//! What somebody likes and does not, and what they do not eat.

mod rather;

use domain::fact::Aspect;

use super::group::Shape;
use super::said::{Draft, Said};
pub(super) use rather::rather;

/// Reads a liking or its opposite.
pub(super) fn preference(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    match group.base.as_str() {
        "love" | "adore" | "like" | "enjoy" | "prefer" | "hate" | "dislike" | "detest" | "loathe" => attitude(said),
        "stand" | "bear" | "tolerate" | "abide" if group.can && !group.positive => {
            let object = liked(said, group.next)?;
            Some(Draft {
                positive: false,
                ..Draft::new(Aspect::Preference, "dislikes", object)
            })
        }
        "eat" | "drink" | "touch" | "smoke" | "have" | "do" if !group.positive => not_taken(said),
        "avoid" if group.shape == Shape::Present && group.positive && is_food(said.at(group.next)) => {
            Some(Draft::new(Aspect::Preference, "avoids", said.object(group.next)?).sure(0.8))
        }
        // "I'm off coffee."
        "be" if group.shape == Shape::Be
            && group.positive
            && said.at(group.next) == "off"
            && is_food(said.at(group.next + 1)) =>
        {
            Some(Draft {
                positive: false,
                ..Draft::new(Aspect::Preference, "is off", said.object(group.next + 1)?).sure(0.75)
            })
        }
        "be" if matches!(group.shape, Shape::Be | Shape::Was) => fan(said),
        _ => None,
    }
}

fn attitude(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let always = group.often.as_deref() == Some("always");
    let confidence = match group.shape {
        Shape::Present => 0.9,
        Shape::Past | Shape::Perfect if group.never => 0.85,
        Shape::Perfect if always => 0.85,
        Shape::Progressive if group.positive && matches!(group.base.as_str(), "love" | "enjoy") => 0.6,
        Shape::Past
        | Shape::Perfect
        | Shape::Progressive
        | Shape::Lasting
        | Shape::Future
        | Shape::Going
        | Shape::Be
        | Shape::Was
        | Shape::Been
        | Shape::Modal => return None,
    };
    if group.shape == Shape::Present && group.never && group.base != "like" && group.base != "enjoy" {
        return None;
    }
    let object = liked(said, group.next)?;
    let disliking = matches!(group.base.as_str(), "hate" | "dislike" | "detest" | "loathe");
    let over = group.ended || (!group.positive && said.has(&["anymore"])) || (!group.positive && any_more(said));
    if over {
        let predicate = super::verb::third(&group.base);
        return Some(Draft {
            positive: !disliking,
            ..Draft::new(Aspect::Preference, predicate, object).ended(true).sure(0.8)
        });
    }
    let predicate = match (disliking, group.positive) {
        // "I don't hate it" is no liking.
        (true, false) => return None,
        (true, true) => "dislikes".to_owned(),
        (false, true) => super::verb::third(&group.base),
        (false, false) => format!("does not {}", group.base),
    };
    if group.base == "hate" && object.starts_with("to ") {
        return None;
    }
    Some(Draft {
        positive: !disliking && group.positive,
        ..Draft::new(Aspect::Preference, predicate, object).sure(confidence)
    })
}

/// Says whether the clause ends with "any more" or "anymore".
pub(super) fn any_more(said: &Said<'_>) -> bool {
    (said.group.next..said.end).any(|it| {
        said.at(it) == "anymore"
            || (said.at(it) == "any" && said.at(it + 1) == "more")
            || (said.at(it) == "any" && said.at(it + 1) == "longer")
    })
}

/// "I don't eat meat", "she never drinks coffee", "I can't eat nuts".
fn not_taken(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let can = group.shape == Shape::Modal && group.can;
    let taken = matches!(group.base.as_str(), "eat" | "drink" | "touch" | "smoke");
    let food = is_food(said.at(group.next));
    if !(taken || food) || !(can || group.shape == Shape::Present) {
        return None;
    }
    let verb = if can {
        format!("cannot {}", group.base)
    } else {
        format!("does not {}", group.base)
    };
    let over = any_more(said);
    let object = match said.object(group.next) {
        Some(it) => acceptable(said, group.next).then_some(it)?,
        None if matches!(group.base.as_str(), "smoke" | "drink") && !can => String::new(),
        None => return None,
    };
    if object.is_empty() && group.next < said.end && !over {
        return None;
    }
    let object = if object.is_empty() {
        if group.base == "smoke" {
            "tobacco".to_owned()
        } else {
            "alcohol".to_owned()
        }
    } else {
        object
    };
    Some(Draft {
        positive: false,
        ..Draft::new(Aspect::Preference, verb, object)
    })
}

/// Says whether a noun names what one eats or drinks.
fn is_food(noun: &str) -> bool {
    let nouns = crate::Nouns::builtin();
    let is = |kind: &str| nouns.kind(kind).is_some_and(|it| nouns.has(&it, &[noun.to_owned()]));
    let plain = !crate::is_stop(noun) && !matches!(noun, "time" | "things" | "kids" | "children" | "work" | "idea");
    plain && (matches!(noun, "dairy" | "gluten" | "caffeine" | "spicy" | "alcohol") || is("food") || is("foodstuff"))
}

/// "a huge fan of", "fond of", "into", "keen on".
fn fan(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let rest = said.rest();
    if group.shape == Shape::Was && !group.never {
        return None;
    }
    let skip = match rest.as_slice() {
        ["a" | "an" | "no" | "the", "fan", "of", ..] => 3,
        [
            "a" | "the",
            "big" | "huge" | "massive" | "great" | "lifelong" | "biggest",
            "fan",
            "of",
            ..,
        ] => 4,
        ["not", "a", "fan", "of", ..] => 4,
        ["fond", "of", ..] | ["keen", "on", ..] | ["mad" | "nuts", "about", ..] => 2,
        ["crazy" | "passionate", "about", ..]
        | ["obsessed", "with", ..]
        | ["addicted", "to", ..]
        | ["partial", "to", ..] => 2,
        ["into", ..] => 1,
        ["more" | "really" | "still" | "big", "into", ..] => 2,
        _ => return None,
    };
    let object = liked(said, group.next + skip)?;
    let positive = group.positive && rest[0] != "no" && rest[0] != "not";
    let predicate = if positive { "likes" } else { "does not like" };
    Some(Draft {
        positive,
        ..Draft::new(Aspect::Preference, predicate, object)
            .sure(0.8)
            .ended(group.ended)
    })
}

/// Returns what is liked if it can stand for itself.
fn liked(said: &Said<'_>, from: usize) -> Option<String> {
    let object = acceptable(said, from).then(|| said.object(from)).flatten()?;
    // "a plane bigger than her kitchen" is cut off before what it is compared with.
    let compared = object.split(' ').count();
    if said.at(from + compared) == "than" {
        return None;
    }
    // "the girl that knows", "the maple ones".
    let short = said.at(from) == "the" && !said.words[from].foreign && object.split(' ').count() == 2;
    (!short || said.capital(from + 1) || AT_LARGE.contains(&said.at(from + 1))).then_some(object)
}

/// Says whether what begins at `from` means something outside its talk.
fn acceptable(said: &Said<'_>, from: usize) -> bool {
    let second = said.at(from + 1);
    let opens = match said.at(from) {
        "to" => !NO_VERBS.contains(&second),
        "the" | "a" | "an" => {
            let third = said.at(from + 2);
            !DEICTIC.contains(&second) && !DEICTIC.contains(&third)
        }
        "my" => true,
        "being" => false,
        it => !it.is_empty() && !POINTERS.contains(&it),
    };
    opens
        && !(from..said.end).any(|it| {
            matches!(
                said.at(it),
                "you" | "your" | "yours" | "this" | "these" | "it" | "it's" | "that's"
            )
        })
}

/// What "the" points at without a talk around it.
const AT_LARGE: &[&str] = &[
    "sea",
    "mountains",
    "beach",
    "outdoors",
    "countryside",
    "cold",
    "heat",
    "rain",
    "snow",
    "winter",
    "summer",
    "opera",
    "theatre",
    "cinema",
    "ocean",
    "forest",
    "gym",
    "piano",
    "violin",
    "guitar",
    "cello",
    "desert",
    "ballet",
    "internet",
    "phone",
    "dark",
    "city",
    "sun",
    "wind",
    "dentist",
    "news",
    "radio",
    "metro",
    "bus",
    "dishwasher",
];
const NO_VERBS: &[&str] = &[
    "think",
    "say",
    "know",
    "hear",
    "see",
    "admit",
    "believe",
    "imagine",
    "ask",
    "tell",
    "be",
    "break",
    "thank",
    "have",
    "do",
    "make",
    "get",
    "go",
    "understand",
    "point",
    "mention",
    "add",
    "keep",
    "find",
];
const DEICTIC: &[&str] = &[
    "way",
    "idea",
    "fact",
    "sound",
    "look",
    "thought",
    "one",
    "ones",
    "part",
    "bit",
    "other",
    "new",
    "second",
    "first",
    "third",
    "latter",
    "former",
    "version",
    "option",
    "suggestion",
    "plan",
    "picture",
    "photo",
    "photos",
    "name",
    "colour",
    "color",
    "result",
    "title",
    "line",
    "last",
    "whole",
    "same",
    "design",
    "good",
    "little",
];
const POINTERS: &[&str] = &[
    "it",
    "this",
    "that",
    "them",
    "him",
    "her",
    "his",
    "their",
    "you",
    "your",
    "those",
    "these",
    "what",
    "how",
    "me",
    "us",
    "myself",
    "when",
    "where",
    "why",
    "if",
    "everything",
    "all",
    "both",
    "each",
    "one",
    "some",
    "any",
    "its",
    "he",
    "she",
    "they",
    "i",
    "we",
    "and",
    "or",
    "so",
    "not",
    "seeing",
    "hearing",
    "who",
    "knowing",
    "having",
    "doing",
    "as",
    "about",
    "for",
    "with",
    "in",
    "on",
    "at",
    "of",
    "is",
    "was",
    "another",
    "such",
    "more",
    "most",
    "too",
    "ours",
    "yours",
    "mine",
    "crazy",
    "hell",
    "mad",
    "anything",
    "nothing",
    "something",
];
