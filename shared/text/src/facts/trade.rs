//! What somebody makes, grows, keeps or sells, by what they get about, and when they work.

use domain::fact::Aspect;

use super::group::Shape;
use super::lexicon::PETS;
use super::said::{Draft, Said};
use super::token::Gap;
use super::verb::third;

/// Reads what somebody does for good without an adverb of habit: "breeds goats", "drives a taxi", "takes the bus".
pub(super) fn trade(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    if group.shape != Shape::Present || !group.positive {
        return None;
    }
    let next = group.next;
    let known = match group.base.as_str() {
        "keep" | "raise" | "rear" => animals(said, next),
        "drive" => said.at(next) == "a" && VEHICLES.contains(&said.at(next + 1)),
        "take" | "ride" => said.at(next) == "the" && RIDES.contains(&said.at(next + 1)) && ends(said, next + 2),
        "draw" | "write" | "host" | "edit" | "record" if said.at(next) == "a" => {
            (next + 1..said.end.min(next + 4)).any(|it| WORKS.contains(&said.at(it)))
        }
        "wear" => SIGHT.contains(&said.at(next)) || said.at(next) == "a" && said.at(next + 1) == "hearing",
        base => TRADES.contains(&base) && wares(said, next),
    };
    let moment = said
        .times()
        .any(|it| !it.span.words.to_lowercase().starts_with("since"));
    let object = said.object(next).filter(|_| known && !moment)?;
    let object = object.split(" like ").next().unwrap_or_default();
    let object = object.strip_suffix(" behind it").unwrap_or(object).to_owned();
    let pointed = |it: &str| matches!(it, "you" | "your" | "it" | "this" | "that" | "them" | "those");
    if object.split(' ').any(pointed) {
        return None;
    }
    Some(
        Draft::new(Aspect::Habit, third(&group.base), object)
            .sure(0.8)
            .ended(group.ended),
    )
}

/// "bees", "my hens".
fn animals(said: &Said<'_>, from: usize) -> bool {
    let from = from
        + usize::from(matches!(
            said.at(from),
            "my" | "our" | "his" | "her" | "some" | "a" | "two" | "three"
        ));
    (from..said.end.min(from + 3)).any(|it| PETS.contains(&said.at(it)) && ends(said, it + 1))
}

/// Things of a kind, more than one of them and none that is pointed at: "violins and rabecas", "old clocks".
fn wares(said: &Said<'_>, from: usize) -> bool {
    let last = (from..said.end.min(from + 4)).find(|it| ends(said, it + 1));
    let plural =
        |it: &str| it.len() > 3 && it.ends_with('s') && !["ss", "us", "is"].iter().any(|end| it.ends_with(end));
    let first = said.at(from);
    let pointed = matches!(
        first,
        "my" | "our" | "his" | "her" | "its" | "their" | "the" | "a" | "an" | "these" | "as" | "us" | "always"
    ) || crate::is_stop(first);
    !pointed
        && last.is_some_and(|it| plural(said.at(it)) && !FIGURES.contains(&said.at(it)) && !crate::is_stop(said.at(it)))
}

/// Says whether nothing of the noun phrase before a word goes on with it.
fn ends(said: &Said<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|it| said.words.get(it));
    said.at(at).is_empty()
        || before.is_some_and(|it| it.gap != Gap::None)
        || CLOSERS.contains(&said.at(at))
        || said.times().any(|it| it.range.start == said.words[at].range.start)
}

/// "works nights", "is on nights", "does nights": when somebody works.
pub(super) fn shifts(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let now = matches!(
        group.shape,
        Shape::Present | Shape::Progressive | Shape::Lasting | Shape::Be | Shape::Been
    );
    if !now || !group.positive {
        return None;
    }
    let next = group.next;
    let from = match (group.base.as_str(), said.at(next)) {
        ("work", _) => next,
        ("do", _) if matches!(group.shape, Shape::Progressive | Shape::Lasting) => next,
        ("be", "on") => next + 1,
        _ => return None,
    };
    let from = from + usize::from(said.at(from) == "the");
    let whole = match (said.at(from), said.at(from + 1)) {
        ("nights" | "earlies" | "lates", _) => 1,
        ("night" | "day" | "late" | "early", "shift" | "shifts") => 2,
        ("part-time" | "full-time" | "freelance", _) if group.base == "work" => 1,
        ("part" | "full", "time") if group.base == "work" => 2,
        _ => return None,
    };
    let ends =
        ends(said, from + whole) || matches!(said.at(from + whole), "till" | "until" | "again" | "this" | "next");
    let later = said
        .times()
        .any(|it| it.span.start > said.now && !it.span.words.to_lowercase().starts_with("until"));
    let until = |it: &str| matches!(it, "til" | "till" | "until");
    if later && !(from..said.end).any(|it| until(said.at(it))) {
        return None;
    }
    let (first, last) = (said.words.get(from)?, said.words.get(from + whole - 1)?);
    let object = said.text.get(first.range.start..last.range.end)?;
    ends.then(|| Draft::new(Aspect::Work, "works", object).sure(0.75).ended(group.ended))
}

/// Verbs of making, growing and selling.
const TRADES: &[&str] = &[
    "make",
    "grow",
    "breed",
    "sell",
    "repair",
    "fix",
    "restore",
    "tune",
    "collect",
    "paint",
    "knit",
    "sew",
    "weave",
    "bake",
    "brew",
    "build",
    "design",
    "write",
    "translate",
    "clean",
    "publish",
    "import",
    "export",
    "photograph",
    "carve",
    "foster",
    "train",
    "use",
    "mend",
    "forge",
    "bind",
    "shear",
    "edit",
    "deliver",
    "illustrate",
    "conduct",
    "bottle",
    "roast",
    "smoke",
];
/// What is made only in a figure of speech.
const FIGURES: &[&str] = &[
    "choices",
    "progress",
    "mistakes",
    "noises",
    "jokes",
    "faces",
    "plans",
    "friends",
    "sounds",
    "decisions",
    "things",
    "excuses",
    "promises",
    "enemies",
    "differences",
    "ends",
    "headlines",
    "waves",
    "points",
    "notes",
    "lists",
    "messages",
    "emails",
    "letters",
    "phones",
    "thoughts",
    "problems",
    "words",
    "answers",
    "dates",
    "calls",
    "changes",
    "beds",
    "lines",
    "lives",
    "others",
    "times",
    "dishes",
    "ours",
    "hours",
    "arrangements",
    "miracles",
    "movies",
    "photos",
    "pictures",
];
/// What one goes on making for years.
const WORKS: &[&str] = &[
    "comic",
    "blog",
    "column",
    "podcast",
    "newsletter",
    "diary",
    "webcomic",
    "show",
    "zine",
];
/// What one wears always.
const SIGHT: &[&str] = &["glasses", "lenses", "contacts", "braces", "hijab"];
/// What one drives for a living, mostly.
const VEHICLES: &[&str] = &[
    "taxi",
    "bus",
    "lorry",
    "truck",
    "tram",
    "train",
    "van",
    "cab",
    "ambulance",
    "tractor",
    "crane",
];
/// By what one gets about.
const RIDES: &[&str] = &[
    "bus",
    "tram",
    "train",
    "metro",
    "tube",
    "ferry",
    "subway",
    "underground",
    "bike",
];
const CLOSERS: &[&str] = &[
    "and", "in", "at", "for", "with", "from", "on", "to", "now", "like", "or", "since", "as", "too", "there", "here",
    "by", "of", "but", "these", "near", "out", "behind", "under", "anyway",
];
