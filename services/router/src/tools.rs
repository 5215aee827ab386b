//! The tools that a model may call to explore a space: one catalogue, and one file for each paper they come from. A
//! call with bad arguments gets an error in its result; the request does not fail. Every list is bounded and has one
//! order.

mod arguments;
mod compassmem;
mod entity_contexts;
mod memcog;
mod mragent;
mod mragent_person;
mod remem;
mod shown;
mod times;

use std::sync::Arc;

use chrono::{DateTime, FixedOffset, Utc};
use domain::code::ToolCode;
use domain::filter::Filter;
use domain::id::{SpaceId, UnitId};
use domain::message::{ToolErrorV1, ToolSpecV1, ToolV1, ToolledV1};
use domain::{Classify, ErrorKind, PortError};
use serde_json::Value;
use tracing::{Instrument, info_span, warn};

use crate::error::{Error, crashed};
use crate::memory::{Known, Memory};
use crate::route;
use crate::scope::Scope;
use crate::service::Router;
use crate::spaces::Seen;
use crate::view::View;

/// Maximum number of relations that are read for one unit.
const RELATIONS_MAX: usize = 200;

/// The result of a tool.
type Outcome = Result<Value, ToolErrorV1>;

/// A space that a tool reads.
#[derive(Clone)]
struct Look {
    view: Arc<View>,
    memory: Arc<Memory>,
    as_of: Option<DateTime<Utc>>,
    scope: Option<Arc<Scope>>,
    /// The moment against which relative times are resolved: `as_of`, else the latest observation.
    now: DateTime<FixedOffset>,
}

impl Look {
    fn known(&self) -> Known<'_> {
        self.memory.at(self.as_of).within(self.scope.as_deref())
    }
}

