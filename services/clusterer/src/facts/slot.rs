//! Assigns statements to slots. Only two statements of the same slot can contradict each other.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, FixedOffset};
use domain::fact::Aspect;
use domain::id::EntityId;
use domain::predicate::is_single_role;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

mod answer_aspects;
mod stems;

use answer_aspects::find_answer_aspect;
use stems::{
    stem_of_main_noun, stems_of_capitalised_words, stems_or_words, stems_without_negation, stems_without_times,
};

use crate::word_lists::{
    CONSUMPTION_STEMS, DIET_STEMS, ENDED_JOB_STEMS, ENDED_MARRIAGE_STEMS, OCCASION_OPENINGS, PARTNERSHIP_STEMS,
    SIDE_JOB_STEMS,
};

/// The subject of a slot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum SlotSubject {
    /// An entity.
    Entity(EntityId),
    /// One of several namesakes, described by its role: "ann's sister".
    OfSeveral(Box<str>),
    /// An unknown or ambiguous subject, identified by the speaker and the phrase.
    Told {
        /// The speaker.
        teller: Box<str>,
        /// The phrase; empty if the speaker is the subject.
        phrase: Box<str>,
    },
}

/// Key of a group of statements that are compared with each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Slot {
    /// The subject.
    pub(super) whose: SlotSubject,
    /// The group of predicates, such as `home` or `likes`.
    pub(super) family: Box<str>,
    /// Distinguishes values that can hold at the same time, for example by the stems of a liked thing.
    pub(super) stem: Box<str>,
}

/// Identifies a slot: the first half of the SHA-256 of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SlotId([u8; 16]);

impl Slot {
    pub(super) fn id(&self) -> SlotId {
        let mut hash = Sha256::new();
        let mut add_part = |part: &[u8]| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        match &self.whose {
            SlotSubject::Entity(id) => add_part(id.uuid().as_bytes()),
            SlotSubject::OfSeveral(phrase) => {
                add_part(b"of several");
                add_part(phrase.as_bytes());
            }
            SlotSubject::Told { teller, phrase } => {
                add_part(b"of teller");
                add_part(teller.as_bytes());
                add_part(phrase.as_bytes());
            }
        }
        add_part(self.family.as_bytes());
        add_part(self.stem.as_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        let mut half = [0; 16];
        half.copy_from_slice(&digest[..16]);
        SlotId(half)
    }
}

/// The stems of a value, sorted and without duplicates. No stems match any value.
///
/// Each stem is followed by `\n`, because one text takes less memory than a list of texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct ValueStems(Box<str>);

impl ValueStems {
    pub(super) fn from_set(stems: &BTreeSet<String>) -> ValueStems {
        let mut text = String::new();
        for stem in stems {
            text.push_str(stem);
            text.push('\n');
        }
        ValueStems(text.into())
    }

    fn stems(&self) -> impl Iterator<Item = &str> {
        self.0.split_terminator('\n')
    }

    /// Returns true if the other value has all of these stems.
    fn is_part_of(&self, other: &ValueStems) -> bool {
        let mut others = other.stems();
        self.stems().all(|it| others.any(|other| other == it))
    }
}

/// A statement without its times.
#[derive(Clone, Debug)]
pub(super) struct TimelessStatement<'a> {
    pub(super) aspect: Aspect,
    pub(super) predicate: &'a str,
    pub(super) object: &'a str,
    pub(super) ended: bool,
    pub(super) event: bool,
    pub(super) at: DateTime<FixedOffset>,
}

/// The slot of a statement without its subject, and the value in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SlotKind {
    pub(super) family: String,
    pub(super) stem: String,
    /// Stems of the value; an empty set matches any value.
    pub(super) value: BTreeSet<String>,
    /// True if only one value holds at a time.
    pub(super) single: bool,
    /// Families of slots whose values it ends.
    pub(super) ends: Vec<&'static str>,
}

impl SlotKind {
    /// Returns a sort in which one value holds at a time.
    fn single_valued(family: impl Into<String>, value: BTreeSet<String>) -> SlotKind {
        SlotKind {
            family: family.into(),
            stem: String::new(),
            value,
            single: true,
            ends: Vec::new(),
        }
    }

