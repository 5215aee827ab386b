//! REMem's tools (section 3.2). Each returns gists, which say what happened, and facts, which say what is true.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::fact::Fact;
use domain::id::{FactId, UnitId};
use domain::message::{ToolErrorV1, ToolSpecV1};
use domain::port::Search;
use domain::relation::RelationKind;
use host::Backends;
use serde::Deserialize;
use serde_json::{Value, json};
use text::meaning::sparse_vectors;

use super::arguments::{
    LIMIT_MAX, default_limit, limit_schema, parse_arguments, require_in_range, require_text, text_schema, tool_spec,
    unit_schema,
};
use super::compassmem::add_fields;
use super::json_output::float_to_json;
use super::time_filter::{Operator, TimeArguments, TimeFilter, add_time_arguments};
use super::{Look, Outcome, StoreResults, entity_contexts, port_error_to_tool_error};
use crate::service::hits::limit_search_times;
use crate::space::memory::verb_terms;

/// Number of hits that are requested for each wanted gist. A long unit is found once for each of its parts. `FILTERED`
/// is for searches in which some hits are outside of the requested time, or of a scope that does not narrow the search.
/// If the space has gists, twice as many are requested, since a statement may be found as a turn and as a gist.
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
pub(super) enum SearchKind {
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
    #[serde(default = "default_limit")]
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
    #[serde(default = "default_limit")]
    limit: u32,
}

pub(super) fn tool_specs() -> Vec<ToolSpecV1> {
    let query = text_schema("What is sought, in plain words");
    let retrieve = |name, description| {
        let properties = add_time_arguments(json!({"query": query, "limit": limit_schema()}));
        tool_spec(name, description, properties, &["query"])
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
        tool_spec(
            "find_gist_contexts",
            "Returns what belongs with a gist: its event or turns, what tells of the same, what was said around it, its facts and names. Use it to read on.",
            add_time_arguments(json!({"gist_id": unit_schema(), "limit": limit_schema()})),
            &["gist_id"],
        ),
        entity_contexts::tool_spec(),
    ]
}

/// Searches the index directly. A tool that promises words or meaning must not be overruled by the ranking for
/// questions.
pub(super) async fn search_index(
    stores: &Backends,
    look: &Look,
    by: SearchKind,
    arguments: &Value,
) -> Result<StoreResults, ToolErrorV1> {
    let retrieve: Retrieve = parse_arguments(arguments.clone())?;
    let times = retrieve.validate_arguments(look)?;
    let units = look.scope.as_ref().and_then(|it| it.units_to_search());
    let may_find_outside = !times.is_open() || look.scope.is_some() && units.is_none();
    let parts = if may_find_outside { FILTERED } else { PARTS };
    let forms = if look.memory.has_gists() { 2 } else { 1 };
    let mut search = Search {
        limit: retrieve.limit as usize * parts * forms,
        units,
        ..Search::default()
    };
    limit_search_times(&mut search, &look.filter, look.as_of);
    match by {
        SearchKind::Words => search.words = Some(sparse_vectors::stem_vector(&retrieve.query)),
        SearchKind::Meaning => {
            let embedded = stores.embedder.embed_question(&retrieve.query).await;
            search.dense = Some(embedded.map_err(|it| port_error_to_tool_error(&it))?);
        }
    }
    let found = stores
        .index
        .search(&look.space, &search)
        .await
        .map_err(|it| port_error_to_tool_error(&it))?;
    let mut met = BTreeSet::new();
    let hits = found.words.into_iter().chain(found.dense);
    let hits = hits.filter(|it| met.insert(it.unit)).map(|it| (it.unit, it.score));
    Ok(StoreResults {
        hits: hits.collect(),
        ..StoreResults::default()
    })
}

