//! Synonymy edges between entities (REMem, section 3): cosine of the names at least 0.8, and no false friends.
//!
//! Two names are compared if they share a word, or its first letters, that few others have; so the work for one name does
//! not grow with the space. An edge is kept if
//! - the numbers in both are the same, and the kinds do not exclude each other;
//! - the words of one that the other lacks are spellings of each other (one letter in a long word, a word written short,
//!   an initial), or
//! - one has only words that the other has too, and what it lacks is generic ("cafe", "park") or, of a person, a further
//!   name. Words that stand against each other (north, old, junior, first) never pass: they are why there are two names.
//!
//! So "Monday" and "Tuesday", "Anna" and "Hanna", "London" and "London Bridge" have no edge, however near their vectors are.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use domain::entity::EntityKind;

use super::fold::fold;
use super::forms::{Classes, set};
use crate::small_map::SmallMap;

/// Least cosine of an edge.
const COSINE_MIN: f32 = 0.8;
/// A word that more names share does not bring two together.
const SHARED_MAX: usize = 32;
/// Letters of a word by which its spellings are found.
const PREFIX: usize = 5;
/// Most words of a name that are looked at.
const WORDS_MAX: usize = 8;
/// Most edges told of one entity.
const EDGES_MAX: usize = 8;
/// Words that say what kind of thing a name is of.
static GENERIC: Words = LazyLock::new(|| {
    "cafe caf\u{e9} coffee restaurant bar pub bakery hotel hostel park garden gardens trail school clinic hospital \
    centre center club shop store market library museum gallery theatre theater studio gym inc limited company corporation \
    group city town village county street road avenue square festival app project team the of and"
    .split_whitespace()
    .collect()
});
/// Words that tell one of a pair or a row from the others.
static OPPOSED: Words = LazyLock::new(|| {
    "north south east west northern southern eastern western upper lower old new big little great small senior \
    junior sr jr left right first second third last early late young elder inner outer central lesser greater i ii iii iv v"
    .split_whitespace()
    .collect()
});

type Words = LazyLock<HashSet<&'static str>>;

/// Entities by what their names are like.
#[derive(Clone, Debug, Default)]
pub(super) struct Alike {
    known: BTreeMap<String, Known>,
    buckets: BTreeMap<String, Classes>,
    edges: BTreeMap<String, SmallMap<String, f32>>,
}

#[derive(Clone, Debug)]
struct Known {
    name: String,
    kind: EntityKind,
    words: Vec<String>,
}

impl Alike {
    /// Notes the name and kind of an entity, or that it is gone, and returns the entities whose edges changed.
    pub(super) fn set(&mut self, key: &str, now: Option<(&str, EntityKind)>) -> BTreeSet<String> {
        let same = self.known.get(key).map(|it| (it.name.as_str(), it.kind)) == now;
        if same {
            return BTreeSet::new();
        }
        let mut changed = BTreeSet::new();
        if let Some(before) = self.known.remove(key) {
            for other in self.edges.remove(key).unwrap_or_default().keys() {
                if let Some(edges) = self.edges.get_mut(other) {
                    edges.remove(key);
                }
                changed.insert(other.clone());
            }
            for bucket in buckets(&before.words) {
                set(&mut self.buckets, bucket.clone(), key, false);
                self.crossed(&bucket, SHARED_MAX, &mut changed);
            }
        }
        if let Some((name, kind)) = now {
            let words: Vec<String> = fold(name).split(' ').take(WORDS_MAX).map(str::to_owned).collect();
            let mut others = BTreeSet::new();
            let known = Known {
                name: name.to_owned(),
                kind,
                words,
            };
            let own = buckets(&known.words);
            self.known.insert(key.to_owned(), known);
            for bucket in own {
                set(&mut self.buckets, bucket.clone(), key, true);
                self.crossed(&bucket, SHARED_MAX + 1, &mut changed);
                others.extend(
                    self.buckets
                        .get(&bucket)
                        .filter(|it| it.len() <= SHARED_MAX)
                        .into_iter()
                        .flat_map(SmallMap::keys)
                        .cloned(),
                );
            }
            for other in others {
                self.compare(key, &other, &mut changed);
            }
        }
        changed
    }

    /// Edges of an entity, the greatest cosine first, ties by key.
    pub(super) fn of(&self, key: &str) -> Vec<(&String, f32)> {
        let mut edges: Vec<(&String, f32)> = self
            .edges
            .get(key)
            .into_iter()
            .flatten()
            .map(|it| (it.0, *it.1))
            .collect();
        edges.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        edges.truncate(EDGES_MAX);
        edges
    }

