//! What somebody plays, learns, trains for, has taken up, cannot do, and where they have been.

mod words;

use domain::fact::Aspect;

use super::group::Shape;
use super::lexicon::NO_NAMES;
use super::said::{Draft, Said, When};
use super::verb::third;
use crate::time::Kind;
use words::{ACTIVITIES, CHOIRS, COURSES, GAMES, GROUPS, MOMENTS};

/// Reads an activity.
pub(super) fn activity(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    if group.shape == Shape::Modal || !group.positive && group.shape == Shape::Present {
        return unable(said);
    }
    if group.never && group.base == "be" && group.shape == Shape::Been {
        return never_been(said);
    }
    // "I never learned to drive."
    if group.base == "learn" && group.never && group.shape == Shape::Past && said.at(group.next) == "to" {
        let able = matches!(
            said.at(group.next + 1),
            "swim"
                | "drive"
                | "cook"
                | "ride"
                | "ski"
                | "skate"
                | "read"
                | "dance"
                | "sing"
                | "knit"
                | "sew"
                | "sail"
                | "cycle"
                | "play"
                | "speak"
        );
        let object = said
            .object(group.next)
            .filter(|it| able && it.split(' ').count() <= 4)?;
        return Some(Draft {
            positive: false,
            ..Draft::new(Aspect::Attribute, "never learned", object).sure(0.8)
        });
    }
    if !group.positive {
        return None;
    }
    let now = matches!(group.shape, Shape::Present | Shape::Progressive | Shape::Lasting);
    let done = matches!(group.shape, Shape::Past | Shape::Perfect);
    let first = match group.base.as_str() {
        "sing" | "dance" | "act" if group.shape == Shape::Present && said.at(group.next) == "in" => performs(said),
        "play" | "coach" if group.shape == Shape::Present => plays(said),
        "learn" if matches!(group.shape, Shape::Progressive | Shape::Lasting) => learns(said),
        "write" if matches!(group.shape, Shape::Progressive | Shape::Lasting) => writes(said),
        "train" if now && said.at(group.next) == "for" => trains(said),
        "look" | "looking" if group.shape == Shape::Progressive && said.at(group.next) == "for" => looks(said),
        "join" if done => joined(said),
        "start" | "take" | "begun" if done => started(said),
        "visit" if done => visited(said, group.next, "visited"),
        "be" if group.shape == Shape::Been && said.at(group.next) == "to" => {
            let when = When::Visit;
            visited(said, group.next + 1, "has been to").map(|it| Draft { when, ..it })
        }
        "be" if group.shape == Shape::Be => youngest(said).or_else(|| member(said)),
        _ => None,
    };
    first.or_else(|| lasting(said))
}

/// "I can't swim", "my mother can't drive".
fn unable(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let able = matches!(
        group.base.as_str(),
        "swim" | "drive" | "cook" | "whistle" | "sing" | "dance" | "fly" | "ski" | "skate" | "run" | "ride" | "sail"
    );
    let any_more = super::preference::any_more(said);
    let alone = group.next >= said.end || any_more && said.rest().len() <= 2;
    if group.positive || !able || !alone {
        return None;
    }
    let (predicate, object) = match (group.can, group.shape) {
        (true, _) => ("cannot".to_owned(), group.base.clone()),
        (false, Shape::Present) => ("does not".to_owned(), group.base.clone()),
        (false, _) => return None,
    };
    Some(Draft {
        positive: false,
        ..Draft::new(Aspect::Attribute, predicate, object).sure(0.8)
    })
}

/// "plays the cello", "plays for the village team", "coaches the under-tens".
fn plays(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let next = group.next;
    let known = |it: usize| GAMES.contains(&said.at(it));
    let what = match said.at(next) {
        "the" if said.words.get(next + 1).is_some_and(|it| it.foreign) => {
            said.words[next + 1].gap != super::token::Gap::None
        }
        "the" | "a" => known(next + 1) || known(next + 2) || group.base == "coach",
        "for" => said.capital(next + 1) || said.has(&["team", "club", "league"]),
        _ => known(next),
    };
    let object = said
        .object(next)
        .filter(|_| what && !said.has(&["it", "that", "this", "you"]))?;
    Some(
        Draft::new(Aspect::Habit, third(&group.base), object)
            .sure(0.85)
            .ended(group.ended),
    )
}

