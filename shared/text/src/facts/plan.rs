//! What somebody means to do.

use domain::fact::Aspect;

use super::group::Shape;
use super::place::whereabouts;
use super::said::{Draft, Said, When};
use super::verb::{Form, base_of, is_ing_of, may_be_base};

/// Reads a plan.
pub(super) fn plan(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let next = group.next;
    match (group.base.as_str(), group.shape) {
        ("plan" | "intend", Shape::Present | Shape::Progressive | Shape::Lasting) => planned(said),
        ("hope" | "want", Shape::Present | Shape::Progressive) if said.at(next) == "to" => wanted(said),
        ("think", Shape::Progressive)
            if matches!(said.at(next), "of" | "about") && said.at(next + 1).ends_with("ing") =>
        {
            considered(said, next + 1)
        }
        ("decide", Shape::Past | Shape::Perfect) if said.at(next) == "to" => aim(said, next + 1, 0.75),
        ("book" | "sign" | "register" | "enrol" | "enroll", Shape::Past | Shape::Perfect) => booked(said),
        // "starts on the first of May", "have an exam on Friday".
        ("start", Shape::Present) => drafted(
            said,
            "starts",
            said.timed(next).filter(|_| ahead(said).is_some())?,
            0.75,
        ),
        ("open" | "close" | "fly" | "leave" | "launch", Shape::Present)
            if matches!(said.at(next), "on" | "to" | "for") =>
        {
            let day = ahead(said).is_some() && !said.has(&["every", "always"]);
            let verb = super::verb::third(&group.base);
            drafted(said, &verb, said.timed(next).filter(|_| day)?, 0.75)
        }
        ("move", Shape::Present) => {
            let to = matches!(said.at(next), "to" | "into") && whereabouts(said, next + 1).is_some();
            let to = to || matches!(said.at(next), "in" | "out");
            let day = to && ahead(said).is_some() && group.often.is_none() && !said.has(&["every", "if"]);
            drafted(said, "moves", said.timed(next).filter(|_| day)?, 0.75)
        }
        ("have", Shape::Present) | ("get", Shape::Perfect) => dated(said),
        (_, Shape::Going) if group.positive && !FLEETING.contains(&group.base.as_str()) => going(said),
        (base, Shape::Future) if base != "be" && !FLEETING.contains(&base) => future(said, 0.65),
        (base, Shape::Progressive) if base != "go" || !said.rest().is_empty() => progressive(said),
        _ => None,
    }
}

fn drafted(said: &Said<'_>, predicate: &str, object: String, sure: f32) -> Option<Draft> {
    // "ring her", "take them on Monday" mean nothing outside their talk.
    let whom = object
        .split(' ')
        .nth(1)
        .is_some_and(|it| matches!(it, "her" | "him" | "them" | "these" | "those"))
        && object.split(' ').nth(2).is_none_or(is_preposition);
    let ends = object
        .rsplit(' ')
        .next()
        .is_some_and(|it| matches!(it, "her" | "him" | "them" | "his"));
    let weak = whom
        || ends
        || object
            .split(' ')
            .any(|it| matches!(it, "you" | "your" | "that" | "it" | "one" | "ones"));
    (said.group.positive && !weak && object.split(' ').count() >= 2).then(|| Draft {
        when: When::Plan,
        ..Draft::new(Aspect::Plan, predicate, object).sure(sure)
    })
}

fn is_preposition(word: &str) -> bool {
    matches!(
        word,
        "on" | "in" | "at" | "for" | "by" | "tomorrow" | "tonight" | "next" | "this" | "about" | "back" | "from"
    )
}

/// "plans to", from the base at `at` on.
fn aim(said: &Said<'_>, at: usize, sure: f32) -> Option<Draft> {
    let verb = said.at(at);
    if FLEETING.contains(&verb) || !(may_be_base(verb) || base_of(verb, Form::Present).is_some()) {
        return None;
    }
    drafted(said, "plans to", said.timed(at)?, sure)
}

fn planned(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    match said.at(next) {
        "to" => aim(said, next + 1, 0.85),
        "on" if said.at(next + 1).ends_with("ing") => drafted(said, "plans on", said.timed(next + 1)?, 0.85),
        "a" | "our" | "my" if said.group.shape == Shape::Progressive => {
            drafted(said, "is planning", said.timed(next)?, 0.85)
        }
        _ => None,
    }
}

fn wanted(said: &Said<'_>) -> Option<Draft> {
    let at = said.group.next + 1;
    if FLEETING.contains(&said.at(at)) || said.has(&["too", "asap"]) {
        return None;
    }
    let verb = if said.group.base == "hope" {
        "hopes to"
    } else {
        "wants to"
    };
    drafted(said, verb, said.timed(at)?, 0.65)
}

