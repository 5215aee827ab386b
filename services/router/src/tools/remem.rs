//! REMem's tools (section 3.2). Each returns gists, which say what happened, and facts, which say what is true.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::fact::Fact;
use domain::id::{FactId, SpaceId, UnitId};
use domain::message::{ToolErrorV1, ToolSpecV1};
use domain::port::Search;
use domain::relation::RelationKind;
use host::Backends;
use serde::Deserialize;
use serde_json::{Value, json};
use text::sparse;

use super::arguments::{LIMIT_MAX, bounded, limit_schema, read, said, spec, ten, text_schema, unit_schema};
use super::compassmem::merge;
use super::shown::figure;
use super::times::{Asked, Operator, Times, schema};
use super::{Found, Look, Outcome, entity_contexts, failed};
use crate::memory::verb_terms;

/// Number of hits that are requested for each wanted gist. A long unit is found once for each of its parts, and with
/// `FILTERED` some hits are outside of the requested time. If the space has gists, twice as many are requested, since a
/// statement may be found as a turn and as a gist.
const PARTS: usize = 4;
const FILTERED: usize = 16;
/// Maximum number of facts of one stem, latest first.
const FACTS_OF_STEM: usize = 2_000;
/// A fact is returned if its score is at least this share of the best one.
const FACTS_LEAST: f32 = 0.5;
/// Maximum length in words of a name in a query.
const NAME_WORDS: usize = 3;
/// Number of turns before and after a gist.
const BESIDE: usize = 2;