/// "sings in the church choir".
fn performs(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let together = (group.next + 1..said.end.min(group.next + 6)).any(|it| GROUPS.contains(&said.at(it)));
    let object = said.object(group.next).filter(|_| together)?;
    Some(
        Draft::new(Aspect::Habit, third(&group.base), object)
            .sure(0.8)
            .ended(group.ended),
    )
}

/// "is in the school orchestra".
fn member(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    let head = (next + 1..said.end.min(next + 5)).find(|&it| CHOIRS.contains(&said.at(it)))?;
    let article = said.at(next) == "in" && matches!(said.at(next + 1), "a" | "the" | "our" | "my" | "an");
    let ends = said.words[head].gap != super::token::Gap::None
        || matches!(
            said.at(head + 1),
            "" | "and" | "of" | "at" | "with" | "called" | "there" | "too" | "now" | "since"
        );
    let object = said.object(next + 1).filter(|_| article && ends)?;
    Some(
        Draft::new(Aspect::Habit, "is in", object)
            .sure(0.8)
            .ended(said.group.ended),
    )
}

/// "is learning Welsh", "is learning to swim".
fn learns(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    let vague = matches!(
        said.at(next),
        "" | "that" | "it" | "this" | "what" | "from" | "about" | "so" | "not" | "as"
    ) || matches!(
        (said.at(next), said.at(next + 1)),
        ("how", _) | ("to", "be" | "live" | "let" | "love" | "accept" | "say")
    );
    let object = said.object(next).filter(|_| !vague && !said.has(&["you", "lot"]))?;
    Some(Draft::new(Aspect::Habit, "is learning", object).sure(0.8))
}

/// "is writing a novel".
fn writes(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    let work = (next..said.end.min(next + 6)).any(|it| {
        matches!(
            said.at(it),
            "novel"
                | "book"
                | "thesis"
                | "dissertation"
                | "memoir"
                | "play"
                | "screenplay"
                | "album"
                | "musical"
                | "phd"
        )
    });
    let object = said.object(next).filter(|_| work)?;
    Some(Draft::new(Aspect::Work, "is writing", object).sure(0.85))
}

/// "is training for a marathon".
fn trains(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next + 1;
    let named = matches!(said.at(next), "a" | "an" | "the" | "my" | "our") || said.capital(next);
    let object = said.timed(next).filter(|_| named)?;
    Some(Draft {
        when: When::Plan,
        ..Draft::new(Aspect::Plan, "is training for", object).sure(0.8)
    })
}

/// "is looking for a flat".
fn looks(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next + 1;
    let named = matches!(said.at(next), "a" | "an" | "somebody" | "someone" | "work") || said.at(next) == "new";
    let object = said
        .object(next)
        .filter(|_| named && !said.has(&["way", "excuse", "word", "reason", "sign", "place"]))?;
    Some(Draft::new(Aspect::Plan, "is looking for", object).sure(0.7))
}

/// "joined a choir".
fn joined(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    let group = (next..said.end.min(next + 6)).any(|it| GROUPS.contains(&said.at(it)));
    let object = said
        .object(next)
        .filter(|_| group && matches!(said.at(next), "a" | "an" | "the" | "our" | "my"))?;
    Some(Draft::new(Aspect::Habit, "joined", object).event().sure(0.8))
}

