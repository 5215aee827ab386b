//! Synonymy edges between entities (REMem, section 3): the cosine of their names is at least 0.8, and additional
//! rules exclude misleading pairs.
//!
//! Two names are compared only if they share a word, or its first letters, that few other names have. The work for
//! one name therefore does not grow with the space. An edge is kept if
//! - both names have the same numbers, their kinds do not exclude each other, and
//! - either the words in which they differ are spellings of each other (one letter in a long word, a short form, an
//!   initial),
//! - or one name has only words that the other has too, and the additional words are generic ("cafe", "park") or, for
//!   a person, one further name.
//!
//! There is no edge if a differing word distinguishes things (north, old, junior, first), because that word is the
//! reason for two names. Therefore "Monday" and "Tuesday", "Anna" and "Hanna", "London" and "London Bridge" have no
//! edge, however similar their vectors are.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use domain::entity::EntityKind;

use crate::entities::fold::fold_name;
use crate::entities::names::forms::{Classes, update_index};
use crate::space::small_map::SmallMap;

/// Minimum cosine of an edge.
const COSINE_MIN: f32 = 0.8;
/// Maximum number of names in a bucket; larger buckets are not compared.
const SHARED_MAX: usize = 32;
/// Number of letters of the prefix by which other spellings of a word are found.
const PREFIX: usize = 5;
/// Maximum number of words of a name that are compared.
const WORDS_MAX: usize = 8;
/// Maximum number of edges reported for one entity.
const EDGES_MAX: usize = 8;
/// Words for the kind of thing that a name denotes.
static GENERIC: Words = LazyLock::new(|| {
    "cafe caf\u{e9} coffee restaurant bar pub bakery hotel hostel park garden gardens trail school clinic hospital \
    centre center club shop store market library museum gallery theatre theater studio gym inc limited company corporation \
    group city town village county street road avenue square festival app project team the of and"
    .split_whitespace()
    .collect()
});
/// Words that distinguish the members of a pair or series.
static OPPOSED: Words = LazyLock::new(|| {
    "north south east west northern southern eastern western upper lower old new big little great small senior \
    junior sr jr left right first second third last early late young elder inner outer central lesser greater i ii iii iv v"
    .split_whitespace()
    .collect()
});

type Words = LazyLock<HashSet<&'static str>>;

/// Entities indexed by words of their names, with the edges between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SynonymIndex {
    known: BTreeMap<String, ComparedEntity>,
    buckets: BTreeMap<String, Classes>,
    edges: BTreeMap<String, SmallMap<String, f32>>,
}

#[derive(Clone, Debug)]
struct ComparedEntity {
    name: String,
    kind: EntityKind,
    words: Vec<String>,
}

