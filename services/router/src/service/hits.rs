//! Searches index and graph for a question.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use domain::PortError;
use domain::id::UnitId;
use domain::message::{QueryFilter, RouteV1};
use domain::port::{Hit, Search, SearchResult};

use super::{Lag, Log, Part, Router};
use crate::route::propose;
use crate::route::query::Query;
use crate::route::scoring::edges::Related;
use crate::route::similarity::encoder_similarity::Encoded;
use crate::service::view_cache::SpaceSnapshot;
use crate::space::scope::Scope;
use crate::space::view::View;

/// Number of the best hits of each list whose relations are read, and maximum number of relations for each grain.
const RELATED: usize = 20;
const RELATIONS_MAX: usize = 200;

/// Hits of the index, best first.
pub(crate) struct Hits {
    /// Hits of turns.
    pub(crate) turns: SearchResult,
    /// Hits of gists; empty for a space without gists.
    pub(crate) gists: SearchResult,
}

impl Hits {
    fn iter_hits(&self) -> impl Iterator<Item = &Hit> {
        let lists = [&self.turns, &self.gists].map(|it| [&it.pieces, &it.words, &it.dense]);
        lists.into_iter().flatten().flatten()
    }
}

impl Router {
    /// Searches the index for a question, and stores the hits of a sentence encoder in the question. If the index or
    /// the embedder fails, it does the rest. In a space with gists it requests twice as many hits, so that gists do not
    /// displace turns.
    pub(crate) async fn search_index(
        &self,
        request: &RouteV1,
        snapshot: &SpaceSnapshot,
        scope: Option<&Scope>,
        query: &mut Query,
        log: &mut Log,
    ) -> Hits {
        let embedder = &self.backends.embedder;
        let question_text = match embedder.reads_sentences() {
            true => &request.question,
            false => &query.anchors.bare,
        };
        let dense = match embedder.embed_question(question_text).await {
            Ok(vector) => Some(vector),
            Err(error) => {
                log.add_degradation(Part::Embedder, &error);
                None
            }
        };
        let mut search = Search {
            dense,
            words: Some(propose::search_terms(query)),
            pieces: Some(query.searched.clone()),
            limit: self.config.hits * if snapshot.has_gists() { 2 } else { 1 },
            units: scope.and_then(Scope::units_to_search),
            ..Search::default()
        };
        limit_search_times(&mut search, &request.filter, request.as_of.map(|it| it.to_utc()));
        let found = match self.backends.index.search(&request.space, &search).await {
            Ok(found) => found,
            Err(error) => {
                log.add_degradation(Part::Index, &error);
                SearchResult::default()
            }
        };
        let hits = self.split_by_grain(snapshot, found);
        self.note_encoded(&snapshot.view, query, &hits.turns);
        hits
    }

    /// Stores the hits of a sentence encoder in a question, if there is an encoder.
    pub(super) fn note_encoded(&self, view: &View, query: &mut Query, found: &SearchResult) {
        if self.backends.embedder.reads_sentences() {
            query.encoded = Encoded::from_hits(view, &found.dense);
        }
    }

    /// Returns the hits of turns and of gists separately, each with as many hits as a space with turns only would get.
    fn split_by_grain(&self, snapshot: &SpaceSnapshot, found: SearchResult) -> Hits {
        if !snapshot.has_gists() {
            return Hits {
                turns: found,
                gists: SearchResult::default(),
            };
        }
        let within = |view: &View, hits: &[Hit]| {
            let own = hits.iter().filter(|it| view.position_of_unit(it.unit).is_some());
            own.take(self.config.hits).copied().collect()
        };
        let of = |view: &View| SearchResult {
            dense: within(view, &found.dense),
            words: within(view, &found.words),
            pieces: within(view, &found.pieces),
        };
        Hits {
            turns: of(&snapshot.view),
            gists: of(&snapshot.gists),
        }
    }

    /// Returns the relations of the best hits.
    pub(super) async fn read_relations(&self, request: &RouteV1, found: &[&SearchResult], log: &mut Log) -> Related {
        let best = found
            .iter()
            .flat_map(|it| [&it.pieces, &it.words, &it.dense])
            .flat_map(|it| it.iter().take(RELATED));
        let units: Vec<UnitId> = best.map(|it| it.unit).collect::<BTreeSet<_>>().into_iter().collect();
        if units.is_empty() {
            return Related::new();
        }
        let most = RELATIONS_MAX * found.len();
        match self.backends.graph.relations(&request.space, &units, most).await {
            Ok(relations) => relations.into_iter().map(|it| (it.source, it.target)).collect(),
            Err(error) => {
                log.add_degradation(Part::Graph, &error);
                Related::new()
            }
        }
    }
}

/// Limits a search to the times of a filter, and to what was observed by `as_of`. The second that contains the end is
/// searched too; the caller compares the exact moment.
pub(crate) fn limit_search_times(search: &mut Search, filter: &QueryFilter, as_of: Option<DateTime<Utc>>) {
    let until = as_of.into_iter().chain(filter.until.map(|it| it.to_utc())).min();
    search.from = filter.from.map(|it| it.timestamp());
    search.until = until.map(|it| it.timestamp().saturating_add(1));
}

/// Returns the found units that the index still holds. Of an earlier state of a space, only the index shows that a unit
/// or the whole space was erased since. If the stores are unavailable and the index holds none of them, the question
/// fails with their error.
pub(super) fn still_there(
    lag: Lag,
    snapshot: &SpaceSnapshot,
    found: &Hits,
    log: &mut Log,
) -> Result<BTreeSet<UnitId>, PortError> {
    let is_kept =
        |it: &UnitId| snapshot.view.position_of_unit(*it).is_some() || snapshot.gists.position_of_unit(*it).is_some();
    let there: BTreeSet<UnitId> = found.iter_hits().map(|it| it.unit).filter(is_kept).collect();
    match lag {
        Lag::Away(error) if there.is_empty() => return Err(error),
        Lag::Away(error) => log.add_degradation(Part::Graph, &error),
        Lag::Behind => log.add_lag(),
    }
    Ok(there)
}