/// "started drum lessons", "started running", "took up pottery".
fn started(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let next = group.next;
    if group.base == "take" {
        let up = said.at(next) == "up" && said.at(next + 1).len() > 3 && !said.has(&["time", "space", "offer", "much"]);
        let object = said.object(next + 1).filter(|_| up)?;
        return Some(Draft::new(Aspect::Habit, "took up", object).event().sure(0.8));
    }
    let doing = ACTIVITIES.contains(&said.at(next)) || GAMES.contains(&said.at(next));
    let course = !said.at(next).is_empty()
        && (next..said.end.min(next + 5)).any(|it| COURSES.contains(&said.at(it)))
        && !matches!(said.at(next), "at" | "in" | "to" | "with" | "on" | "as" | "off" | "out");
    let object = said.object(next).filter(|_| doing || course)?;
    Some(Draft::new(Aspect::Habit, "started", object).event().sure(0.8))
}

/// "has been to Iceland", "visited Iceland".
fn visited(said: &Said<'_>, from: usize, predicate: &str) -> Option<Draft> {
    let own = said.words.get(from).is_some_and(|it| it.lower.ends_with("'s"));
    let named = said.capital(from) && !NO_NAMES.contains(&said.at(from)) && !own;
    let object = said.object(from).filter(|it| named && !it.contains(" all "))?;
    Some(Draft::new(Aspect::Place, predicate, object).event().sure(0.75))
}

/// "has never been to Belgium", "has never been on a plane".
fn never_been(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    let known = matches!(said.at(next), "to" | "in" | "on") && (said.capital(next + 1) || said.at(next) == "on");
    let object = said
        .object(next + 1)
        .filter(|_| known && !matches!(said.at(next + 1), "time" | "my" | "your" | "it" | "the" | "that"))?;
    Some(Draft {
        positive: false,
        ..Draft::new(Aspect::Attribute, format!("has never been {}", said.at(next)), object).sure(0.8)
    })
}

/// "I'm the youngest of five".
fn youngest(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    let rank = said.at(next) == "the" && matches!(said.at(next + 1), "youngest" | "oldest" | "eldest");
    // "the oldest but one".
    if said.words.get(said.end).is_some_and(|it| it.lower == "but") {
        return None;
    }
    let of = (said.at(next + 2) == "of" && super::lexicon::is_number(said.at(next + 3)))
        || matches!(
            said.at(next + 2),
            "child" | "sister" | "brother" | "sibling" | "daughter" | "son"
        );
    let object = said.object(next).filter(|_| rank && of)?;
    Some(Draft::new(Aspect::Attribute, "is", object).sure(0.7))
}

/// "has been painting for seven years", "has been writing Rust since 2021".
fn lasting(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let stem = crate::stem(&group.base);
    if group.shape != Shape::Lasting || MOMENTS.iter().any(|it| crate::stem(it) == stem) {
        return None;
    }
    let long = said.times().any(|it| {
        let words = it.span.words.to_lowercase();
        let length = ["year", "month", "decade", "childhood"]
            .iter()
            .any(|unit| words.contains(unit));
        (it.kind == Kind::Duration && length) || (it.span.start + chrono::TimeDelta::days(60) < said.now)
    });
    let anchored =
        said.has(&["since", "for"]) || said.times().any(|it| it.span.words.to_lowercase().starts_with("since"));
    if !long || !anchored {
        return None;
    }
    let bare = said.times().any(|it| {
        said.words
            .get(group.next)
            .is_some_and(|word| it.range.start <= word.range.start && word.range.start < it.range.end)
    }) || matches!(said.at(group.next), "since" | "for" | "");
    let (predicate, object) = if bare {
        let word = said.words.get(group.next.checked_sub(1)?)?;
        ("has been", word.lower.clone())
    } else {
        ("", said.object(group.next)?)
    };
    let weak = object.split(' ').any(|it| {
        matches!(
            it,
            "it" | "you" | "that" | "this" | "your" | "him" | "her" | "them" | "me"
        )
    });
    let predicate = match predicate {
        // A verb that is not on the list has no other form than this.
        "" if group.base.ends_with("ing") => format!("has been {}", group.base),
        "" => third(&group.base),
        it => it.to_owned(),
    };
    (!weak).then(|| Draft::new(Aspect::Habit, predicate, object).sure(0.8))
}
