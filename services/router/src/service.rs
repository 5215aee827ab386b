pub(crate) mod hits;
pub(crate) mod view_cache;

use std::convert::Infallible;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::code::DegradedCode;
use domain::id::SpaceId;
use domain::message::{RouteV1, RoutedV1};
use domain::port::{SearchResult, SpaceInfo};
use domain::{Classify, ErrorKind, PortError};
use host::{Backends, Expected};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use tracing::{Instrument, info_span, warn};

use self::hits::still_there;
use crate::error::{Error, is_unavailable, to_port_error};
use crate::route;
use crate::route::bonuses::fact_sources::{sources_of_requested_facts, turns_of_standing_instructions};
use crate::route::query::Query;
use crate::route::scoring::edges::Related;
use crate::route::scoring::heads::Weights;
use crate::route::{RouteInput, Searched};
use crate::service::view_cache::{SpaceSnapshot, Spaces};
use crate::space::scope::Scope;

/// Maximum number of bytes of a question that are read.
const QUESTION_MAX: usize = 20_000;
/// Limits of the values in a request.
const TOKENS_MAX: u32 = 100_000;
const LISTED_MAX: u32 = 200;
const RANKED_MAX: u32 = route::FULL as u32;
const FOCUS_MAX: usize = 200;

/// Longest time that a question waits for the latest writes. It applies if the space was read before and the question
/// does not require them. A question with less than twice this time left waits for half of what is left.
const PATIENCE: Duration = Duration::from_secs(1);

/// Settings of the router.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Megabytes of memory for the views of spaces.
    pub cache_mb: usize,
    /// Number of questions that are routed at the same time; others wait.
    pub in_flight: usize,
    /// Number of hits that are requested from each channel of the index.
    pub hits: usize,
    /// File with the weights of the heads, as `mnemic-train` writes it. If it is empty, the built-in weights are used.
    pub weights: PathBuf,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            cache_mb: 1_024,
            in_flight: 32,
            hits: 300,
            weights: PathBuf::new(),
        }
    }
}

/// Answers questions from the stores. It caches the views of spaces between questions.
pub struct Router {
    backends: Backends,
    config: Config,
    spaces: Spaces,
    weights: Arc<Weights>,
}

/// A part that may fail without failing the question.
#[derive(Clone, Copy, Debug)]
enum Part {
    Embedder,
    Index,
    Graph,
}

/// Why the state of a space is an earlier one.
#[derive(Debug)]
enum Lag {
    /// The stores are unavailable.
    Away(PortError),
    /// The latest writes are still being read.
    Behind,
}

/// The steps and degradations of a request.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) steps: Vec<(String, f32)>,
    pub(crate) degraded: Vec<String>,
    /// The codes of the entries of `degraded`, in their order.
    pub(crate) degraded_codes: Vec<DegradedCode>,
}

impl Router {
    /// Makes a router over these stores.
    ///
    /// # Errors
    /// Fails if the weights cannot be read or do not fit the features of this build.
    pub fn new(backends: Backends, config: Config) -> Result<Router, Error> {
        let weights = if config.weights.as_os_str().is_empty() {
            let builtin = match backends.embedder.reads_sentences() {
                true => Weights::builtin_for_encoder(),
                false => Weights::builtin(),
            };
            builtin.map_err(Clone::clone)?.clone()
        } else {
            Weights::from_file(&config.weights)?
        };
        let spaces = Spaces::new(config.cache_mb.saturating_mul(1 << 20));
        Ok(Router {
            backends,
            config,
            spaces,
            weights: Arc::new(weights),
        })
    }

    /// Reads spaces in advance, so that the first question finds them in the cache; never returns. `ready` is set after
    /// the first check of all spaces.
    pub async fn read_ahead(&self, ready: &Expected) -> Infallible {
        self.spaces.read_ahead(&self.backends, ready).await
    }

