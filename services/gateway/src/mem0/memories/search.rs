//! `search_memories`: routes a question without an answer and returns memories in rank order.

use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use domain::id::{SpaceId, UnitId};
use domain::message::RouteV1;
use domain::{Classify, ErrorKind};
use host::clock;
use host::metrics::Operation;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::ObjectBody;
use crate::mem0::filters::filter::Filter;
use crate::mem0::memories::list::{filter_of, spaces_to_search};
use crate::mem0::memory::{self, Memory};
use crate::mem0::requests::errors::beyond_bounds_problem;
use crate::mem0::requests::request::{self, Fields, is_set, present_field};
use crate::use_cases::validate;

/// Default and maximum number of memories in the response.
const TOP_K: usize = 10;
const TOP_K_MAX: usize = 1_000;
/// Number of units read in addition to the requested number, because some are older versions or expired.
const BESIDE: usize = 50;
/// Maximum number of spaces searched.
const SPACES_MAX: usize = 16;
/// Tokens of the pack, which is not used.
const TOKENS: u32 = 64;

pub(crate) async fn post_search(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    let started = Instant::now();
    let outcome = search_memories(&app, &access, &fields, started).await;
    app.context
        .metrics
        .observe_operation(Operation::Recall, outcome.is_ok(), started.elapsed());
    Ok(Json(json!({"results": outcome?})))
}

async fn search_memories(app: &App, access: &Access, fields: &Fields, started: Instant) -> Result<Vec<Value>, Problem> {
    let question = request::text_field(fields, "query")?.unwrap_or_default().trim();
    validate::check_content("query", question, app.config.question_bytes_max).map_err(Problem::invalid_request)?;
    if question.is_empty() {
        return Err(Problem::invalid_request("query: is missing or empty"));
    }
    let field_name = ["top_k", "limit"]
        .into_iter()
        .find(|it| present_field(fields, it).is_some());
    let top_k = request::integer_field(fields, field_name.unwrap_or("top_k"), TOP_K, TOP_K_MAX)?;
    let threshold = match present_field(fields, "threshold").map(Value::as_f64) {
        None => 0.0,
        Some(Some(it)) if (0.0..=1.0).contains(&it) => it,
        Some(_) => return Err(Problem::invalid_request("threshold: is not a number from 0 to 1")),
    };
    let filter = filter_of(fields)?;
    let spaces = spaces_to_search(app, access, &filter, Right::Read).await?;
    if spaces.len() > SPACES_MAX {
        return Err(beyond_bounds_problem(format!(
            "filters: name {} users, and {SPACES_MAX} are searched at once; name fewer",
            spaces.len()
        )));
    }
    let search = Search {
        app,
        question,
        filter: &filter,
        count: if filter.is_scope_alone() {
            top_k + BESIDE
        } else {
            TOP_K_MAX
        },
        is_expired_wanted: is_set(fields, "show_expired"),
        started,
    };
    let mut found: Vec<(f64, Memory)> = Vec::new();
    let _permit = app.question_turn(access.name(), search.time_left()).await?;
    for space in &spaces {
        found.extend(search.search_space(space).await?);
    }
    found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.id.cmp(&other.id)));
    let best = found
        .into_iter()
        .take_while(|(score, _)| *score >= threshold)
        .take(top_k);
    Ok(best.map(|(score, it)| memory_with_score(score, &it)).collect())
}

fn memory_with_score(score: f64, memory: &Memory) -> Value {
    let mut shown = memory.to_json();
    shown.insert("score".to_owned(), json!(score));
    Value::Object(shown)
}

struct Search<'a> {
    app: &'a App,
    question: &'a str,
    filter: &'a Filter,
    /// Number of units to read.
    count: usize,
    is_expired_wanted: bool,
    started: Instant,
}

impl Search<'_> {
    /// Returns the matching memories of a space, with scores; empty if the space does not exist yet.
    async fn search_space(&self, space: &SpaceId) -> Result<Vec<(f64, Memory)>, Problem> {
        let route = RouteV1 {
            clock: Some(clock::now()),
            // A client of mem0 expects to find what it added, and has no field that says what is missing.
            current: true,
            ranked: u32::try_from(self.count).unwrap_or(u32::MAX),
            ..RouteV1::new(space.clone(), self.question.to_owned(), TOKENS)
        };
        let ranked = match self.app.context.send_request(route, self.time_left()).await {
            Ok(routed) => routed.ranked,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let ids: Vec<UnitId> = ranked.iter().map(|it| it.unit).collect();
        let scores: std::collections::HashMap<UnitId, f64> = ranked
            .iter()
            .map(|it| (it.unit, logit_to_probability(it.score)))
            .collect();
        let units = self.app.stores().graph.units(space, &ids).await?;
        let today = clock::now().date_naive();
        let memories = memory::load_memories(self.app, space, units).await?.into_iter();
        let found: Vec<(f64, Memory)> = memories
            .filter(|it| self.is_expired_wanted || !it.is_expired(today))
            .filter(|it| self.filter.accepts_memory(it))
            .map(|it| (scores.get(&it.unit.id).copied().unwrap_or_default(), it))
            .collect();
        self.app
            .mem0_places
            .cache_space(space, found.iter().map(|(_, it)| it.id));
        Ok(found)
    }

    fn time_left(&self) -> Duration {
        Duration::from_millis(self.app.config.request_ms_max).saturating_sub(self.started.elapsed())
    }
}

/// Returns the probability for the logit of a support score.
fn logit_to_probability(logit: f32) -> f64 {
    1.0 / (1.0 + (-f64::from(logit)).exp())
}
