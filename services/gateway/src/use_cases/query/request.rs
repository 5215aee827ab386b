//! Converts the checked request of a caller into a request to the router.

use domain::id::SpaceId;
use domain::message::{QueryFilter, RouteV1};
use domain::port::ModelAllowance;
use host::clock;

use crate::api::problem::Problem;
use crate::api::{Filter, QueryRequest};
use crate::app::state::App;
use crate::use_cases::validate;
use crate::use_cases::validate::label_filter;

const EXPLAIN_MAX: u32 = 100;
const RANKED_MAX: u32 = 200;
/// Maximum of `model_calls` in one request.
const MODEL_CALLS_MAX: u32 = 64;
const MODEL_TOKENS_MAX: u32 = 10_000_000;
const LIMIT_MAX: u32 = 16;
const FILTER_ENTRIES_MAX: usize = 100;
const FILTER_BYTES_MAX: usize = 256;

/// Returns the request to the router, or an error if the caller's request is invalid.
pub(super) fn parse_request(app: &App, space: &SpaceId, request: QueryRequest) -> Result<RouteV1, Problem> {
    let config = &app.config;
    validate::check_content("question", &request.question, config.question_bytes_max)
        .map_err(Problem::invalid_request)?;
    if request.question.trim().is_empty() {
        return Err(Problem::invalid_request("question: is empty"));
    }
    check_bounds(app, &request)?;
    let is_answered_by_model = request.answer && request.budget.model_calls > 0;
    // An answer without a model uses the literal text of the records.
    let gists = !request.verbatim && (is_answered_by_model || !request.answer);
    Ok(RouteV1 {
        as_of: validate::parse_time_field("as_of", request.as_of.as_deref())?,
        asked_at: validate::parse_time_field("asked_at", request.asked_at.as_deref())?,
        clock: Some(clock::now()),
        filter: parse_filter(request.filter)?,
        explain: request.explain,
        ranked: request.ranked,
        scenes: config.scenes,
        enough: request.budget.enough,
        instructions: is_answered_by_model,
        gists,
        ..RouteV1::new(space.clone(), request.question, request.budget.tokens)
    })
}

/// Checks the values that have limits.
fn check_bounds(app: &App, request: &QueryRequest) -> Result<(), Problem> {
    let budget = &request.budget;
    let tokens_max = app.config.pack_tokens_max;
    at_most("budget.tokens", budget.tokens.into(), tokens_max.into())?;
    let time_ms = budget.time_ms(app.question_ms_max(budget.model_calls));
    check_cost(app, time_ms, budget.model_allowance())?;
    at_most("explain", request.explain.into(), EXPLAIN_MAX.into())?;
    at_most("ranked", request.ranked.into(), RANKED_MAX.into())?;
    for (field, limit) in [
        ("limits.turns", request.limits.turns),
        ("limits.calls", request.limits.calls),
    ] {
        if limit.is_some_and(|it| !(1..=LIMIT_MAX).contains(&it)) {
            return Err(Problem::invalid_request(format!("{field}: must be 1 to {LIMIT_MAX}")));
        }
    }
    if !(request.budget.enough > 0.0 && request.budget.enough <= 1.0) {
        return Err(Problem::invalid_request(
            "budget.enough: must be greater than 0 and at most 1",
        ));
    }
    Ok(())
}

/// Checks the time and the calls of a language model that a request allows.
///
/// # Errors
/// The problem that names the first field beyond its limit.
pub(crate) fn check_cost(app: &App, time_ms: u64, models: ModelAllowance) -> Result<(), Problem> {
    at_most("budget.ms", time_ms, app.question_ms_max(models.calls))?;
    at_most("budget.model_calls", models.calls.into(), MODEL_CALLS_MAX.into())?;
    let tokens = models.tokens.unwrap_or_default();
    at_most("budget.model_tokens", tokens.into(), MODEL_TOKENS_MAX.into())
}

fn at_most(field: &str, value: u64, most: u64) -> Result<(), Problem> {
    if value > most {
        return Err(Problem::invalid_request(format!("{field}: is more than {most}")));
    }
    Ok(())
}

fn parse_filter(asked: Filter) -> Result<QueryFilter, Problem> {
    for (field, names) in [("filter.actors", &asked.actors), ("filter.sessions", &asked.sessions)] {
        if names.len() > FILTER_ENTRIES_MAX || names.iter().any(|it| it.len() > FILTER_BYTES_MAX) {
            let detail = format!(
                "{field}: has more than {FILTER_ENTRIES_MAX} names, or one of more than {FILTER_BYTES_MAX} bytes"
            );
            return Err(Problem::invalid_request(detail));
        }
    }
    if asked.modalities.len() > FILTER_ENTRIES_MAX {
        return Err(Problem::invalid_request(format!(
            "filter.modalities: has more than {FILTER_ENTRIES_MAX} entries"
        )));
    }
    Ok(QueryFilter {
        from: validate::parse_time_field("filter.from", asked.from.as_deref())?,
        until: validate::parse_time_field("filter.until", asked.until.as_deref())?,
        actors: asked.actors,
        sessions: asked.sessions,
        modalities: asked.modalities,
        labels: label_filter::check_filter(domain::filter::Filter {
            tags: asked.tags,
            metadata: asked.metadata,
        })?,
    })
}