/// The kind of search of a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Words,
    Meaning,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Retrieve {
    query: String,
    #[serde(default)]
    start_time: Option<String>,
    #[serde(default)]
    end_time: Option<String>,
    #[serde(default)]
    start_operator: Option<Operator>,
    #[serde(default)]
    end_operator: Option<Operator>,
    #[serde(default = "ten")]
    limit: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GistContexts {
    #[serde(alias = "unit", alias = "event")]
    gist_id: UnitId,
    #[serde(default)]
    start_time: Option<String>,
    #[serde(default)]
    end_time: Option<String>,
    #[serde(default)]
    start_operator: Option<Operator>,
    #[serde(default)]
    end_operator: Option<Operator>,
    #[serde(default = "ten")]
    limit: u32,
}

pub(super) fn specs() -> Vec<ToolSpecV1> {
    let query = text_schema("What is sought, in plain words");
    let retrieve = |name, description| {
        let properties = schema(json!({"query": query, "limit": limit_schema()}));
        spec(name, description, properties, &["query"])
    };
    vec![
        retrieve(
            "semantic_retrieve",
            "Finds gists near in meaning to the query, best first, and facts that go with them. Use it when the wording is not known.",
        ),
        retrieve(
            "lexical_retrieve",
            "Finds gists and facts that share words with the query, best first. Use it for names, numbers and exact wording.",
        ),
        spec(
            "find_gist_contexts",
            "Returns what belongs with a gist: its event or turns, what tells of the same, what was said around it, its facts and names. Use it to read on.",
            schema(json!({"gist_id": unit_schema(), "limit": limit_schema()})),
            &["gist_id"],
        ),
        entity_contexts::spec(),
    ]
}

/// Searches the index directly. A tool that promises words or meaning must not be overruled by the ranking for
/// questions.
pub(super) async fn search(
    stores: &Backends,
    space: &SpaceId,
    look: &Look,
    (by, arguments): (By, &Value),
) -> Result<Found, ToolErrorV1> {
    let asked: Retrieve = read(arguments.clone())?;
    let times = asked.checked(look)?;
    let parts = if times.is_open() { PARTS } else { FILTERED };
    let forms = if look.memory.has_gists() { 2 } else { 1 };
    let mut search = Search {
        limit: asked.limit as usize * parts * forms,
        until: look.as_of.map(|it| it.timestamp().saturating_add(1)),
        units: look.scope.as_ref().and_then(|it| it.searched()),
        ..Search::default()
    };
    match by {
        By::Words => search.words = Some(sparse::words(&asked.query)),
        By::Meaning => {
            let embedded = stores.embedder.embed_question(&asked.query).await;
            search.dense = Some(embedded.map_err(|it| failed(&it))?);
        }
    }
    let found = stores.index.search(space, &search).await.map_err(|it| failed(&it))?;
    let mut met = BTreeSet::new();
    let hits = found.words.into_iter().chain(found.dense);
    let hits = hits.filter(|it| met.insert(it.unit)).map(|it| (it.unit, it.score));
    Ok(Found {
        hits: hits.collect(),
        ..Found::default()
    })
}

/// Runs `semantic_retrieve` and `lexical_retrieve`. It returns units by score: for each piece of evidence the turn or
/// the gist, whichever is better. It also returns facts that match the query and facts that these units state, in this
/// order for words, and in the reverse order for meaning.
pub(super) fn retrieved(look: &Look, by: By, found: Found, arguments: Value) -> Outcome {
    let asked: Retrieve = read(arguments)?;
    let times = asked.checked(look)?;
    let limit = asked.limit as usize;
    let fitting = found.hits.into_iter().filter(|it| look.fits(it.0, &times));
    let mut met = BTreeSet::new();
    let distinct = fitting.filter(|it| look.is_new(it.0, &mut met));
    let fitting: Vec<(UnitId, f32)> = distinct.take(limit).collect();
    let gists = fitting.iter().filter_map(|(unit, score)| {
        let mut gist = look.gist(*unit)?;
        merge(&mut gist, json!({"score": figure(*score)}));
        Some(gist)
    });
    let gists: Vec<Value> = gists.collect();
    let stated = fitting.iter().flat_map(|it| look.facts_at(it.0));
    let matching = look.matching(&asked.query);
    let facts: Vec<Arc<Fact>> = match by {
        By::Words => matching.into_iter().chain(stated).collect(),
        By::Meaning => stated.chain(matching).collect(),
    };
    Ok(json!({"gists": gists, "facts": look.facts(&facts, &times, limit)}))
}

impl Retrieve {
    fn checked(&self, look: &Look) -> Result<Times, ToolErrorV1> {
        said("query", &self.query, "what is sought")?;
        bounded("limit", self.limit, 1, LIMIT_MAX)?;
        let asked = Asked {
            start: self.start_time.as_deref(),
            end: self.end_time.as_deref(),
            start_operator: self.start_operator,
            end_operator: self.end_operator,
        };
        Times::read(&asked, look.now)
    }
}

impl Look {
    /// Returns true if none of the units in `met` shows the same evidence in another form, and then adds the unit to
    /// them. A turn is shown by a gist that was read in it, and a gist by all of its turns.
    fn is_new(&self, unit: UnitId, met: &mut BTreeSet<UnitId>) -> bool {
        let is_gist = self.known().gist(unit).is_some();
        let is_met = match is_gist {
            true => self.memory.turns_of(unit).all(|it| met.contains(&it)),
            false => self.memory.gists_of(unit).any(|it| met.contains(&it)),
        };
        if !is_met {
            met.insert(unit);
        }
        !is_met
    }

    /// Returns the facts that fit a time as JSON, each once, in the given order.
    fn facts(&self, facts: &[Arc<Fact>], times: &Times, limit: usize) -> Vec<Value> {
        let mut met = BTreeSet::new();
        let fitting = facts.iter().filter(|it| times.fit_fact(it) && met.insert(it.id));
        fitting.take(limit).map(|it| self.fact(it)).collect()
    }

    /// Returns facts that contain stems of a query or are about entities that it names, scored by rarity; best first,
    /// ties by the latest record, then by id.
    fn matching(&self, query: &str) -> Vec<Arc<Fact>> {
        let known = self.known();
        let mut scores: BTreeMap<FactId, (f32, Arc<Fact>)> = BTreeMap::new();
        let mut add = |fact: Arc<Fact>, weight: f32| scores.entry(fact.id).or_insert((0.0, fact)).0 += weight;
        let stems = text::stems(query);
        let stems = stems.iter().map(|it| sparse::hash(it));
        let stems: BTreeSet<u32> = stems.chain(verb_terms(query)).collect();
        for stem in stems {
            let weight = 4.0 / (2.0 + known.facts_holding(stem) as f32).ln();
            let facts = known.facts_saying(stem).rev().take(FACTS_OF_STEM);
            facts.for_each(|it| add(it, weight));
        }
        let mut named = BTreeSet::new();
        let words = text::words(query);
        let phrases = (1..=NAME_WORDS).flat_map(|it| words.windows(it));
        for phrase in phrases.map(|it| it.join(" ")).filter(|it| !text::is_stop(it)) {
            for entity in known.called(&phrase) {
                if named.insert(entity.id) {
                    known
                        .facts_of(entity.id)
                        .rev()
                        .take(FACTS_OF_STEM)
                        .for_each(|it| add(it, 1.0));
                }
            }
        }
        let mut all: Vec<(f32, Arc<Fact>)> = scores.into_values().collect();
        all.sort_by(|a, b| {
            b.0.total_cmp(&a.0)
                .then(b.1.recorded_at.cmp(&a.1.recorded_at))
                .then(a.1.id.cmp(&b.1.id))
        });
        let least = all.first().map_or(0.0, |it| it.0 * FACTS_LEAST);
        all.into_iter().take_while(|it| it.0 >= least).map(|it| it.1).collect()
    }
}

/// Runs `find_gist_contexts`: the gist itself, then the units that belong with it and how, with the facts of all of
/// them.
pub(super) fn gist_contexts(look: &Look, found: Found, arguments: Value) -> Outcome {
    let asked: GistContexts = read(arguments)?;
    bounded("limit", asked.limit, 1, LIMIT_MAX)?;
    look.require_known(asked.gist_id)?;
    let times = Times::read(
        &Asked {
            start: asked.start_time.as_deref(),
            end: asked.end_time.as_deref(),
            start_operator: asked.start_operator,
            end_operator: asked.end_operator,
        },
        look.now,
    )?;
    let contexts = look.contexts(asked.gist_id, &found);
    let mut met = BTreeSet::new();
    let fitting: Vec<(&str, UnitId)> = contexts
        .into_iter()
        .filter(|(_, it)| met.insert(*it) && look.fits(*it, &times))
        .take(asked.limit as usize)
        .collect();
    let gists = fitting.iter().filter_map(|(how, unit)| {
        let mut gist = look.gist(*unit)?;
        merge(&mut gist, json!({"how": how}));
        Some(gist)
    });
    let gists: Vec<Value> = gists.collect();
    let facts: Vec<Arc<Fact>> = fitting.iter().flat_map(|it| look.facts_at(it.1)).collect();
    let facts = look.facts(&facts, &times, asked.limit as usize);
    Ok(json!({"gists": gists, "facts": facts, "phrases": look.phrases(asked.gist_id)}))
}

impl Look {
    fn contexts(&self, gist: UnitId, found: &Found) -> Vec<(&'static str, UnitId)> {
        let known = self.known();
        let mut contexts = vec![("itself", gist)];
        contexts.extend(known.event_of(gist).map(|it| ("holds it", it)));
        let turns = if known.gist(gist).is_some() {
            "it was read in"
        } else {
            "part of it"
        };
        contexts.extend(self.memory.turns_of(gist).map(|it| (turns, it)));
        contexts.extend(self.memory.gists_of(gist).map(|it| ("read in it", it)));
        let same = found.relations.iter().filter(|it| it.kind == RelationKind::SameAs);
        contexts.extend(same.flat_map(|it| [("tells of the same", it.source), ("tells of the same", it.target)]));
        for merge in known.merged_into(gist) {
            contexts.push(("tells of the same", UnitId::from_uuid(merge.merged)));
        }
        if let Some(place) = self.view.place(gist) {
            let session = &self.view.sessions()[self.view.session_of(place)];
            let near = place.saturating_sub(BESIDE).max(session.start)..(place + BESIDE + 1).min(session.end);
            contexts.extend(near.map(|it| ("beside it", self.view.turns()[it].unit.id)));
        }
        contexts
    }

    /// Returns the names in a unit: entities, and names without an entity.
    fn phrases(&self, unit: UnitId) -> Vec<Value> {
        let known = self.known();
        let turn = self.view.place(unit).map(|it| &self.view.turns()[it].unit);
        let names: Vec<&String> = match (turn, known.gist(unit)) {
            (Some(turn), _) => std::iter::once(&turn.actor).chain(&turn.participants).collect(),
            (None, Some(gist)) => std::iter::once(&gist.actor).chain(&gist.participants).collect(),
            (None, None) => known.event(unit).into_iter().flat_map(|it| &it.participants).collect(),
        };
        let mut met = BTreeSet::new();
        let names = names.into_iter().filter(|it| !it.is_empty() && met.insert(*it));
        let told = names.map(|name| match known.called(name).first() {
            // The name of the entity may come from outside of the scope.
            Some(entity) if known.scope().is_some() => json!({"name": name, "entity": entity.id, "kind": entity.kind}),
            Some(entity) => json!({"name": entity.name, "entity": entity.id, "kind": entity.kind}),
            None => json!({"name": name}),
        });
        told.take(LIMIT_MAX as usize).collect()
    }
}