/// Runs `semantic_retrieve` and `lexical_retrieve`. It returns units by score: for each piece of evidence the turn or
/// the gist, whichever is better. It also returns facts that match the query and facts that these units state, in this
/// order for words, and in the reverse order for meaning.
pub(super) fn retrieve_evidence(look: &Look, by: SearchKind, found: StoreResults, arguments: Value) -> Outcome {
    let retrieve: Retrieve = parse_arguments(arguments)?;
    let times = retrieve.validate_arguments(look)?;
    let limit = retrieve.limit as usize;
    let fitting = found.hits.into_iter().filter(|it| look.unit_fits_times(it.0, &times));
    let mut met = BTreeSet::new();
    let distinct = fitting.filter(|it| look.is_new(it.0, &mut met));
    let fitting: Vec<(UnitId, f32)> = distinct.take(limit).collect();
    let gists = fitting.iter().filter_map(|(unit, score)| {
        let mut gist = look.unit_to_json(*unit)?;
        add_fields(&mut gist, json!({"score": float_to_json(*score)}));
        Some(gist)
    });
    let gists: Vec<Value> = gists.collect();
    let stated = fitting.iter().flat_map(|it| look.facts_at(it.0));
    let matching = look.find_matching_facts(&retrieve.query);
    let facts: Vec<Arc<Fact>> = match by {
        SearchKind::Words => matching.into_iter().chain(stated).collect(),
        SearchKind::Meaning => stated.chain(matching).collect(),
    };
    Ok(json!({"gists": gists, "facts": look.facts_to_json(&facts, &times, limit)}))
}

impl Retrieve {
    fn validate_arguments(&self, look: &Look) -> Result<TimeFilter, ToolErrorV1> {
        require_text("query", &self.query, "what is sought")?;
        require_in_range("limit", self.limit, 1, LIMIT_MAX)?;
        let time_arguments = TimeArguments {
            start: self.start_time.as_deref(),
            end: self.end_time.as_deref(),
            start_operator: self.start_operator,
            end_operator: self.end_operator,
        };
        TimeFilter::from_arguments(&time_arguments, look.now)
    }
}

impl Look {
    /// Returns true if none of the units in `met` shows the same evidence in another form, and then adds the unit to
    /// them. A turn is shown by a gist that was read from it, and a gist by the first turns of all of its records.
    fn is_new(&self, unit: UnitId, met: &mut BTreeSet<UnitId>) -> bool {
        let is_gist = self.known_memory().find_gist(unit).is_some();
        let is_met = match is_gist {
            true => self.memory.first_turns_of(unit).all(|it| met.contains(&it)),
            false => self.memory.gists_of(unit).any(|it| met.contains(&it)),
        };
        if !is_met {
            met.insert(unit);
        }
        !is_met
    }

    /// Returns the facts that fit a time as JSON, each once, in the given order.
    fn facts_to_json(&self, facts: &[Arc<Fact>], times: &TimeFilter, limit: usize) -> Vec<Value> {
        let mut met = BTreeSet::new();
        let fitting = facts.iter().filter(|it| times.fit_fact(it) && met.insert(it.id));
        fitting.take(limit).map(|it| self.fact_to_json(it)).collect()
    }