    /// Routes one question: updates the view, reads the question, searches the index, ranks and packs.
    ///
    /// # Errors
    /// `NotFound` if the space does not exist; the error of a store that failed. If the index or the embedder fails,
    /// the result is only degraded. The same applies to the graph if the space is still cached, and to a question that
    /// would wait long for the latest writes; then only units that the index still holds may be evidence.
    pub async fn route_question(&self, mut request: RouteV1) -> Result<RoutedV1, Error> {
        limit_request(&mut request);
        let mut log = Log::default();
        let start = Instant::now();
        let (snapshot, lag) = self.snapshot_or_earlier(&request).await?;
        let with_gists = request.gists && snapshot.has_gists();
        resolve_units(&snapshot, with_gists, &mut request);
        log.add_step("sync", start);
        let start = Instant::now();
        let reading = self.read_question(&snapshot, &request, with_gists);
        let ReadQuestion {
            mut turns,
            mut gists,
            scope,
        } = reading.instrument(info_span!("read")).await?;
        let as_of = request.as_of.map(|it| it.to_utc());
        focus_on_facts(&snapshot, scope.as_ref(), &turns, &mut request);
        log.add_step("read", start);
        let start = Instant::now();
        let found = self
            .search_index(&request, &snapshot, scope.as_ref(), &mut turns, &mut log)
            .instrument(info_span!("search"))
            .await;
        if let Some(gists) = &mut gists {
            self.note_encoded(&snapshot.gists, gists, &found.gists);
        }
        let only = lag.map(|it| still_there(it, &snapshot, &found, &mut log)).transpose()?;
        let related = match only {
            Some(_) => Related::new(),
            None => {
                let of_gists = gists.is_some().then_some(&found.gists);
                let hits: Vec<&SearchResult> = std::iter::once(&found.turns).chain(of_gists).collect();
                let related = self.read_relations(&request, &hits, &mut log);
                related.instrument(info_span!("relations")).await
            }
        };
        log.add_step("search", start);
        let start = Instant::now();
        let (weights, space) = (Arc::clone(&self.weights), snapshot.clone());
        let ranked = tokio::task::spawn_blocking(move || {
            let input = RouteInput {
                request: &request,
                turns: Searched {
                    view: &space.view,
                    query: &turns,
                    found: &found.turns,
                },
                gists: gists.as_ref().map(|query| Searched {
                    view: &space.gists,
                    query,
                    found: &found.gists,
                }),
                related: &related,
                only: only.as_ref(),
                scope: scope.as_ref(),
            };
            input.route_question(&weights)
        });
        let mut routed = ranked.instrument(info_span!("rank")).await.map_err(to_port_error)?;
        let known = snapshot.memory.known_at(as_of);
        for ranked in &mut routed.ranked {
            ranked.topic = known.find_topic_member(ranked.unit).map(|it| it.topic);
        }
        log.add_step("rank", start);
        (routed.steps, routed.degraded) = (log.steps, log.degraded);
        routed.degraded_codes = log.degraded_codes;
        Ok(routed)
    }

    /// Returns the present state of a space.
    ///
    /// # Errors
    /// `NotFound` if the space does not exist; the error of a store that failed.
    pub(crate) async fn read_space(&self, space: &SpaceId) -> Result<SpaceSnapshot, Error> {
        let info = self.space_info(space).await?;
        self.spaces.read_space(&self.backends, &info).await
    }

    async fn space_info(&self, space: &SpaceId) -> Result<SpaceInfo, Error> {
        let info = self.backends.records.space(space).await?;
        info.ok_or_else(|| {
            self.spaces.forget_space(space);
            Error::NoSpace(space.to_string())
        })
    }

    /// Returns the present state of the space of a request. If the stores are unavailable, or if reading the latest
    /// writes takes long and the request does not need them, returns an earlier state and what it lacks. An earlier
    /// state lacks acts, for example that a unit was forgotten, only if even their number cannot be read.
    async fn snapshot_or_earlier(&self, request: &RouteV1) -> Result<(SpaceSnapshot, Option<Lag>), Error> {
        let (error, earlier) = match self.space_info(&request.space).await {
            Ok(info) => match self.read_in_time(&info, request.current).await {
                Ok(read) => return Ok(read),
                Err(Error::Port(error)) if is_unavailable(&error) => (error, self.spaces.earlier_space(&info).await),
                Err(error) => return Err(error),
            },
            Err(Error::Port(error)) if is_unavailable(&error) => {
                (error, self.spaces.cached_space(&request.space).await)
            }
            Err(error) => return Err(error),
        };
        match earlier {
            Some(snapshot) => Ok((snapshot, Some(Lag::Away(error)))),
            None => Err(error.into()),
        }
    }

    /// Returns the present state of a space. If it need not be `current`, returns an earlier state if there is one and
    /// reading takes too long.
    async fn read_in_time(&self, info: &SpaceInfo, current: bool) -> Result<(SpaceSnapshot, Option<Lag>), Error> {
        let mut reading = pin!(self.spaces.read_space(&self.backends, info));
        if !current {
            if let Ok(read) = timeout(patience(host::time_until_deadline()), &mut reading).await {
                return Ok((read?, None));
            }
            if let Some(earlier) = self.spaces.earlier_space(info).await {
                return Ok((earlier, Some(Lag::Behind)));
            }
        }
        Ok((reading.await?, None))
    }

    /// Returns the weights of the heads.
    pub(crate) fn weights(&self) -> &Arc<Weights> {
        &self.weights
    }

    /// Returns the stores.
    pub(crate) fn backends(&self) -> &Backends {
        &self.backends
    }

