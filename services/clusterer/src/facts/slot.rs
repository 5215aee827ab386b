//! Assigns statements to slots. Only two statements of the same slot can contradict each other.

use std::collections::BTreeSet;

use chrono::{DateTime, FixedOffset};
use domain::fact::Aspect;
use domain::id::EntityId;
use domain::predicate::is_single_role;

mod stems;

use stems::{bare, capitals, head, stems, timeless};

/// The subject of a slot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Whose {
    /// An entity.
    Entity(EntityId),
    /// One of several namesakes, described by its role: "ann's sister".
    OfSeveral(String),
    /// An unknown or ambiguous subject, identified by the teller and the phrase.
    Told {
        /// The teller.
        teller: String,
        /// The phrase; empty if the teller is the subject.
        phrase: String,
    },
}

/// Key of a group of statements that are compared with each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot {
    /// The subject.
    pub(super) whose: Whose,
    /// The group of predicates, such as `home` or `likes`.
    pub(super) family: String,
    /// Distinguishes values that can hold at the same time, for example by the stems of a liked thing.
    pub(super) stem: String,
}

/// A statement without its times.
#[derive(Clone, Debug)]
pub(super) struct Said<'a> {
    pub(super) aspect: Aspect,
    pub(super) predicate: &'a str,
    pub(super) object: &'a str,
    pub(super) ended: bool,
    pub(super) event: bool,
    pub(super) at: DateTime<FixedOffset>,
}

/// The slot of a statement without its subject, and the value in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sort {
    pub(super) family: String,
    pub(super) stem: String,
    /// Stems of the value; an empty set matches any value.
    pub(super) value: BTreeSet<String>,
    /// True if only one value holds at a time.
    pub(super) single: bool,
    /// Families of slots whose values it ends.
    pub(super) ends: Vec<&'static str>,
}

impl Sort {
    /// Returns a sort in which one value holds at a time.
    fn one(family: impl Into<String>, value: BTreeSet<String>) -> Sort {
        Sort {
            family: family.into(),
            stem: String::new(),
            value,
            single: true,
            ends: Vec::new(),
        }
    }

    /// Returns a sort in which each value has its own slot.
    fn each(family: impl Into<String>, value: BTreeSet<String>) -> Sort {
        Sort {
            family: family.into(),
            stem: joined(&value),
            value,
            single: false,
            ends: Vec::new(),
        }
    }