/// Returns the tools, sorted by name.
pub(crate) fn catalogue() -> Vec<ToolSpecV1> {
    let mut all: Vec<ToolSpecV1> = [remem::specs(), mragent::specs(), memcog::specs(), compassmem::specs()].concat();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

impl Router {
    /// Returns the tools, sorted by name.
    pub fn tools(&self) -> Vec<ToolSpecV1> {
        catalogue()
    }

    /// Calls a tool of the catalogue. Bad arguments, missing objects and failing stores are reported as an error in the
    /// result.
    ///
    /// # Errors
    /// `NotFound` if the space does not exist.
    pub async fn tool(&self, call: ToolV1) -> Result<ToolledV1, Error> {
        let outcome = match self.called(call).await? {
            Ok(result) => ToolledV1 {
                result: Some(result),
                error: None,
            },
            Err(error) => ToolledV1 {
                result: None,
                error: Some(error),
            },
        };
        Ok(outcome)
    }

    async fn called(&self, call: ToolV1) -> Result<Outcome, Error> {
        let Some(tool) = tool(&call.name) else {
            return Ok(Err(unknown()));
        };
        let seen = match self.seen(&call.space).await {
            Ok(seen) => seen,
            Err(Error::Port(error)) => return Ok(Err(failed(&error))),
            Err(error) => return Err(error),
        };
        let opened = tokio::task::spawn_blocking(move || Look::of(seen, call.as_of, &call.labels));
        let look = match opened.await {
            Ok(look) => look,
            Err(error) => return Ok(Err(failed(&crashed(error)))),
        };
        Ok(self
            .run(&look, &call.space, tool, call.arguments)
            .instrument(info_span!("tool", name = call.name))
            .await)
    }

    async fn run(&self, look: &Look, space: &SpaceId, tool: Tool, arguments: Value) -> Outcome {
        let (Tool::Search(..) | Tool::Related(..)) = tool else {
            return pure(look, tool, Found::default(), arguments).await;
        };
        let found = match tool {
            Tool::Search(by) => remem::search(self.backends(), space, look, (by, &arguments)).await?,
            Tool::Related(_) | Tool::Pure(_) => {
                let units = look.asked(&arguments);
                let graph = &self.backends().graph;
                let relations = graph.relations(space, &units, RELATIONS_MAX).await;
                Found {
                    relations: relations.map_err(|it| failed(&it))?,
                    ..Found::default()
                }
            }
        };
        pure(look, tool, found, arguments).await
    }
}

/// Data that the stores returned for a tool.
#[derive(Default)]
struct Found {
    hits: Vec<(UnitId, f32)>,
    relations: Vec<domain::relation::Relation>,
}

/// The further inputs of a tool, in addition to the space and its arguments.
#[derive(Clone, Copy)]
enum Tool {
    /// No further input.
    Pure(fn(&Look, Value) -> Outcome),
    /// Hits of the index.
    Search(remem::By),
    /// Relations of the unit in the arguments.
    Related(fn(&Look, Found, Value) -> Outcome),
}

fn tool(name: &str) -> Option<Tool> {
    Some(match name {
        "semantic_retrieve" => Tool::Search(remem::By::Meaning),
        "lexical_retrieve" => Tool::Search(remem::By::Words),
        "find_gist_contexts" => Tool::Related(remem::gist_contexts),
        "expand_unit" => Tool::Related(compassmem::expand),
        "find_entity_contexts" => Tool::Pure(entity_contexts::find),
        "query_tag_events" => Tool::Pure(mragent::tag_events),
        "query_conversation_time" => Tool::Pure(mragent::conversation_time),
        "query_event_keywords" => Tool::Pure(mragent::event_keywords),
        "query_event_context" => Tool::Pure(mragent::event_context),
        "query_topic_events" => Tool::Pure(mragent::topic_events),
        "query_personal_information" => Tool::Pure(mragent_person::information),
        "query_personal_aspect" => Tool::Pure(mragent_person::aspect),
        "list_dimensions" => Tool::Pure(memcog::dimensions),
        "browse_dimension" => Tool::Pure(memcog::browse),
        "read_page" => Tool::Pure(memcog::read),
        "follow_link" => Tool::Pure(memcog::follow),
        _ => return None,
    })
}

/// Runs a tool over the data in memory, off the async runtime.
async fn pure(look: &Look, tool: Tool, found: Found, arguments: Value) -> Outcome {
    let look = look.clone();
    let walk = tokio::task::spawn_blocking(move || match tool {
        Tool::Pure(tool) => tool(&look, arguments),
        Tool::Search(by) => remem::retrieved(&look, by, found, arguments),
        Tool::Related(tool) => tool(&look, found, arguments),
    });
    walk.await.unwrap_or_else(|error| Err(failed(&crashed(error))))
}

impl Look {
    fn of(seen: Seen, as_of: Option<DateTime<FixedOffset>>, labels: &Filter) -> Look {
        Look {
            now: as_of.or_else(|| route::latest(&seen.view)).unwrap_or_default(),
            as_of: as_of.map(|it| it.to_utc()),
            scope: Scope::of(&seen.view, &seen.gists, labels).map(Arc::new),
            view: seen.view,
            memory: seen.memory,
        }
    }
}

fn unknown() -> ToolErrorV1 {
    let known: Vec<String> = catalogue().into_iter().map(|it| it.name).collect();
    ToolErrorV1::new(
        ToolCode::UnknownTool,
        format!("there is no such tool; there are: {}", known.join(", ")),
    )
}

fn failed(error: &PortError) -> ToolErrorV1 {
    warn!(operation = error.operation(), kind = ?error.kind(), "a tool could not be used");
    match error.kind() {
        ErrorKind::Invalid => ToolErrorV1::new(ToolCode::BadArguments, error.detail()),
        ErrorKind::NotFound => ToolErrorV1::new(ToolCode::NotFound, error.detail()),
        ErrorKind::Conflict
        | ErrorKind::Exhausted
        | ErrorKind::Timeout
        | ErrorKind::Unavailable
        | ErrorKind::Damaged
        | ErrorKind::Internal => ToolErrorV1::new(
            ToolCode::Unavailable,
            "the memory did not answer; go on without it or try once more",
        ),
    }
}