    /// Returns facts that contain stems of a query or are about entities that it names, scored by rarity; best first,
    /// ties by the latest record, then by id.
    fn find_matching_facts(&self, query: &str) -> Vec<Arc<Fact>> {
        let known = self.known_memory();
        let mut scores: BTreeMap<FactId, (f32, Arc<Fact>)> = BTreeMap::new();
        let mut add = |fact: Arc<Fact>, weight: f32| scores.entry(fact.id).or_insert((0.0, fact)).0 += weight;
        let stems = text::stem_words(query);
        let stems = stems.iter().map(|it| sparse_vectors::hash_stem(it));
        let stems: BTreeSet<u32> = stems.chain(verb_terms(query)).collect();
        for stem in stems {
            let weight = 4.0 / (2.0 + known.facts_holding(stem) as f32).ln();
            let facts = known.facts_saying(stem).rev().take(FACTS_OF_STEM);
            facts.for_each(|it| add(it, weight));
        }
        let mut entity_ids = BTreeSet::new();
        let words = text::split_words(query);
        let phrases = (1..=NAME_WORDS).flat_map(|it| words.windows(it));
        for phrase in phrases.map(|it| it.join(" ")).filter(|it| !text::is_stop(it)) {
            for entity in known.entities_called(&phrase) {
                if entity_ids.insert(entity.id) {
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
pub(super) fn gist_contexts(look: &Look, found: StoreResults, arguments: Value) -> Outcome {
    let parsed: GistContexts = parse_arguments(arguments)?;
    require_in_range("limit", parsed.limit, 1, LIMIT_MAX)?;
    look.require_known(parsed.gist_id)?;
    let times = TimeFilter::from_arguments(
        &TimeArguments {
            start: parsed.start_time.as_deref(),
            end: parsed.end_time.as_deref(),
            start_operator: parsed.start_operator,
            end_operator: parsed.end_operator,
        },
        look.now,
    )?;
    let contexts = look.contexts_of_gist(parsed.gist_id, &found);
    let mut met = BTreeSet::new();
    let fitting: Vec<(&str, UnitId)> = contexts
        .into_iter()
        .filter(|(_, it)| met.insert(*it) && look.unit_fits_times(*it, &times))
        .take(parsed.limit as usize)
        .collect();
    let gists = fitting.iter().filter_map(|(how, unit)| {
        let mut gist = look.unit_to_json(*unit)?;
        add_fields(&mut gist, json!({"how": how}));
        Some(gist)
    });
    let gists: Vec<Value> = gists.collect();
    let facts: Vec<Arc<Fact>> = fitting.iter().flat_map(|it| look.facts_at(it.1)).collect();
    let facts = look.facts_to_json(&facts, &times, parsed.limit as usize);
    Ok(json!({"gists": gists, "facts": facts, "phrases": look.names_in_unit(parsed.gist_id)}))
}

impl Look {
    fn contexts_of_gist(&self, gist: UnitId, found: &StoreResults) -> Vec<(&'static str, UnitId)> {
        let known = self.known_memory();
        let mut contexts = vec![("itself", gist)];
        contexts.extend(known.event_of(gist).map(|it| ("holds it", it)));
        let turns = if known.find_gist(gist).is_some() {
            "it was read in"
        } else {
            "part of it"
        };
        contexts.extend(self.memory.first_turns_of(gist).map(|it| (turns, it)));
        contexts.extend(self.memory.gists_of(gist).map(|it| ("read in it", it)));
        let same = found.relations.iter().filter(|it| it.kind == RelationKind::SameAs);
        contexts.extend(same.flat_map(|it| [("tells of the same", it.source), ("tells of the same", it.target)]));
        for merge in known.merged_into(gist) {
            contexts.push(("tells of the same", UnitId::from_uuid(merge.merged)));
        }
        if let Some(place) = self.view.position_of_unit(gist) {
            let session = &self.view.session_ranges()[self.view.session_of(place)];
            let near = place.saturating_sub(BESIDE).max(session.start)..(place + BESIDE + 1).min(session.end);
            contexts.extend(near.map(|it| ("beside it", self.view.turns()[it].unit.id)));
        }
        contexts
    }

    /// Returns the names in a unit: entities, and names without an entity.
    fn names_in_unit(&self, unit: UnitId) -> Vec<Value> {
        let known = self.known_memory();
        let turn = self.view.position_of_unit(unit).map(|it| &self.view.turns()[it].unit);
        let names: Vec<&str> = match (turn, known.find_gist(unit)) {
            (Some(turn), _) => std::iter::once(&*turn.actor).chain(turn.participants()).collect(),
            (None, Some(gist)) => {
                let names = std::iter::once(&gist.actor).chain(&gist.participants);
                names.map(String::as_str).collect()
            }
            (None, None) => {
                let names = known.find_event(unit).into_iter().flat_map(|it| &it.participants);
                names.map(String::as_str).collect()
            }
        };
        let mut met = BTreeSet::new();
        let names = names.into_iter().filter(|it| !it.is_empty() && met.insert(*it));
        let entries = names.map(|name| match known.entities_called(name).first() {
            // The name of the entity may come from outside of the scope.
            Some(entity) if known.scope().is_some() => json!({"name": name, "entity": entity.id, "kind": entity.kind}),
            Some(entity) => json!({"name": entity.name, "entity": entity.id, "kind": entity.kind}),
            None => json!({"name": name}),
        });
        entries.take(LIMIT_MAX as usize).collect()
    }
}
