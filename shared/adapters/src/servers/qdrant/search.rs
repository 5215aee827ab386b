use domain::id::{SpaceId, UnitId};
use domain::port::{Hit, Result, Search, SearchResult, Sparse};
use domain::{ErrorKind, PortError};
use qdrant_client::qdrant::{
    Condition, Filter, IdfParamsBuilder, Query, QueryBatchPointsBuilder, QueryPoints, QueryPointsBuilder, Range,
    SearchParamsBuilder, VectorInput,
};

use super::marker::Marker;
use super::points::{generation_filter, hit_from_point, identity_selector, marker_id};
use super::{QdrantIndex, ROUNDS_MAX, schema};
use crate::store_rules::index_points::check_search;

const OPERATION: &str = "index.search";
/// Number of hits requested beyond the limit. Among equal scores the server chooses arbitrarily. The hits are sorted
/// here, so the cut is correct if the server returned all hits with the last score.
const SPARE: usize = 32;
/// Number of hits requested beyond the limit in the second attempt, when there were more equal scores. If there are
/// even more, the choice among them is arbitrary.
const SPARE_MAX: usize = 1_024;

/// A channel to search.
struct Channel {
    using: &'static str,
    query: Query,
    sparse: bool,
}

impl QdrantIndex {
    /// Searches all channels, usually in one round trip.
    pub(super) async fn search_channels(&self, space: &SpaceId, search: &Search) -> Result<SearchResult> {
        let channels = self.channels_of_search(search)?;
        if search.limit == 0 || channels.is_empty() {
            return Ok(SearchResult::default());
        }
        for _ in 0..ROUNDS_MAX {
            let shown = match self.markers.shown_generation(space) {
                Some(shown) => shown,
                None => match self.read_marker(OPERATION, space).await? {
                    Some(marker) => marker.shown,
                    None => return Ok(SearchResult::default()),
                },
            };
            if let Some(found) = self.search_generation(space, search, shown, &channels).await? {
                return Ok(found);
            }
        }
        let detail = "the space is rebuilt faster than it can be searched";
        Err(PortError::new(OPERATION, ErrorKind::Unavailable, detail))
    }

    /// Searches one generation. Returns `None` if another one is shown.
    async fn search_generation(
        &self,
        space: &SpaceId,
        search: &Search,
        shown: i64,
        channels: &[Channel],
    ) -> Result<Option<SearchResult>> {
        let mut result = SearchResult::default();
        let mut open: Vec<&Channel> = channels.iter().collect();
        for spare in [SPARE, SPARE_MAX] {
            let limit = search.limit.saturating_add(spare);
            let queries = open
                .iter()
                .map(|it| self.channel_query(space, search, shown, it, limit));
            let (marker, found) = self.send_queries(space, queries.collect()).await?;
            self.markers.remember_marker(space, marker.as_ref());
            match marker {
                None => return Ok(Some(SearchResult::default())),
                Some(marker) if marker.shown != shown => return Ok(None),
                Some(_) => {}
            }
            let mut cut_short = Vec::new();
            for (channel, mut hits) in open.into_iter().zip(found) {
                hits.sort_unstable_by(|a, b| {
                    b.score
                        .total_cmp(&a.score)
                        .then_with(|| (a.unit, a.part).cmp(&(b.unit, b.part)))
                });
                if hits.len() >= limit && hits.last().map(|it| it.score) == Some(hits[search.limit - 1].score) {
                    cut_short.push(channel);
                }
                hits.truncate(search.limit);
                match channel.using {
                    schema::DENSE => result.dense = hits,
                    schema::WORDS => result.words = hits,
                    _ => result.pieces = hits,
                }
            }
            open = cut_short;
            if open.is_empty() {
                break;
            }
        }
        Ok(Some(result))
    }

    /// Sends the queries and a query for the marker as one batch.
    async fn send_queries(
        &self,
        space: &SpaceId,
        mut queries: Vec<QueryPoints>,
    ) -> Result<(Option<Marker>, Vec<Vec<Hit>>)> {
        let wanted = queries.len();
        let marker = QueryPointsBuilder::new(&self.collection)
            .filter(Filter::must([Condition::has_id([marker_id(space).to_string()])]))
            .limit(1)
            .with_payload(true);
        queries.push(marker.build());
        let request = QueryBatchPointsBuilder::new(&self.collection, queries).build();
        let mut found = self.client.query_points(OPERATION, &request).await?.result;
        let marker = found.pop().filter(|_| found.len() == wanted);
        let marker = marker.ok_or_else(|| PortError::new(OPERATION, ErrorKind::Internal, "answers are missing"))?;
        let marker = marker
            .result
            .first()
            .map(|it| Marker::from_payload(OPERATION, &it.payload))
            .transpose()?;
        let hits = found
            .iter()
            .map(|it| it.result.iter().map(|it| hit_from_point(OPERATION, it)).collect());
        Ok((marker, hits.collect::<Result<_>>()?))
    }

    fn channel_query(
        &self,
        space: &SpaceId,
        search: &Search,
        shown: i64,
        channel: &Channel,
        limit: usize,
    ) -> QueryPoints {
        let corpus = generation_filter(space, shown);
        let mut accepted = corpus.clone();
        if search.from.is_some() || search.until.is_some() {
            let range = Range {
                gte: search.from.map(|it| it as f64),
                lt: search.until.map(|it| it as f64),
                ..Range::default()
            };
            accepted.must.push(Condition::range(schema::OBSERVED_AT, range));
        }
        if let Some(units) = &search.units {
            let units: Vec<String> = units.iter().map(UnitId::to_string).collect();
            accepted.must.push(Condition::matches(schema::UNIT, units));
        }
        let mut params = SearchParamsBuilder::default().exact(self.exact);
        if channel.sparse {
            params = params.idf(IdfParamsBuilder::default().corpus(corpus));
        }
        QueryPointsBuilder::new(&self.collection)
            .query(channel.query.clone())
            .using(channel.using)
            .filter(accepted)
            .params(params)
            .limit(u64::try_from(limit).unwrap_or(u64::MAX))
            .with_payload(identity_selector())
            .build()
    }

    /// Returns the channels that can find something.
    fn channels_of_search(&self, search: &Search) -> Result<Vec<Channel>> {
        check_search(OPERATION, search, self.dimension)?;
        let mut channels = Vec::new();
        let dense = search.dense.as_ref();
        if let Some(query) = dense.filter(|it| it.iter().any(|number| *number != 0.0)) {
            channels.push(Channel {
                using: schema::DENSE,
                query: Query::new_nearest(VectorInput::new_dense(query.clone())),
                sparse: false,
            });
        }
        for (using, query) in [(schema::WORDS, &search.words), (schema::PIECES, &search.pieces)] {
            if let Some(terms) = query.as_ref().filter(|it| !it.is_empty()) {
                channels.push(Channel {
                    using,
                    query: nearest_query(terms),
                    sparse: true,
                });
            }
        }
        Ok(channels)
    }
}

fn nearest_query(terms: &Sparse) -> Query {
    let (indices, values): (Vec<u32>, Vec<f32>) = terms.iter().copied().unzip();
    Query::new_nearest(VectorInput::new_sparse(indices, values))
}