impl SynonymIndex {
    /// Records the name and kind of an entity, or its removal, and returns the entities whose edges changed.
    pub(crate) fn set_entity(&mut self, key: &str, now: Option<(&str, EntityKind)>) -> BTreeSet<String> {
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
            for bucket in bucket_keys(&before.words) {
                update_index(&mut self.buckets, bucket.clone(), key, false);
                self.compare_bucket_at_limit(&bucket, SHARED_MAX, &mut changed);
            }
        }
        if let Some((name, kind)) = now {
            let words: Vec<String> = fold_name(name).split(' ').take(WORDS_MAX).map(str::to_owned).collect();
            let mut others = BTreeSet::new();
            let known = ComparedEntity {
                name: name.to_owned(),
                kind,
                words,
            };
            let own = bucket_keys(&known.words);
            self.known.insert(key.to_owned(), known);
            for bucket in own {
                update_index(&mut self.buckets, bucket.clone(), key, true);
                self.compare_bucket_at_limit(&bucket, SHARED_MAX + 1, &mut changed);
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
                self.update_edge(key, &other, &mut changed);
            }
        }
        changed
    }

    /// Returns the edges of an entity, highest cosine first, ties by key.
    pub(crate) fn top_edges(&self, key: &str) -> Vec<(&String, f32)> {
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

    /// Compares the pairs in a bucket again after its size crossed the limit in either direction.
    fn compare_bucket_at_limit(&mut self, bucket: &str, size: usize, changed: &mut BTreeSet<String>) {
        let Some(members) = self.buckets.get(bucket).filter(|it| it.len() == size) else {
            return;
        };
        let members: Vec<String> = members.keys().cloned().collect();
        for (at, one) in members.iter().enumerate() {
            for other in &members[at + 1..] {
                self.update_edge(one, other, changed);
            }
        }
    }

    fn update_edge(&mut self, one: &str, other: &str, changed: &mut BTreeSet<String>) {
        if one == other {
            return;
        }
        let cosine = self.edge_cosine(one, other);
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

    /// Returns the cosine of two names if it makes an edge.
    fn edge_cosine(&self, one: &str, other: &str) -> Option<f32> {
        let (a, b) = (self.known.get(one)?, self.known.get(other)?);
        let few = |it: &String| self.buckets.get(it).is_some_and(|it| it.len() <= SHARED_MAX);
        let theirs = bucket_keys(&b.words);
        let shared = bucket_keys(&a.words).iter().any(|it| theirs.contains(it) && few(it));
        if !shared || !can_be_synonyms(a, b) {
            return None;
        }
        // Computed on demand: few pairs get this far, and a vector takes more memory than all other data about a name.
        let vector = |it: &ComparedEntity| text::EmbeddingTable::builtin().embed_text(&it.name);
        let cosine: f32 = vector(a).iter().zip(&vector(b)).map(|(x, y)| x * y).sum();
        (cosine >= COSINE_MIN).then_some(cosine.min(1.0))
    }
}

/// Returns the words of a name and the prefixes of its long words.
fn bucket_keys(words: &[String]) -> BTreeSet<String> {
    let prefix = |it: &String| (it.chars().count() > PREFIX).then(|| it.chars().take(PREFIX).chain(['*']).collect());
    words.iter().cloned().chain(words.iter().filter_map(prefix)).collect()
}

/// Returns true if two names may denote the same thing; see the module documentation.
fn can_be_synonyms(a: &ComparedEntity, b: &ComparedEntity) -> bool {
    let excludes = |one: EntityKind, other: EntityKind| {
        let person = |it| matches!(it, EntityKind::Person | EntityKind::Speaker);
        person(one) && other == EntityKind::Place || one == EntityKind::Speaker && other == EntityKind::Speaker
    };
    if excludes(a.kind, b.kind) || excludes(b.kind, a.kind) {
        return false;
    }
    let rest = |one: &ComparedEntity, other: &ComparedEntity| -> Vec<String> {
        let lacks = |it: &&String| !other.words.contains(it);
        one.words.iter().filter(lacks).cloned().collect()
    };
    let (mine, yours) = (rest(a, b), rest(b, a));
    let is_distinctive = |it: &String| it.chars().any(char::is_numeric) || OPPOSED.contains(it.as_str());
    if mine.iter().chain(&yours).any(is_distinctive) {
        return false;
    }
    let person = [a.kind, b.kind]
        .iter()
        .any(|it| matches!(it, EntityKind::Person | EntityKind::Speaker));
    let (shorter, extra) = match (mine.is_empty(), yours.is_empty()) {
        (true, true) => return true,
        (true, false) => (a, yours),
        (false, true) => (b, mine),
        (false, false) => return are_spelling_variants(&mine, &yours, person),
    };
    if person {
        extra.len() == 1 && !GENERIC.contains(extra[0].as_str())
    } else {
        shorter.words.len() > 1 && extra.iter().all(|it| GENERIC.contains(it.as_str()))
    }
}

/// Returns true if the differing words are spellings of each other, pairwise in order.
fn are_spelling_variants(one: &[String], other: &[String], person: bool) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(a, b)| short_of(a, b) || short_of(b, a) || !person && is_spelling_variant(a, b))
}

/// Returns true if one word is an initial or a short form of the other ("J", "Univ").
fn short_of(short: &str, long: &str) -> bool {
    let letters = short.chars().count();
    long.starts_with(short) && (letters == 1 || letters >= 3 && long.chars().count() >= letters + 4)
}

/// Returns true if two words differ by one letter inside a long word, or only in number.
fn is_spelling_variant(one: &str, other: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let middle = |it: &[char]| it.len().saturating_sub(head + tail);
    let plural = crate::entities::fold::to_singular(one) == crate::entities::fold::to_singular(other);
    plural || a.len().min(b.len()) >= 5 && head >= 3 && tail >= 1 && middle(&a) <= 1 && middle(&b) <= 1
}