    /// Looks again at the pairs of a bucket that just came to bring names together, or ceased to.
    fn crossed(&mut self, bucket: &str, size: usize, changed: &mut BTreeSet<String>) {
        let Some(members) = self.buckets.get(bucket).filter(|it| it.len() == size) else {
            return;
        };
        let members: Vec<String> = members.keys().cloned().collect();
        for (at, one) in members.iter().enumerate() {
            for other in &members[at + 1..] {
                self.compare(one, other, changed);
            }
        }
    }

    fn compare(&mut self, one: &str, other: &str, changed: &mut BTreeSet<String>) {
        if one == other {
            return;
        }
        let cosine = self.cosine(one, other);
        for (from, to) in [(one, other), (other, one)] {
            let edges = self.edges.entry(from.to_owned()).or_default();
            let before = match cosine {
                Some(cosine) => edges.insert(to.to_owned(), cosine),
                None => edges.remove(to),
            };
            if edges.is_empty() {
                self.edges.remove(from);
            }
            if before != cosine {
                changed.insert(from.to_owned());
            }
        }
    }

    /// The cosine of two names, if it makes an edge.
    fn cosine(&self, one: &str, other: &str) -> Option<f32> {
        let (a, b) = (self.known.get(one)?, self.known.get(other)?);
        let few = |it: &String| self.buckets.get(it).is_some_and(|it| it.len() <= SHARED_MAX);
        let theirs = buckets(&b.words);
        let shared = buckets(&a.words).iter().any(|it| theirs.contains(it) && few(it));
        if !shared || !friends(a, b) {
            return None;
        }
        // Made when it is asked for: few pairs come so far, and a vector takes more memory than all else that is kept of a name.
        let vector = |it: &Known| text::Table::builtin().embed(&it.name);
        let cosine: f32 = vector(a).iter().zip(&vector(b)).map(|(x, y)| x * y).sum();
        (cosine >= COSINE_MIN).then_some(cosine.min(1.0))
    }
}

/// A name's words and their first letters.
fn buckets(words: &[String]) -> BTreeSet<String> {
    let prefix = |it: &String| (it.chars().count() > PREFIX).then(|| it.chars().take(PREFIX).chain(['*']).collect());
    words.iter().cloned().chain(words.iter().filter_map(prefix)).collect()
}

/// Says whether two names may well be of one thing; see the module.
fn friends(a: &Known, b: &Known) -> bool {
    let excludes = |one: EntityKind, other: EntityKind| {
        let person = |it| matches!(it, EntityKind::Person | EntityKind::Speaker);
        person(one) && other == EntityKind::Place || one == EntityKind::Speaker && other == EntityKind::Speaker
    };
    if excludes(a.kind, b.kind) || excludes(b.kind, a.kind) {
        return false;
    }
    let rest = |one: &Known, other: &Known| -> Vec<String> {
        let lacks = |it: &&String| !other.words.contains(it);
        one.words.iter().filter(lacks).cloned().collect()
    };
    let (mine, yours) = (rest(a, b), rest(b, a));
    let told = |it: &String| it.chars().any(char::is_numeric) || OPPOSED.contains(it.as_str());
    if mine.iter().chain(&yours).any(told) {
        return false;
    }
    let person = [a.kind, b.kind]
        .iter()
        .any(|it| matches!(it, EntityKind::Person | EntityKind::Speaker));
    let (shorter, extra) = match (mine.is_empty(), yours.is_empty()) {
        (true, true) => return true,
        (true, false) => (a, yours),
        (false, true) => (b, mine),
        (false, false) => return spelled(&mine, &yours, person),
    };
    if person {
        extra.len() == 1 && !GENERIC.contains(extra[0].as_str())
    } else {
        shorter.words.len() > 1 && extra.iter().all(|it| GENERIC.contains(it.as_str()))
    }
}

/// Says whether the words that differ are spellings of each other, in order.
fn spelled(one: &[String], other: &[String], person: bool) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(a, b)| short_of(a, b) || short_of(b, a) || !person && variant(a, b))
}

/// "J" or "Univ" for a longer word.
fn short_of(short: &str, long: &str) -> bool {
    let letters = short.chars().count();
    long.starts_with(short) && (letters == 1 || letters >= 3 && long.chars().count() >= letters + 4)
}

/// One letter more, less or other inside of a long word, or a plural.
fn variant(one: &str, other: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let middle = |it: &[char]| it.len().saturating_sub(head + tail);
    let plural = super::fold::singular(one) == super::fold::singular(other);
    plural || a.len().min(b.len()) >= 5 && head >= 3 && tail >= 1 && middle(&a) <= 1 && middle(&b) <= 1
}
