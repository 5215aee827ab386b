//! Tools with which a model explores a space. The router defines their catalogue. An invalid call returns an error that
//! the model reads; it never ends the request.

use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use domain::code::ToolCode;
use domain::filter::Filter;
use domain::id::SpaceId;
use domain::message::{QueryFilter, ToolV1, ToolsV1};
use serde_json::Value;
use tokio::time::Instant;
use tracing::{Instrument, info_span};

use crate::api::problem::Problem;
use crate::api::{ToolCost, ToolOutcome, ToolProblem, ToolSpec};
use crate::app::state::App;
use crate::use_cases::query;

/// Maximum length of the arguments of a call, in bytes of JSON.
const ARGUMENTS_BYTES_MAX: usize = 64 << 10;

/// Returns the tools by name.
pub(crate) async fn list_tools(app: &App) -> Result<Vec<ToolSpec>, Problem> {
    let listed = app.context.send_request(ToolsV1 {}, request_timeout(app));
    let listed = listed.instrument(info_span!("tools")).await?;
    Ok(listed.into_iter().map(ToolSpec::from).collect())
}

/// Calls a tool in an existing space, as one question of the key `by`.
pub(crate) async fn call_tool(
    app: &App,
    by: &str,
    space: &SpaceId,
    name: String,
    arguments: Value,
    as_of: Option<DateTime<FixedOffset>>,
    labels: Filter,
) -> Result<ToolOutcome, Problem> {
    let bytes = arguments.to_string().len();
    if bytes > ARGUMENTS_BYTES_MAX {
        return Ok(too_long(bytes));
    }
    let call = ToolV1 {
        space: space.clone(),
        name,
        arguments,
        as_of,
        labels,
        filter: QueryFilter::default(),
    };
    let begun = Instant::now();
    let time_left = || request_timeout(app).saturating_sub(begun.elapsed());
    let _turn = app.question_turn(by, time_left()).await?;
    let outcome = app.context.send_request(call, time_left());
    let outcome = outcome.instrument(info_span!("tool")).await?;
    Ok(ToolOutcome {
        result: outcome.result,
        error: outcome.error.map(ToolProblem::from),
        cost: ToolCost {
            model_calls: 0,
            ms: query::elapsed_ms(begun),
        },
    })
}

fn too_long(bytes: usize) -> ToolOutcome {
    ToolOutcome {
        error: Some(ToolProblem {
            code: ToolCode::BadArguments.name().to_owned(),
            message: format!(
                "the arguments have {bytes} bytes, more than {ARGUMENTS_BYTES_MAX}; ask for less at once, then call again"
            ),
        }),
        ..ToolOutcome::default()
    }
}

fn request_timeout(app: &App) -> Duration {
    Duration::from_millis(app.config.request_ms_max)
}