    /// Returns a sort in which each value has its own slot.
    fn multi_valued(family: impl Into<String>, value: BTreeSet<String>) -> SlotKind {
        SlotKind {
            family: family.into(),
            stem: join_stems(&value),
            value,
            single: false,
            ends: Vec::new(),
        }
    }

    fn with_ended_families(self, ends: &[&'static str]) -> SlotKind {
        SlotKind {
            ends: ends.to_vec(),
            ..self
        }
    }
}

/// Returns the sort of a statement.
pub(super) fn sort_of_statement(statement: &TimelessStatement<'_>) -> SlotKind {
    let value = stems_or_words(statement.object);
    match statement.aspect {
        Aspect::Place => sort_of_place(statement, value),
        Aspect::Work => sort_of_work(statement, value),
        Aspect::Attribute => sort_of_attribute(statement, value),
        Aspect::Relation => sort_of_relation(statement, value),
        Aspect::Possession => sort_of_possession(statement, value),
        Aspect::Count => sort_of_count(statement),
        Aspect::Preference => sort_of_preference(statement, value),
        Aspect::Habit => {
            sort_of_consumption(statement.predicate, &stems_without_times(statement)).unwrap_or_else(|| {
                let verb = statement.predicate.rsplit(' ').next().unwrap_or_default();
                SlotKind::multi_valued(
                    format!("habit {}", text::stem_word(verb)),
                    stems_without_times(statement),
                )
            })
        }
        // The same plan with another time is the postponed plan.
        Aspect::Plan => SlotKind {
            stem: join_stems(&stems_without_times(statement)),
            ..SlotKind::single_valued("plans", value)
        },
        Aspect::Instruction => sort_of_instruction(statement, value),
    }
}

/// Returns true if two sorted values are compatible: one of them contains the other.
pub(super) fn are_compatible_values(a: &ValueStems, b: &ValueStems) -> bool {
    a.is_part_of(b) || b.is_part_of(a)
}

fn sort_of_place(statement: &TimelessStatement<'_>, value: BTreeSet<String>) -> SlotKind {
    let predicate = statement.predicate.trim_start_matches("does not ");
    match predicate.rsplit(' ').next().unwrap_or_default() {
        "in" | "on" | "at" if predicate.starts_with("live") => {
            let stems_of_names = stems_of_capitalised_words(statement.object);
            match (stems_of_names.is_empty(), statement.event && !statement.ended) {
                (true, _) => SlotKind::single_valued("dwelling", value),
                (false, true) => SlotKind::single_valued("home", stems_of_names).with_ended_families(&["dwelling"]),
                (false, false) => SlotKind::single_valued("home", stems_of_names),
            }
        }
        "with" => SlotKind::single_valued("lives with", value),
        _ if BEEN.contains(&predicate) => SlotKind::multi_valued("been", stems_of_capitalised_words(statement.object)),
        _ if predicate.starts_with("live") => SlotKind::single_valued("lives near", value),
        _ if predicate.starts_with("grew up") => {
            SlotKind::single_valued("grew up", stems_of_capitalised_words(statement.object))
        }
        _ => SlotKind::single_valued(predicate, stems_of_capitalised_words(statement.object)),
    }
}

fn sort_of_work(statement: &TimelessStatement<'_>, value: BTreeSet<String>) -> SlotKind {
    match statement.predicate {
        "works as" if !has_listed_stem(&value, &SIDE_JOB_STEMS) => SlotKind::single_valued("job", value),
        "works at" => SlotKind::single_valued("employer", value),
        "works in" | "works from" | "works with" => SlotKind::single_valued(statement.predicate, value),
        "has" if statement.ended => SlotKind::single_valued("job", BTreeSet::new()).with_ended_families(&["employer"]),
        predicate => SlotKind::multi_valued(predicate, value),
    }
}

fn sort_of_attribute(statement: &TimelessStatement<'_>, value: BTreeSet<String>) -> SlotKind {
    let has = |stems: &HashSet<&'static str>| has_listed_stem(&value, stems);
    let ends: &[&str] = match () {
        () if has(&ENDED_MARRIAGE_STEMS) => &["has husband", "has wife", "has spouse"],
        () if has(&ENDED_JOB_STEMS) => &["job", "employer"],
        () => &[],
    };
    match statement.predicate {
        "is" | "is not" if has(&PARTNERSHIP_STEMS) => SlotKind::single_valued("bond", value).with_ended_families(ends),
        "is" | "is not" if has(&DIET_STEMS) => SlotKind::single_valued("diet", value),
        "is" | "is not" => SlotKind::multi_valued("is", value).with_ended_families(ends),
        "is aged" => SlotKind::single_valued("aged", value),
        "has never been to" => SlotKind::multi_valued("been", stems_of_capitalised_words(statement.object)),
        predicate if predicate.ends_with(" is") => SlotKind::single_valued(predicate, value),
        predicate => SlotKind::multi_valued(stems_without_negation(predicate), value),
    }
}

fn sort_of_relation(statement: &TimelessStatement<'_>, value: BTreeSet<String>) -> SlotKind {
    let with = |state: &str| value.iter().cloned().chain([text::stem_word(state)]).collect();
    match statement.predicate {
        "is married to" => SlotKind::single_valued("bond", with("married")),
        "is engaged to" => SlotKind::single_valued("bond", with("engaged")),
        "is together with" if statement.ended => SlotKind::single_valued("bond", with("together"))
            .with_ended_families(&["has boyfriend", "has girlfriend", "has partner"]),
        "is together with" => SlotKind::single_valued("bond", with("together")),
        "has" | "does not have" => sort_of_possession(statement, value),
        predicate if is_single_role(predicate.trim_start_matches("has ")) => SlotKind::single_valued(predicate, value),
        predicate => SlotKind::multi_valued(predicate, value),
    }
}

fn sort_of_possession(statement: &TimelessStatement<'_>, value: BTreeSet<String>) -> SlotKind {
    let head = stem_of_main_noun(statement.object);
    SlotKind {
        stem: head,
        // If something was sold or is lacking, it is whatever thing of that kind the subject has.
        value: if statement.ended || statement.predicate.starts_with("does not") {
            BTreeSet::new()
        } else {
            value
        },
        ..SlotKind::multi_valued("owns", BTreeSet::new())
    }
}

fn sort_of_count(statement: &TimelessStatement<'_>) -> SlotKind {
    let number = statement
        .object
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let value = if statement.ended {
        BTreeSet::new()
    } else {
        BTreeSet::from([number])
    };
    if statement.predicate == "household has" {
        return SlotKind::single_valued("household", value);
    }
    SlotKind {
        stem: stem_of_main_noun(statement.object),
        ..SlotKind::single_valued("owns", value)
    }
}

fn sort_of_preference(statement: &TimelessStatement<'_>, value: BTreeSet<String>) -> SlotKind {
    if statement.predicate.starts_with("favourite ") || statement.predicate.starts_with("favorite ") {
        return SlotKind::single_valued(statement.predicate.replace("favorite", "favourite"), value);
    }
    sort_of_consumption(statement.predicate, &value).unwrap_or_else(|| SlotKind::multi_valued("likes", value))
}

/// Returns the same sort for "does not drink coffee" and "drinks coffee every morning".
fn sort_of_consumption(predicate: &str, value: &BTreeSet<String>) -> Option<SlotKind> {
    let verb = text::stem_word(predicate.rsplit(' ').next().unwrap_or_default());
    CONSUMPTION_STEMS
        .contains(verb.as_str())
        .then(|| SlotKind::multi_valued(format!("takes {verb}"), value.clone()))
}

/// Returns one slot for instructions about the same aspect of an answer, since they replace each other; an
/// instruction for an occasion has its own slot.
fn sort_of_instruction(statement: &TimelessStatement<'_>, value: BTreeSet<String>) -> SlotKind {
    let lower = statement.object.to_lowercase();
    let first = lower.split(' ').next().unwrap_or_default();
    let is_for_occasion = OCCASION_OPENINGS.contains(first);
    match find_answer_aspect(&lower).filter(|_| !is_for_occasion) {
        Some(aspect) => SlotKind::single_valued(format!("asks {aspect}"), value),
        None => SlotKind::multi_valued("asks", value),
    }
}

/// Returns true if a value has one of the stems of a list.
fn has_listed_stem(value: &BTreeSet<String>, stems: &HashSet<&'static str>) -> bool {
    value.iter().any(|it| stems.contains(it.as_str()))
}

fn join_stems(value: &BTreeSet<String>) -> String {
    value.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Predicates for having been somewhere.
const BEEN: &[&str] = &["has been to", "visited"];