fn considered(said: &Said<'_>, at: usize) -> Option<Draft> {
    drafted(said, "is considering", said.timed(at)?, 0.6)
}

/// "booked a table for Friday", "signed up for a pottery class".
fn booked(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    if said.group.base == "book" {
        let what = matches!(
            said.at(next),
            "a" | "an" | "the" | "our" | "my" | "us" | "two" | "flights" | "tickets" | "train" | "three" | "four"
        );
        return drafted(said, "has booked", said.timed(next).filter(|_| what)?, 0.85);
    }
    let from = match (said.at(next), said.at(next + 1)) {
        ("up", "for" | "to") => next + 2,
        ("for" | "in" | "on", _) if said.group.base != "sign" => next + 1,
        _ => return None,
    };
    drafted(said, "signed up for", said.timed(from)?, 0.85)
}

/// "have a dentist's appointment on Friday".
fn dated(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    let whole = matches!(said.at(next), "a" | "an" | "the" | "my" | "our")
        && (next..said.end.min(next + 6)).any(|it| DATED.contains(&said.at(it)));
    ahead(said).filter(|_| whole)?;
    drafted(said, "has", said.timed(next)?, 0.75)
}

/// "going to buy a boat".
fn going(said: &Said<'_>) -> Option<Draft> {
    let object = said.timed(said.group.next - 1)?;
    drafted(said, "plans to", object, 0.75)
}

/// "will start in May": only with a time, or a promise of the moment would be a plan.
fn future(said: &Said<'_>, sure: f32) -> Option<Draft> {
    ahead(said)?;
    drafted(said, "plans to", said.timed(said.group.next - 1)?, sure)
}

/// "is moving to Oslo in May".
fn progressive(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let marriage = group.base == "get" && said.at(group.next) == "married";
    let moving = group.base == "move" && matches!(said.at(group.next), "to" | "into" | "out" | "in" | "back");
    if !marriage && !moving {
        let able = MOVES.iter().any(|it| is_ing_of(&group.base, it))
            || matches!(group.base.as_str(), "have" | "get" | "take" | "make");
        ahead(said).filter(|_| able)?;
    }
    if matches!(said.at(group.next), "through") {
        return None;
    }
    let object = said.timed(group.next - 1)?;
    drafted(said, "is", object, 0.75)
}

/// Returns a time of the clause that lies ahead.
fn ahead<'a>(said: &'a Said<'_>) -> Option<&'a crate::time::Mention> {
    let soon = said.now + chrono::TimeDelta::hours(12);
    said.times()
        .find(|it| it.span.end > soon && it.span.start + chrono::TimeDelta::days(1) > said.now)
}

/// What one has on a day.
const DATED: &[&str] = &[
    "exam",
    "appointment",
    "interview",
    "meeting",
    "test",
    "deadline",
    "concert",
    "gig",
    "match",
    "game",
    "race",
    "party",
    "wedding",
    "flight",
    "train",
    "trip",
    "class",
    "lesson",
    "audition",
    "dentist",
    "doctor",
    "checkup",
    "scan",
    "operation",
    "surgery",
    "viewing",
    "inspection",
    "marathon",
    "tournament",
    "rehearsal",
    "reservation",
    "visit",
    "presentation",
    "hearing",
    "recital",
    "half",
];
/// Verbs of the moment.
const FLEETING: &[&str] = &[
    "be",
    "say",
    "know",
    "tell",
    "ask",
    "thank",
    "see",
    "hear",
    "check",
    "try",
    "make",
    "let",
    "think",
    "need",
    "have",
    "do",
    "talk",
    "share",
    "show",
    "mention",
    "point",
    "believe",
    "understand",
    "look",
    "wait",
    "miss",
    "cry",
    "die",
    "keep",
    "love",
    "like",
    "hate",
    "enjoy",
    "happen",
    "work",
    "help",
    "add",
    "put",
    "explain",
    "apologise",
    "apologize",
    "sound",
    "hug",
    "find",
    "figure",
    "get",
    "admit",
    "throw",
    "scream",
    "feel",
    "remember",
    "hold",
    "leave",
    "forget",
    "stop",
    "stay",
    "give",
];
/// Verbs that mean something to come when a time ahead stands beside them.
const MOVES: &[&str] = &[
    "visit", "fly", "meet", "start", "leave", "go", "come", "drive", "travel", "run", "sail", "play", "sing", "see",
    "cook", "host", "marry", "move", "launch", "join", "attend", "teach", "bring", "open", "close", "present",
    "collect", "return",
];