    fn ending(self, ends: &[&'static str]) -> Sort {
        Sort {
            ends: ends.to_vec(),
            ..self
        }
    }
}

/// Returns the sort of a statement.
pub(super) fn sort(said: &Said<'_>) -> Sort {
    let value = stems(said.object);
    match said.aspect {
        Aspect::Place => place(said, value),
        Aspect::Work => work(said, value),
        Aspect::Attribute => attribute(said, value),
        Aspect::Relation => relation(said, value),
        Aspect::Possession => owned(said, value),
        Aspect::Count => count(said),
        Aspect::Preference => preference(said, value),
        Aspect::Habit => taken(said.predicate, &timeless(said)).unwrap_or_else(|| {
            let verb = said.predicate.rsplit(' ').next().unwrap_or_default();
            Sort::each(format!("habit {}", text::stem(verb)), timeless(said))
        }),
        // The same plan with another time is the postponed plan.
        Aspect::Plan => Sort {
            stem: joined(&timeless(said)),
            ..Sort::one("plans", value)
        },
        Aspect::Instruction => instruction(said, value),
    }
}

/// Returns true if two sorted values are compatible: one of them contains the other.
pub(super) fn agree(a: &[String], b: &[String]) -> bool {
    let is_part = |a: &[String], b: &[String]| a.iter().all(|it| b.binary_search(it).is_ok());
    is_part(a, b) || is_part(b, a)
}

fn place(said: &Said<'_>, value: BTreeSet<String>) -> Sort {
    let predicate = said.predicate.trim_start_matches("does not ");
    match predicate.rsplit(' ').next().unwrap_or_default() {
        "in" | "on" | "at" if predicate.starts_with("live") => {
            let named = capitals(said.object);
            match (named.is_empty(), said.event && !said.ended) {
                (true, _) => Sort::one("dwelling", value),
                (false, true) => Sort::one("home", named).ending(&["dwelling"]),
                (false, false) => Sort::one("home", named),
            }
        }
        "with" => Sort::one("lives with", value),
        _ if BEEN.contains(&predicate) => Sort::each("been", capitals(said.object)),
        _ if predicate.starts_with("live") => Sort::one("lives near", value),
        _ if predicate.starts_with("grew up") => Sort::one("grew up", capitals(said.object)),
        _ => Sort::one(predicate, capitals(said.object)),
    }
}

fn work(said: &Said<'_>, value: BTreeSet<String>) -> Sort {
    let side = ["student", "volunt", "traine", "intern", "apprentic"];
    match said.predicate {
        "works as" if !side.iter().any(|it| value.contains(*it)) => Sort::one("job", value),
        "works at" => Sort::one("employer", value),
        "works in" | "works from" | "works with" => Sort::one(said.predicate, value),
        "has" if said.ended => Sort::one("job", BTreeSet::new()).ending(&["employer"]),
        predicate => Sort::each(predicate, value),
    }
}

fn attribute(said: &Said<'_>, value: BTreeSet<String>) -> Sort {
    let has = |list: &[&str]| value.iter().any(|it| list.contains(&it.as_str()));
    let ends: &[&str] = match () {
        () if has(&["divorc", "widow"]) => &["has husband", "has wife", "has spouse"],
        () if has(&["retir", "unemploy"]) => &["job", "employer"],
        () => &[],
    };
    match said.predicate {
        "is" | "is not" if has(&["marri", "engag", "divorc", "widow", "singl"]) => {
            Sort::one("bond", value).ending(ends)
        }
        "is" | "is not" if has(&["vegetarian", "vegan", "pescatarian"]) => Sort::one("diet", value),
        "is" | "is not" => Sort::each("is", value).ending(ends),
        "is aged" => Sort::one("aged", value),
        "has never been to" => Sort::each("been", capitals(said.object)),
        predicate if predicate.ends_with(" is") => Sort::one(predicate, value),
        predicate => Sort::each(bare(predicate), value),
    }
}

fn relation(said: &Said<'_>, value: BTreeSet<String>) -> Sort {
    let with = |state: &str| value.iter().cloned().chain([text::stem(state)]).collect();
    match said.predicate {
        "is married to" => Sort::one("bond", with("married")),
        "is engaged to" => Sort::one("bond", with("engaged")),
        "is together with" if said.ended => {
            Sort::one("bond", with("together")).ending(&["has boyfriend", "has girlfriend", "has partner"])
        }
        "is together with" => Sort::one("bond", with("together")),
        "has" | "does not have" => owned(said, value),
        predicate if is_single_role(predicate.trim_start_matches("has ")) => Sort::one(predicate, value),
        predicate => Sort::each(predicate, value),
    }
}

fn owned(said: &Said<'_>, value: BTreeSet<String>) -> Sort {
    let head = head(said.object);
    Sort {
        stem: head,
        // If something was sold or is lacking, it is whatever thing of that kind the subject has.
        value: if said.ended || said.predicate.starts_with("does not") {
            BTreeSet::new()
        } else {
            value
        },
        ..Sort::each("owns", BTreeSet::new())
    }
}

fn count(said: &Said<'_>) -> Sort {
    let number = said.object.split_whitespace().next().unwrap_or_default().to_lowercase();
    let value = if said.ended {
        BTreeSet::new()
    } else {
        BTreeSet::from([number])
    };
    if said.predicate == "household has" {
        return Sort::one("household", value);
    }
    Sort {
        stem: head(said.object),
        ..Sort::one("owns", value)
    }
}

fn preference(said: &Said<'_>, value: BTreeSet<String>) -> Sort {
    if said.predicate.starts_with("favourite ") || said.predicate.starts_with("favorite ") {
        return Sort::one(said.predicate.replace("favorite", "favourite"), value);
    }
    taken(said.predicate, &value).unwrap_or_else(|| Sort::each("likes", value))
}

/// Returns the same sort for "does not drink coffee" and "drinks coffee every morning".
fn taken(predicate: &str, value: &BTreeSet<String>) -> Option<Sort> {
    let verb = text::stem(predicate.rsplit(' ').next().unwrap_or_default());
    matches!(verb.as_str(), "eat" | "drink" | "smoke").then(|| Sort::each(format!("takes {verb}"), value.clone()))
}

/// Returns one slot for instructions about the same aspect of an answer, since they replace each other; an
/// instruction for an occasion has its own slot.
fn instruction(said: &Said<'_>, value: BTreeSet<String>) -> Sort {
    let lower = said.object.to_lowercase();
    let first = lower.split(' ').next().unwrap_or_default();
    let occasion = matches!(first, "when" | "whenever" | "if" | "every" | "each" | "any");
    let side = SIDES.iter().find(|(_, words)| {
        text::words(&lower)
            .iter()
            .any(|it| words.contains(it) || words.iter().any(|word| word.contains(' ') && lower.contains(word)))
    });
    match side.filter(|_| !occasion) {
        Some((side, _)) => Sort::one(format!("asks {side}"), value),
        None => Sort::each("asks", value),
    }
}

fn joined(value: &BTreeSet<String>) -> String {
    value.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Predicates for having been somewhere.
const BEEN: &[&str] = &["has been to", "visited"];
/// Aspects of an answer, with the words in an instruction that indicate them.
const SIDES: &[(&str, &[&str])] = &[
    ("name", &["call me", "address me"]),
    (
        "units",
        &[
            "metric",
            "imperial",
            "celsius",
            "fahrenheit",
            "kilometres",
            "kilometers",
            "miles",
        ],
    ),
    ("emojis", &["emoji", "emojis"]),
    (
        "language",
        &[
            "english",
            "french",
            "german",
            "spanish",
            "italian",
            "portuguese",
            "dutch",
            "polish",
            "swedish",
            "norwegian",
            "danish",
            "finnish",
            "russian",
            "japanese",
            "chinese",
            "korean",
            "arabic",
            "turkish",
            "greek",
            "welsh",
        ],
    ),
    (
        "length",
        &["short", "shorter", "brief", "concise", "long", "longer", "detailed"],
    ),
    (
        "shape",
        &["bullet", "bullets", "table", "tables", "paragraphs", "lists"],
    ),
];