    /// Reads a question against the turns of a space, and separately against its gists if they are used. A word may be
    /// rare in the one and frequent in the other.
    async fn read_question(
        &self,
        snapshot: &SpaceSnapshot,
        request: &RouteV1,
        with_gists: bool,
    ) -> Result<ReadQuestion, Error> {
        let (snapshot, request) = (snapshot.clone(), request.clone());
        let read = move || {
            let now = route::question_moment(&snapshot.view, &request);
            ReadQuestion {
                turns: Query::from_question(&request.question, &snapshot.view, now),
                gists: with_gists.then(|| Query::from_question(&request.question, &snapshot.gists, now)),
                scope: Scope::from_filter(&snapshot.view, &snapshot.gists, &request.filter.labels),
            }
        };
        Ok(tokio::task::spawn_blocking(read).await.map_err(to_port_error)?)
    }
}

/// A question as read against the turns of a space and against its gists, and the scope of its filter.
struct ReadQuestion {
    turns: Query,
    gists: Option<Query>,
    scope: Option<Scope>,
}

impl Log {
    pub(crate) fn add_step(&mut self, name: &str, start: Instant) {
        self.steps.push((name.to_owned(), start.elapsed().as_secs_f32() * 1e3));
    }

    fn add_degradation(&mut self, part: Part, error: &PortError) {
        let why = match error.kind() {
            ErrorKind::Timeout => "took too long",
            ErrorKind::Unavailable | ErrorKind::Exhausted => "is not available",
            ErrorKind::Invalid
            | ErrorKind::NotFound
            | ErrorKind::Conflict
            | ErrorKind::Damaged
            | ErrorKind::Internal => "failed",
        };
        let (part, code) = match part {
            Part::Embedder => ("embedder", DegradedCode::EmbedderUnavailable),
            Part::Index => ("index", DegradedCode::IndexUnavailable),
            Part::Graph => ("graph", DegradedCode::GraphUnavailable),
        };
        warn!(part, operation = error.operation(), kind = ?error.kind(), "routing without a component that failed");
        self.degraded.push(format!("{part} {why}"));
        self.degraded_codes.push(code);
    }

    fn add_lag(&mut self) {
        self.degraded
            .push("router: the latest writes are still being read, the answer may lack them".to_owned());
        self.degraded_codes.push(DegradedCode::RouterBehind);
    }
}

/// Returns how long a question waits for the latest writes, given the time left until its deadline.
fn patience(left: Option<Duration>) -> Duration {
    left.map_or(PATIENCE, |it| PATIENCE.min(it / 2))
}

/// Replaces the units of a request by the first turns of their records. Gists are kept if they may be evidence.
fn resolve_units(snapshot: &SpaceSnapshot, with_gists: bool, request: &mut RouteV1) {
    for units in [&mut request.focus, &mut request.selected] {
        *units = match with_gists {
            true => snapshot.memory.first_turns_and_gists(units),
            false => snapshot.memory.first_turns_of_units(units),
        };
    }
}

/// Adds the turns of facts that a question asks for to the units in focus, and the turns of standing instructions to
/// focus and selected units.
fn focus_on_facts(snapshot: &SpaceSnapshot, scope: Option<&Scope>, query: &Query, request: &mut RouteV1) {
    let known = snapshot
        .memory
        .known_at(request.as_of.map(|it| it.to_utc()))
        .with_scope(scope);
    let sources = sources_of_requested_facts(&snapshot.view, known, query);
    request.focus.extend(snapshot.memory.first_turns_of_units(&sources));
    if request.instructions {
        let moment = route::question_moment(&snapshot.view, request).to_utc();
        let standing = turns_of_standing_instructions(&snapshot.view, known, moment, request.tokens);
        request.focus.extend(&standing);
        request.selected.extend(standing);
    }
}

fn limit_request(request: &mut RouteV1) {
    if request.question.len() > QUESTION_MAX {
        request
            .question
            .truncate(request.question.floor_char_boundary(QUESTION_MAX));
    }
    request.tokens = request.tokens.min(TOKENS_MAX);
    request.focus.truncate(FOCUS_MAX);
    request.selected.truncate(FOCUS_MAX);
    request.ranked = request.ranked.min(RANKED_MAX);
    for count in [&mut request.explain, &mut request.scenes] {
        *count = (*count).min(LISTED_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_with_little_time_keeps_half_of_it() {
        let cases = [
            (None, 1_000),
            (Some(9_000), 1_000),
            (Some(2_000), 1_000),
            (Some(600), 300),
            (Some(0), 0),
        ];
        for (left, waits) in cases {
            let waited = patience(left.map(Duration::from_millis));
            assert_eq!(waited, Duration::from_millis(waits), "{left:?}");
        }
    }
}
